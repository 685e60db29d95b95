"""The Panel document as it is before anybody has touched it, drawn by BokehJS until Python has started."""

import json
from typing import Any

from bokeh.document import Document
from bokeh.embed.util import standalone_docs_json_and_render_items
from bokeh.model import Model
from panel.io.resources import JS_VERSION
from panel.pane import panel as as_panel

from app.page.main import Lab, course_trace


def prerender() -> dict[str, bytes]:
    """File name → content, for the site's assets: the course replay's controls and charts as JSON.

    `slots` maps the name of a slot of the page to the id of the root that is drawn in it.
    """
    document = Document()
    slots = {}
    for name, root in Lab(course_trace(), lambda _name, _data: None).roots().items():
        shown: Any = as_panel(root)
        model = root if isinstance(root, Model) else shown.get_root(document)
        document.add_root(model)
        slots[name] = model.id
    docs_json, render_items = standalone_docs_json_and_render_items(document.roots, suppress_callback_warning=True)
    content = {
        "docs_json": docs_json,
        "render_items": [item.to_json() for item in render_items],
        "slots": slots,
    }
    # Not sorted: a model stands where it is first named, and only its id wherever it is named after that.
    text = json.dumps(content, separators=(",", ":"))
    # Only outside a browser does Panel ask for a style by its version too; it is one file, to be fetched once.
    return {"prerender.json": text.replace(f".css?v={JS_VERSION}", ".css").encode()}

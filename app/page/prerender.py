"""The Panel document as it is before anybody has touched it, drawn by BokehJS until Python has started."""

import json

from bokeh.document import Document
from bokeh.embed.util import standalone_docs_json_and_render_items

from app.page.main import Lab, course_trace


def prerender() -> dict[str, bytes]:
    """File name → content, for the site's assets: the course replay's controls and charts as JSON."""
    document = Document()
    Lab(course_trace(), lambda _name, _data: None).add_to(document)
    docs_json, render_items = standalone_docs_json_and_render_items(document.roots, suppress_callback_warning=True)
    content = {"docs_json": docs_json, "render_items": [item.to_json() for item in render_items]}
    return {"prerender.json": json.dumps(content, separators=(",", ":"), sort_keys=True).encode()}

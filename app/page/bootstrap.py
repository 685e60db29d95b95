"""Starts the Panel app inside the page's worker, and is all that the worker talks to.

The worker imports this module and calls `load`, then `start`, then `rendered` once the page shows the document, then
`apply_patch` and `call` for whatever the page sends.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from app.page import packages, rest

MAIN = "app.page.main"
"""The module of the app: `build(state, send)` returns its roots (Panel objects or Bokeh models) by name."""

Send = Callable[[str, Any], None]
"""`send(name, data)`: posts a named message with plain JSON data to the page."""

_calls: dict[str, Callable[[Any], Any]] = {}
_document: Any = None
_post: Callable[[str, str], None] | None = None


def register(name: str, function: Callable[[Any], Any]) -> None:
    """Lets the page call `function(data)` by `name`; what it returns, unless None, goes back as a message."""
    _calls[name] = function


def send(name: str, data: Any) -> None:
    """Posts a named message with plain JSON data to the page. Raises RuntimeError before the app was started."""
    if _post is None:
        raise RuntimeError("Nothing can be sent before the app was started.")
    _post(name, json.dumps(data, separators=(",", ":")))


def load(config: Mapping[str, Any], read: Callable[[str], Any], environment: Mapping[str, str] | None = None) -> None:
    """Imports the app and what it stands on.

    `config` is the site's; `read(file)` gets a file of its Python folder. `environment` is given when this Python comes
    from a snapshot, where the packages are imported already: variables as they are on this machine.
    """
    # A start makes hundreds of thousands of objects that stay: looking through them for garbage finds none.
    gc.disable()
    rest.install(read)
    if environment is None:
        packages.load(config["folders"]["vendor"])
    else:
        packages.put_right(environment)
    importlib.import_module(MAIN)


def start(state: str, post: Callable[[str, str], None]) -> str:
    """Builds the app. `state` is JSON text: what the page remembers or was linked to.

    `post(name, json)` is called for every message that the app sends. Returns JSON text with `docs_json`,
    `render_items` and `root_ids` (each JSON text, as Bokeh's embedding takes them), and `extra`: `slots` maps the
    names that the app gave its roots to their ids.
    """
    global _document, _post
    from panel.io import pyodide as bridge
    from panel.io.state import state as panel_state

    _post = post
    bridge.init_doc()
    _document = panel_state.curdoc
    roots = sys.modules[MAIN].build(json.loads(state), send)
    slots = {name: _add(root) for name, root in roots.items()}
    docs_json, render_items, root_ids = bridge._doc_json(_document)
    _document._session_context = None
    gc.freeze()
    gc.enable()
    made = {"docs_json": docs_json, "render_items": render_items, "root_ids": root_ids, "extra": {"slots": slots}}
    return json.dumps(made)


def _add(root: Any) -> str:
    """Adds a Panel object or a Bokeh model to the document; returns the root's id."""
    from bokeh.model import Model
    from panel.pane import panel as as_panel

    shown: Any = root if isinstance(root, Model) else as_panel(root)
    model = shown if isinstance(shown, Model) else shown.get_root(_document)
    _document.add_root(model)
    added: str = model.id
    return added


def rendered(dispatch: Callable[..., None]) -> None:
    """The page shows the document: from now on `dispatch(patch, buffers, id)` gets every change made in Python."""
    from panel.io import pyodide as bridge

    bridge._link_docs_worker(_document, dispatch, setter="js")


def apply_patch(patch: Any) -> None:
    """Applies a change that the page made to its side of the document (a JavaScript object)."""
    from panel.io import pyodide as bridge

    _document.apply_json_patch(bridge._convert_json_patch(patch), setter="js")


def call(name: str, data: str) -> None:
    """Calls what the app offers as `name` with `data` (JSON text); an answer goes back as a message of that name.

    Raises LookupError when the app offers nothing of that name.
    """
    function = _calls.get(name)
    if function is None:
        raise LookupError(f"The page asked for {name!r}, which the app does not offer.")
    answer = function(json.loads(data))
    if answer is not None:
        send(name, answer)


def rehearse() -> None:
    """Does what a first visitor may do, so that the builder sees which modules that needs. Only the builder calls it.

    The app says what there is to do in `app.page.main.rehearse`, if it has one.
    """
    getattr(sys.modules[MAIN], "rehearse", lambda: None)()

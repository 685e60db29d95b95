"""The headers that every answer of the site carries, whoever serves it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FOREVER = "public, max-age=31536000, immutable"
"""For folders that are named for their content."""

ASK_EACH_TIME = "no-cache"
"""For what may change: the page, the service worker, the list of files."""

HASHED_KINDS = ("assets-", "lab-", "python-", "runtime-", "vendor-")

# 'wasm-unsafe-eval' lets WebAssembly be compiled, which Python is.
WORKERS = {
    # 'unsafe-eval' is for panel.io.pyodide, which makes a JavaScript function from text with pyodide.code.run_js.
    "worker.js": ("script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'", "connect-src 'self'"),
    "judge.js": ("script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self'"),
    # Learners' code: what it starts from is handed in by the page, so that it never needs a connection.
    "learner.js": ("script-src 'self' 'wasm-unsafe-eval'", "connect-src 'none'"),
}
"""Scripts that run Python, each in a worker of its own, and what each may do."""

COMMON = {
    # A file is what its type says, never what it looks like.
    "X-Content-Type-Options": "nosniff",
    # A link out of the lab does not tell where it was clicked.
    "Referrer-Policy": "no-referrer",
    # A page that opens the lab in a window gets no hold of it.
    "Cross-Origin-Opener-Policy": "same-origin",
    # Nothing of the lab is for other sites to embed as their own resource.
    "Cross-Origin-Resource-Policy": "same-origin",
    # The lab asks for none of these, so neither may anything that got into it.
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), display-capture=()",
}


def cuda_offer(token: bool) -> str:
    """What a server with the API of the CUDA backend adds to the page as `Server-Timing`.

    It is the one header that scripts of a page can read without asking again, so a page that comes from any other host
    knows, at no request, that there is nothing to ask for. `token`: whether the API wants one.
    """
    return 'serving-lab-cuda;desc="token"' if token else "serving-lab-cuda"


def page_policy(frame_ancestors: Sequence[str] = ()) -> str:
    """The Content-Security-Policy of pages. `frame_ancestors`: origins that may show the lab in a frame."""
    return "; ".join([meta_policy(), " ".join(["frame-ancestors 'self'", *frame_ancestors])])


def meta_policy() -> str:
    """The part of the page's policy that also works from inside the page, for hosts that send no headers of ours."""
    return "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            # Bokeh and Panel make <style> elements and style attributes for every widget that they draw.
            "style-src 'self' 'unsafe-inline'",
            # Icons and patterns are written into styles as data: URLs; a chart saved as a picture is a blob.
            "img-src 'self' data: blob:",
            "font-src 'self'",
            "connect-src 'self'",
            "worker-src 'self'",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "object-src 'none'",
        ]
    )


def worker_policy(script: str) -> str:
    """The Content-Security-Policy of a worker of WORKERS; a worker's own header counts, not the page's."""
    # worker-src: Firefox asks it, and not script-src, before it lets a worker import its own modules.
    return "; ".join(
        ["default-src 'none'", *WORKERS[script], "worker-src 'self'", "base-uri 'none'", "form-action 'none'"]
    )


def is_hashed(path: str) -> bool:
    """True for a path (from the site's root) in a folder that is named for its content."""
    return path.startswith(HASHED_KINDS) and "/" in path


def worker_of(path: str) -> str | None:
    """The name in WORKERS of the script at `path`; None if it is no worker's."""
    name = path.rsplit("/", 1)[-1]
    return name if is_hashed(path) and name in WORKERS else None


def headers_for(path: str, frame_ancestors: Sequence[str] = ()) -> dict[str, str]:
    """The headers of the file at `path` (from the site's root)."""
    worker = worker_of(path)
    return {
        **COMMON,
        "Content-Security-Policy": worker_policy(worker) if worker else page_policy(frame_ancestors),
        "Cache-Control": FOREVER if is_hashed(path) else ASK_EACH_TIME,
    }


def hosting_file(paths: Iterable[str], frame_ancestors: Sequence[str] = ()) -> str:
    """The same rules as a `_headers` file, which several hosts of static sites read.

    Such hosts join the headers of all the rules that match, so no two rules here match one path with the same name.
    """
    known = sorted(paths)
    folders = sorted({path.split("/", 1)[0] for path in known if is_hashed(path)})
    rules: list[tuple[str, dict[str, str]]] = [("/*", dict(COMMON))]
    policy = {"Content-Security-Policy": page_policy(frame_ancestors)}
    rules += [(place, {**policy, "Cache-Control": ASK_EACH_TIME}) for place in ("/", "/index.html")]
    rules += [(f"/{name}", {"Cache-Control": ASK_EACH_TIME}) for name in ("sw.js", "site.json")]
    rules += [(f"/{folder}/*", {"Cache-Control": FOREVER}) for folder in folders]
    for path in known:
        if worker := worker_of(path):
            rules.append((f"/{path}", {"Content-Security-Policy": worker_policy(worker)}))
    return "\n".join(
        "\n".join([place, *(f"  {name}: {value}" for name, value in headers.items())]) for place, headers in rules
    )

"""`serving-lab serve`: builds the site when needed and serves it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import tornado.httpserver
import tornado.web

from app.build.command import add_content_arguments
from app.build.errors import BuildError
from app.serve import cuda_options
from app.serve.browser import open_browser
from app.serve.cuda_api import Access, cuda_rules
from app.serve.cuda_queue import Replays
from app.serve.handler import FileHandler
from app.serve.headers import cuda_offer
from app.serve.ports import DEFAULT, PortError, listen
from app.serve.preview import NAME as PREVIEW
from app.serve.preview import Preview, PreviewHandler
from app.serve.ready import ready_site
from app.serve.site_folder import SiteFolder, open_site

INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended before it had done its work."""

LOOK = 0.4
"""Seconds between two looks at an author's folders."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `serving-lab serve`."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=_port, help=f"port to listen on (default: the first free one from {DEFAULT})")
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    parser.add_argument("--dir", metavar="DIR", help="serve this site, made by `serving-lab build`, as it is")
    add_content_arguments(parser)
    parser.add_argument(
        "--prefix", type=_prefix, default="/", metavar="/PATH/", help="serve below this path (default: /)"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name under which a browser may ask for the lab, as behind a proxy; may be repeated",
    )
    cuda_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Serves until it is stopped; returns the exit status (0 stopped, 2 cannot be done as asked, 3 a fault of ours)."""
    logging.getLogger("tornado").setLevel(logging.CRITICAL)  # what a browser does wrong, it is told itself
    replays = cuda_options.replays_from(args)
    try:
        preview = _preview(args)
        site = _site(Path(args.dir) if args.dir else None) if preview is None else None
        sockets, port = listen(args.host, args.port)
    except BuildError as problem:
        print(f"serving-lab serve: {problem}", file=sys.stderr)
        return problem.status
    except PortError as problem:
        print(f"serving-lab serve: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    if args.port is None and port != DEFAULT:
        print(f"Port {DEFAULT} is in use, so this is port {port}.", file=sys.stderr)
    url = f"http://{_shown(args.host)}:{port}{args.prefix}"
    print(f"The serving lab is at {url} (Ctrl-C stops it)", flush=True)
    shown = preview if preview is not None else site
    assert shown is not None
    hosts = allowed_hosts(args.host, args.allow_host)
    token = cuda_options.token_for(hosts is None or bool(args.allow_host)) if replays is not None else None
    if token is not None:
        # In the fragment, which stays in the browser.
        print(f"Replays on a GPU need a token: {url}#cuda-token={token}", flush=True)
    application = make_application(shown, args.prefix, hosts, replays, token)
    if not args.no_browser:
        open_browser(url)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(application, sockets, preview, replays))
    if preview is not None:
        preview.close()
    return 0


def make_application(
    site: SiteFolder | Preview,
    prefix: str = "/",
    hosts: frozenset[str] | None = None,
    replays: Replays | None = None,
    token: str | None = None,
) -> tornado.web.Application:
    """The web application: the site below `prefix`, with the API of the CUDA backend if there are `replays`."""
    offer = cuda_offer(token is not None) if replays is not None else None
    handed = {"site": site.site if isinstance(site, Preview) else site, "hosts": hosts, "offer": offer}
    below = re.escape(prefix)
    rules: list[tuple] = [(rf"{below}(.*)", FileHandler, handed)]
    if isinstance(site, Preview):
        rules.insert(0, (f"{below}{re.escape(PREVIEW)}", PreviewHandler, {"preview": site, "hosts": hosts}))
    if replays is not None:
        rules[:0] = cuda_rules(below, replays, Access(hosts, token))
    if prefix != "/":
        rules.append((re.escape(prefix.rstrip("/")), tornado.web.RedirectHandler, {"url": prefix, "permanent": False}))
    rules.append((r"/(.*)", NothingHere, handed))
    return tornado.web.Application(rules, log_function=lambda handler: None)


class NothingHere(FileHandler):
    """Answers for every path that is not below the prefix."""

    async def get(self, path: str) -> None:
        """There is nothing."""
        raise tornado.web.HTTPError(404)


def allowed_hosts(host: str, more: Sequence[str] = ()) -> frozenset[str] | None:
    """Names that a Host header may have; None (any) when the server is open to other machines anyway."""
    if host.lower() not in LOOPBACK and not host.startswith("127."):
        return None
    return frozenset({*LOOPBACK, host.lower(), *(name.lower() for name in more)})


def _preview(args: argparse.Namespace) -> Preview | None:
    """The preview of an author's own content; None when none was named."""
    if args.traces is None and args.checks is None and not args.title:
        return None
    if args.dir:
        raise BuildError("--dir serves a site as it is; leave it out, or --traces, --checks and --title.")
    return Preview(args.traces, args.checks, args.title)


def _site(folder: Path | None) -> SiteFolder:
    site = open_site(folder if folder is not None else ready_site())
    if site is None:
        raise BuildError(f"{folder} is not a site built by serving-lab. Make one with `serving-lab build --out DIR`.")
    return site


async def _serve(
    application: tornado.web.Application,
    sockets: list[socket.socket],
    preview: Preview | None = None,
    replays: Replays | None = None,
) -> None:
    server = tornado.httpserver.HTTPServer(application)
    server.add_sockets(sockets)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM"):
        try:
            loop.add_signal_handler(getattr(signal, name), stopped.set)
        except (AttributeError, NotImplementedError, RuntimeError):  # not on Windows, not outside the main thread
            continue
    if preview is not None:
        # A daemon: who stops the server does not wait for a build.
        threading.Thread(target=_watch, args=(preview,), daemon=True).start()
    await stopped.wait()
    server.stop()
    if replays is not None:
        await replays.close()
    await server.close_all_connections()


def _watch(preview: Preview) -> None:
    """Looks again and again. A fault in a look is told, and does not end the next."""
    while True:
        time.sleep(LOOK)
        try:
            preview.look()
        except (BuildError, OSError) as problem:
            print(f"preview: {problem}", file=sys.stderr, flush=True)


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::", ""):  # listens everywhere; a browser on this machine asks for itself
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port number (0 to 65535)")
    return int(text)


def _prefix(text: str) -> str:
    return f"/{text.strip('/')}/" if text.strip("/") else "/"

"""`serving-lab build`: makes the site in a folder, ready for any host of static files."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from app.build.compress import THOROUGH
from app.build.content import ON_REQUEST, SOLUTIONS, read_content
from app.build.errors import BuildError
from app.build.out import check_target, write_site
from app.build.paths import cache_folder
from app.build.say import say
from app.build.site import make_site
from app.build.store import Store

INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended before it had done its work."""


ORIGIN = re.compile(r"(https?://(?:\*\.)?[a-z0-9][a-z0-9.-]*(?::[0-9]{1,5})?)/?", re.IGNORECASE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `serving-lab build`."""
    parser.add_argument("--out", required=True, metavar="DIR", help="folder to put the site into")
    parser.add_argument(
        "--allow-frame",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="a site that may show the lab in a frame, such as https://courses.example.org; may be repeated",
    )
    add_content_arguments(parser)
    parser.add_argument(
        "--solutions",
        choices=SOLUTIONS,
        default=ON_REQUEST,
        help="when learners may open a reference solution: whenever they ask (the default), once their own code has "
        "passed, or never; only with never is it not in the site at all",
    )


def add_content_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options on what a site is made with, which `serve` has too."""
    parser.add_argument(
        "--traces",
        metavar="DIR",
        help="trace files (*.json) instead of the lab's; the first by name is what the page shows, the others can be "
        "chosen there",
    )
    parser.add_argument(
        "--checks", metavar="DIR", help="exercises instead of the lab's: a folder each, as `checks new` makes them"
    )
    parser.add_argument("--title", default="", metavar="TEXT", help="what the site is called")


def run(args: argparse.Namespace) -> int:
    """Builds; returns the exit status (0 done, 2 cannot be done as asked, 3 a fault of ours)."""
    out = Path(args.out)
    try:
        origins = [origin(text) for text in args.allow_frame]
        check_target(out)
        content = read_content(args.traces, args.checks, args.title, args.solutions)
        site = make_site(Store(cache_folder()), THOROUGH, origins, content)
        write_site(site, out)
    except BuildError as problem:
        print(f"serving-lab build: {problem}", file=sys.stderr)
        return problem.status
    except KeyboardInterrupt:
        return INTERRUPTED
    sent = sum(len(site.compressed.get(f"{path}.br", content)) for path, content in site.files.items())
    say(f"{out} holds version {site.version}: {len(site.files)} files, {sent / 1e6:.1f} MB as sent")
    return 0


def origin(text: str) -> str:
    """`text` as an origin (scheme, host, port if any), in lower case. Raises BuildError when it is not one."""
    found = ORIGIN.fullmatch(text)
    if found is None:
        raise BuildError(f"--allow-frame {text!r} is not an origin; write it like https://courses.example.org")
    return found[1].lower()

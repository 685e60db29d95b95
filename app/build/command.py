"""`serving-lab build`: makes the site in a folder, ready for any host of static files."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from app.build.compress import THOROUGH
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
    parser.add_argument(
        "--no-solutions",
        action="store_true",
        help="leave the exercises' reference solutions out, so that learners cannot open them",
    )


def run(args: argparse.Namespace) -> int:
    """Builds; returns the exit status (0 done, 2 cannot be done as asked, 3 a fault of ours)."""
    out = Path(args.out)
    try:
        origins = [origin(text) for text in args.allow_frame]
        check_target(out)
        site = make_site(Store(cache_folder()), THOROUGH, origins, solutions=not args.no_solutions)
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

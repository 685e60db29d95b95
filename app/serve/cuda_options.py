"""What `serving-lab serve` is told about CUDA."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import sys
import threading

from app.serve.cuda_queue import Replays
from lab.cli_cuda import add_device_options, settings_from
from lab.errors import InputError

PROGRAM = "serving-lab serve"
TOKEN = "SERVING_LAB_CUDA_TOKEN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--cuda` and how the device is used."""
    parser.add_argument(
        "--cuda",
        choices=("auto", "off"),
        help="auto (default): offer replays on a GPU where there is one; who writes it is told at the start what there "
        "is, or what is missing; off: not at all",
    )
    add_device_options(parser)


def replays_from(args: argparse.Namespace) -> Replays | None:
    """The queue of replays that is asked for; None when CUDA is off. Raises InputError, naming the flag or variable."""
    if args.cuda == "off":
        return None
    settings, seconds = settings_from(args, PROGRAM)
    _own_token()  # before anything is built or served
    replays = Replays(settings, seconds)
    if args.cuda == "auto":
        # PyTorch takes seconds to look; the lab is served meanwhile.
        threading.Thread(target=_tell, args=(replays,), daemon=True).start()
    return replays


def _tell(replays: Replays) -> None:
    """Say what there is, or what is missing, to who has asked for CUDA."""
    print(f"Replays on a GPU: {replays.look().sentence}", file=sys.stderr, flush=True)


def token_for(open_to_others: bool) -> str | None:
    """The token that requests to the API need: from the environment; made up where others may ask; else None."""
    return _own_token() or (secrets.token_urlsafe(24) if open_to_others else None)


def _own_token() -> str:
    """The token in the environment; empty where there is none. Raises InputError for one that no link can carry."""
    token = os.environ.get(TOKEN, "")
    if not re.fullmatch(r"[!-$'-~]*", token):
        raise InputError(
            "stands in a link and in a header; write it without spaces, &, % and letters beyond ASCII",
            field=TOKEN,
            source=PROGRAM,
        )
    return token

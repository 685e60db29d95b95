"""What `serving-lab serve` is told about CUDA."""

from __future__ import annotations

import argparse
import os
import secrets

from app.serve.cuda_queue import Replays
from lab.cli_cuda import add_device_options, settings_from

PROGRAM = "serving-lab serve"
TOKEN = "SERVING_LAB_CUDA_TOKEN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--cuda` and how the device is used."""
    parser.add_argument(
        "--cuda",
        choices=("auto", "off"),
        default="auto",
        help="auto (default): offer replays on a GPU where there is one; off: not at all",
    )
    add_device_options(parser)


def replays_from(args: argparse.Namespace) -> Replays | None:
    """The queue of replays that is asked for; None when CUDA is off. Raises InputError, naming the flag."""
    if args.cuda == "off":
        return None
    settings, seconds = settings_from(args, PROGRAM)
    return Replays(settings, seconds)


def token_for(open_to_others: bool) -> str | None:
    """The token that requests to the API need: from the environment; made up where others may ask; else None."""
    return os.environ.get(TOKEN) or (secrets.token_urlsafe(24) if open_to_others else None)

"""The options of the CUDA backend, shared by `replay` and `serve`. Imports nothing of the backend itself."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lab.errors import InputError
from lab.workload import Trace

if TYPE_CHECKING:
    from lab.cuda.job import Settings

PROGRAM = "serving-lab replay"
BACKENDS = ("simulator", "cuda")
DEFAULT_SECONDS = 600


def add_device_options(parser: argparse.ArgumentParser) -> None:
    """How the device is used. What is right and wrong is for `lab.cuda.job.Settings` to say."""
    group = parser.add_argument_group("the CUDA backend")
    group.add_argument(
        "--cuda-device",
        metavar="N",
        default="0",
        help="which GPU (default: 0), or cpu: verified there, times mean nothing",
    )
    group.add_argument(
        "--cuda-memory-share",
        metavar="X",
        default="0.9",
        help="the share of its memory that may be taken (default: 0.9)",
    )
    group.add_argument(
        "--cuda-shape", metavar="NAME", default="llama-3.1-8b", help="llama-3.1-8b (default), small or tiny"
    )
    group.add_argument("--cuda-layers", metavar="N", default="4", help="layers that are run, 1 to 4 (default: 4)")
    group.add_argument(
        "--cuda-dtype", metavar="NAME", default="bfloat16", help="bfloat16 (default), float16 or float32"
    )
    group.add_argument(
        "--cuda-time-limit",
        metavar="SECONDS",
        default=str(DEFAULT_SECONDS),
        help=f"a replay that takes longer is stopped (default: {DEFAULT_SECONDS})",
    )


def add_replay_options(parser: argparse.ArgumentParser) -> None:
    """`--backend`, and what goes with cuda."""
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        default=BACKENDS[0],
        help="replay in the simulator (default), or on a GPU as well",
    )
    add_device_options(parser)
    parser.add_argument("--cuda-save", metavar="FILE", help="write the measurement to a file as well")


def without_backend(options: argparse.Namespace) -> None:
    """For a replay in the simulator. Raises InputError for what it would ignore."""
    bare = argparse.ArgumentParser()
    add_replay_options(bare)
    for name, default in vars(bare.parse_args([])).items():
        if getattr(options, name) != default:
            flag = "--" + name.replace("_", "-")
            raise InputError("is for --backend cuda; add that, or leave it out", field=flag, source=PROGRAM)


def settings_from(options: argparse.Namespace, source: str) -> tuple[Settings, float]:
    """The device settings and the time limit in seconds that are asked for. Raises InputError, naming the flag."""
    from lab.cuda.job import CPU, Settings

    device = CPU if options.cuda_device == "cpu" else _number(options.cuda_device, "device", source, int)
    more: dict[str, Any] = {"repeats": 3, "warmup": 1} if device == CPU else {}
    try:
        settings = Settings(
            device=device,
            memory_share=_number(options.cuda_memory_share, "memory-share", source, float),
            shape=options.cuda_shape,
            layers=_number(options.cuda_layers, "layers", source, int),
            dtype=options.cuda_dtype,
            **more,
        )
    except InputError as error:
        flag = "--cuda-" + (error.field or "").replace("_", "-")
        raise InputError(error.problem, field=flag, source=source) from None
    seconds = _number(options.cuda_time_limit, "time-limit", source, float)
    if not 1 <= seconds <= 86400:
        raise InputError("must be 1 to 86400 seconds; write 600", field="--cuda-time-limit", source=source)
    return settings, seconds


def _number(text: str, name: str, source: str, kind: type[int] | type[float]) -> Any:
    pattern = r"[0-9]{1,9}" if kind is int else r"[0-9]{1,9}(\.[0-9]{1,9})?"
    if not re.fullmatch(pattern, text):
        what = "the number of a GPU or cpu" if name == "device" else "a whole number" if kind is int else "a number"
        raise InputError(f"must be {what}, not {text!r}; see --help", field=f"--cuda-{name}", source=source)
    return kind(text)


def replay_on_cuda(trace: Trace, policies: Sequence[str], options: argparse.Namespace, sha256: str) -> int:
    """`serving-lab replay --backend cuda`: `trace` under its own limits and options. Returns the exit status."""
    from lab.cuda.command import replay_on_device
    from lab.cuda.job import make_job

    for flag in ("events", "perfetto"):
        if getattr(options, flag) is not None:
            raise InputError(
                "is written by the simulator; leave it out, or --backend", field=f"--{flag}", source=PROGRAM
            )
    settings, seconds = settings_from(options, PROGRAM)
    job = make_job(trace, policies, settings, sha256)
    try:
        return replay_on_device(job, seconds=seconds, as_json=options.json, save=options.cuda_save)
    except InputError as error:
        raise error.at(source=options.trace) from None

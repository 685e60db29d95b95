"""The built lab, served with the CUDA backend's API, whose device process is a fake one that ends as it is told."""

import asyncio
import importlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import tornado.httpserver
from tornado.netutil import bind_sockets

from app.serve.command import make_application
from app.serve.cuda_queue import Replays
from app.serve.site_folder import open_site
from lab.cuda.detect import Status
from lab.cuda.job import Settings, make_job
from lab.formats.trace_json import read_trace
from lab.measurement.saved import dump_measurement

FAKE = Path(__file__).resolve().parents[1] / "cuda_plain" / "fake_child.py"
THERE = Status(
    True,
    None,
    "CUDA 13.0 with PyTorch 2.13.0 on 0: made up for tests.",
    ({"name": "made up for tests", "memory_bytes": 80 * 10**9, "free_bytes": 12 * 10**9},),
)
HOSTS = frozenset({"127.0.0.1", "localhost"})


def made_up(path: Path, trace: Path | None = None, ratio: float = 1.25) -> Path:
    """Write a measurement with made-up times: of the course trace, or of `trace`; each step `ratio` times its floor."""
    if str(FAKE.parent) not in sys.path:
        sys.path.append(str(FAKE.parent))
    module = importlib.import_module("made_up")
    job = make_job(read_trace(trace or module.COURSE))
    path.write_text(dump_measurement(module.measurement(job, ratio=ratio)), "utf-8")
    return path


class GpuServer:
    """`with GpuServer(site, "result") as server`: `server.url`. `how` can be called again to end the next otherwise."""

    def __init__(
        self,
        site: Path,
        *how: object,
        token: str | None = None,
        status: Callable[[], Status] | Status = THERE,
        cuda: bool = True,
        seconds: float = 60,
        most_waiting: int = 2,
        port: int = 0,
    ) -> None:
        found = open_site(site)
        assert found is not None
        self.site, self.token, self.port, self.cuda = found, token, port, cuda
        self.made = {"looker": status if callable(status) else lambda: status, "most_waiting": most_waiting}
        self.seconds = seconds
        self.command: list[str] = []
        self.how(*how)

    def how(self, *how: object) -> None:
        """How the device process of the next replay ends: see fake_child.py."""
        self.command[:] = [sys.executable, str(FAKE), *map(str, how)]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def _serve(self, started: threading.Event) -> None:
        self.replays = Replays(Settings(), self.seconds, command=self.command, **self.made)  # type: ignore[arg-type]
        offered = self.replays if self.cuda else None
        self._server = server = tornado.httpserver.HTTPServer(
            make_application(self.site, "/", HOSTS, offered, self.token)
        )
        sockets = bind_sockets(self.port, "127.0.0.1")
        server.add_sockets(sockets)
        self.port = sockets[0].getsockname()[1]
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        started.set()
        await self._stop.wait()
        server.stop()
        await self.replays.close()
        await server.close_all_connections()

    def hang_up(self) -> None:
        """Close every connection, as a network that fails does; the server goes on."""
        asyncio.run_coroutine_threadsafe(self._server.close_all_connections(), self._loop).result(10)

    def start(self) -> None:
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)))
        self._thread.start()
        assert started.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        assert not self._thread.is_alive()

    def __enter__(self) -> "GpuServer":
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

"""The built lab, served by the real server in a process of its own, for tests that drive it with a browser."""

import re
import select
import subprocess
import sys
import time
from pathlib import Path


class LabServer:
    """`with LabServer(site) as server`: `server.url`. It can be stopped and started again on the same port.

    Without a `site` the server makes one, as `options` say, and may take its time.
    """

    def __init__(self, site: Path | None, *options: str, port: int = 0) -> None:
        self.site = site
        self.options = options
        self.port = port
        self.process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> None:
        # -c, so that it does not matter where the console script was put.
        command = [sys.executable, "-c", "import sys; from lab.cli import main; sys.exit(main())", "serve"]
        site = ["--dir", str(self.site)] if self.site is not None else []
        command += ["--no-browser", *site, "--port", str(self.port), *self.options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        said = ""
        deadline = time.monotonic() + (30 if self.site is not None else 240)
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.process.stdout], [], [], 1)
            if ready:
                line = self.process.stdout.readline()
                said += line
                if found := re.search(r"http://[\w.]+:(\d+)/\S*", line):
                    self.url, self.port = found[0], int(found[1])
                    return
                if not line:
                    break
        self.stop()
        raise AssertionError(f"the server did not start: {said}")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=10)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None

    @property
    def origin(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> "LabServer":
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

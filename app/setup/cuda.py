"""Make the virtual environment `.venv-cuda`, with PyTorch and Triton, for `make test-cuda` and `make prove`.

    python3 app/setup/cuda.py

It is apart from `.venv`: PyTorch is a download of up to several gigabytes that the lab itself never needs.
"""

import hashlib
import subprocess
import sys

import environment  # type: ignore[import-not-found]  # beside this script

VENV = environment.ROOT / ".venv-cuda"
NEEDED = (
    "torch==2.13.0",
    "triton>=3.2,<4",
    # Triton's interpreter reads numpy's inner workings: Triton 3.6 fails with numpy 2.4, and newer ones take this too.
    "numpy>=2.3.5,<2.4",
    "pytest>=8,<10",
    "pytest-timeout>=2.3,<3",
)


def main() -> None:
    environment.VENV, environment.PYTHON = VENV, VENV / "bin" / "python"
    stamp = VENV / ".installed"
    wanted = hashlib.sha256(repr(NEEDED).encode()).hexdigest()
    known = stamp.read_text() if stamp.exists() else ""
    if known == wanted and environment.works(str(environment.PYTHON), "-c", "import torch, triton, pytest"):
        return
    if not environment.works(str(environment.PYTHON), "-m", "pip", "--version"):
        environment.say("making the virtual environment .venv-cuda")
        environment.make_environment(environment.find_python())
    environment.say("installing PyTorch and Triton (minutes, and gigabytes where PyTorch comes with CUDA)")
    command = [str(environment.PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDED]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
        sys.exit("setup: pip could not install PyTorch; its message stands above. Is a package index within reach?")
    stamp.write_text(wanted)


if __name__ == "__main__":
    main()

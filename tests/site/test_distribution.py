"""What is installed by `pip install .` holds every file that git has of the packages."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("lab", "app", "traces", "checks")


def test_the_wheel_holds_every_file_of_the_packages(tmp_path):
    tracked = subprocess.run(
        ["git", "ls-files", "-z", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    files = [name for name in tracked if name and (ROOT / name).is_file()]
    source = tmp_path / "source"
    for name in [*files, "pyproject.toml", "README.md", "LICENSE"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        missing = set(files) - set(wheel.namelist())
    assert missing == set()

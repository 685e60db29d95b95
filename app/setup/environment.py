"""Make the virtual environment `.venv` and install the lab into it. Standard library only; asks nothing.

    python3 app/setup/environment.py [EXTRA ...]

Run by the Makefile, with whatever Python is there. It does nothing when the environment already holds what
pyproject.toml asks for. On Debian the module that puts pip into a virtual environment is a package of its own
(python3-venv), so there are several ways to a working pip, tried in order.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if not __package__:  # this is run as a file
    sys.path.insert(0, str(ROOT))

from app.build.locks import alone  # noqa: E402 (standard library only, too)

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "build" / "setup.lock"
OLDEST = (3, 11)
ASKED = "SERVING_LAB_CORE"


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


def works(*command: str) -> bool:
    """True when `command` runs and succeeds; its output is dropped."""
    try:
        return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def find_python() -> str:
    """A Python of at least 3.11 that really runs (a version manager's shim may be there and not work)."""
    check = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    names = [sys.executable, "python3", *(f"python3.{minor}" for minor in range(20, OLDEST[1] - 1, -1))]
    for name in names:
        if works(name, "-c", check):
            return name
    sys.exit(f"setup: no Python {OLDEST[0]}.{OLDEST[1]} or newer found; install one, such as Debian's python3")


def as_root(*command: str) -> bool:
    """Run `command` as root when that needs no question; False when it cannot or fails."""
    if os.geteuid() == 0:
        return works(*command)
    return shutil.which("sudo") is not None and works("sudo", "-n", *command)


def apt_install(*packages: str) -> bool:
    """Install Debian packages without a question; False when this is no Debian or we may not."""
    if not shutil.which("apt-get"):
        return False
    install = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends")
    return as_root(*install, *packages) or (as_root("apt-get", "update") and as_root(*install, *packages))


def make_environment(python: str) -> None:
    """Create `.venv` with a working pip, or end with one sentence that says what to install."""

    def pip_works() -> bool:
        return works(str(PYTHON), "-m", "pip", "--version")

    def plain() -> bool:
        return works(python, "-m", "venv", "--clear", str(VENV)) and pip_works()

    def with_debian_package() -> bool:
        return apt_install("python3-venv") and plain()

    def with_outer_pip() -> bool:
        return (
            works(python, "-m", "venv", "--clear", "--without-pip", str(VENV))
            and works(python, "-m", "pip", "--python", str(PYTHON), "install", "pip")
            and pip_works()
        )

    def with_virtualenv() -> bool:
        return works(python, "-m", "virtualenv", "--clear", str(VENV)) and pip_works()

    for way in (plain, with_outer_pip, with_debian_package, with_virtualenv):
        if way():
            return
    sys.exit("setup: no virtual environment could be made; as root, run: apt-get install python3-venv")


def ask(code: str) -> str:
    """What `code` prints in `.venv`; empty when it fails there."""
    try:
        done = subprocess.run([str(PYTHON), "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def core_now() -> str:
    """Which core `.venv` has, `compiled` or `pure`, or `outdated`; empty when the lab does not run there."""
    return ask(
        "import app; from panel import config\n"  # an empty folder can be imported, too
        "from lab import core; print('outdated' if core.outdated() else core.core())"
    )


def tools() -> list[str]:
    """What there is of all that compiling needs."""
    compilers = [name for name in ("cc", "gcc", "clang", os.environ.get("CC", "cc")) if shutil.which(name)]
    include = ask("import sysconfig; print(sysconfig.get_path('include'))")
    headers = [str(file) for file in (Path(include, "Python.h"), Path("/usr/include/stdio.h")) if file.exists()]
    return compilers + headers


def stamp_for(core: str, extras: list[str]) -> str:
    """Of what is installed. Without the core, a C compiler or headers that were not there are worth another try."""
    there = [] if core == "compiled" else tools()
    digest = hashlib.sha256(repr((str(ROOT), extras, there)).encode())
    for file in (ROOT / "pyproject.toml", ROOT / "app" / "setup" / "backend.py"):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def stamps() -> list[str]:
    """Of what was installed into `.venv`, the latest last."""
    stamp = VENV / ".installed"
    return stamp.read_text().split() if stamp.exists() else []


def required() -> bool:
    """Whether nothing but the compiled core will do."""
    return os.environ.get(ASKED) == "compiled"


def has_the_rest(core: str, extras: list[str]) -> bool:
    """Whether all that pyproject.toml asks for is there and runs, whatever core there is."""
    return core != "" and stamp_for("compiled", extras) in stamps()


def is_enough(core: str, extras: list[str]) -> bool:
    """Whether nothing is to be done. Who asks for the pure core gets it beside the compiled one, too."""
    if not has_the_rest(core, extras):
        return False
    if core == "compiled" or os.environ.get(ASKED) == "pure":
        return True
    return core == "pure" and not required() and stamp_for(core, extras) in stamps()


def main(extras: list[str]) -> None:
    """Called by the Makefile."""
    core = core_now()
    if is_enough(core, extras):
        return
    try:
        with alone(LOCK):  # two at once would compile in the same folder
            core = core_now()
            if not is_enough(core, extras):
                install(core, extras)
    except OSError as problem:
        if required() or not has_the_rest(core, extras):
            sys.exit(f"setup: {problem}; the lab sets itself up in a folder that it can write to")
        say(f"the pure Python core runs, since nothing can be compiled here: {problem}")


def install(core: str, extras: list[str]) -> None:
    """Install into `.venv`, which has this core now, or none; make it first if it is not there."""
    known, core_alone = stamps(), has_the_rest(core, extras)
    made_now = not works(str(PYTHON), "-m", "pip", "--version")
    if made_now:
        say("making the virtual environment .venv")
        make_environment(find_python())
        known = []
    target = f".[{','.join(extras)}]" if extras else "."
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", target]
    if core_alone:
        say("compiling the core again, since its sources, or what compiles them, have changed")
        command += ["--no-deps", "--retries", "1"]
    else:
        say(f"installing {target} and what it needs (a minute or two the first time)")
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        ours = [line for line in done.stderr.splitlines() if line.strip().startswith("serving-lab:")]
        if ours:
            sys.exit(f"setup: {ours[0].strip()}")
        if core_alone and not required():  # all else is there, and the plain core does as well
            said = [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("ERROR: ")]
            say(f"the pure Python core runs, since pip could not compile: {said[-1] if said else 'it says nothing'}")
            return
        print(done.stderr.strip(), file=sys.stderr)
        sys.exit("setup: pip could not install the lab; its message stands above. Is a package index within reach?")
    core = core_now()
    if core:
        # As for the compiled core: that what pyproject.toml asks for is there, whatever core came of it.
        kept = dict.fromkeys([*known[-8:], stamp_for("compiled", extras), stamp_for(core, extras)])
        (VENV / ".installed").write_text("\n".join(kept) + "\n")
        if core != "compiled":
            say(ask("from lab import core; print(core.why())"))
    elif made_now:
        sys.exit(f"setup: the lab does not run in {VENV}; python -c 'import app, panel' there says why")
    else:
        say("what is in .venv does not run, such as after an installation that was cut off; it is made again")
        shutil.rmtree(VENV)
        install("", extras)


if __name__ == "__main__":
    main(sys.argv[1:])

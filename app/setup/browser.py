"""Find the browsers that the tests drive, and install Debian's when they are missing and we may.

    python -m app.setup.browser

Chromium is needed: its absence is told in one sentence here, and the browser tests then fail with it.
"""

import os
import shutil

from app.setup.environment import apt_install, say

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The first four ask elsewhere; the others start two renderers with every context, for a browser's address bar.
    "--disable-features=AutofillServerCommunication,OptimizationHints,MediaRouter,Translate,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]
"""What Chromium is started with: nothing but the page that is looked at."""


def find(variable: str, *names: str) -> str | None:
    """The path of a browser: what the environment variable says, else the first of `names` on the path."""
    chosen = os.environ.get(variable)
    if chosen:
        return chosen if os.access(chosen, os.X_OK) else None
    return next((path for name in names if (path := shutil.which(name))), None)


def chromium() -> str | None:
    return find("CHROMIUM", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def firefox() -> str | None:
    return find("FIREFOX", "firefox-esr", "firefox")


def main() -> None:
    if not chromium():
        say("installing Chromium for the browser tests")
        if not apt_install("chromium", "fonts-dejavu-core"):
            say(
                "no Chromium, and it cannot be installed here: set CHROMIUM to a browser, or run as root:"
                " apt-get install chromium"
            )
    if os.environ.get("CI") and not firefox():
        say("installing Firefox for the shorter run")
        if not apt_install("firefox-esr"):
            say("no Firefox; its shorter run is left out")


if __name__ == "__main__":
    main()

"""Where Chromium is, and how it is started."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Final

from dehusk.errors import UsageError

VARIABLE: Final = "DEHUSK_CHROMIUM"
"""The environment variable that names the browser to use."""
_NAMES: Final = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge",
)  # fmt: skip
_SCRIPT_MEGABYTES: Final = 512
"""What the scripts of one page may allocate before their process is ended."""


def find_chromium() -> str:
    """The path of the browser: `DEHUSK_CHROMIUM`, else the first Chromium on PATH.

    Raises UsageError where there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = shutil.which(named)
        if path is None:
            raise UsageError(f"{VARIABLE}={named}: there is no such program")
        return path
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise UsageError(
            "no Chromium on PATH: install it (Debian: apt install chromium), or name one in"
            f" {VARIABLE}"
        )
    return found


def launch_options(executable: str) -> dict[str, Any]:
    """What Playwright is told to start the browser with."""
    return {
        "executable_path": str(Path(executable)),
        "headless": True,
        # Chromium cannot put root in its sandbox; everybody else gets it.
        "chromium_sandbox": getattr(os, "geteuid", lambda: 1)() != 0,
        "handle_sigint": False,
        # Playwright opens every window that a page asks for; we want none.
        "ignore_default_args": ["--disable-popup-blocking"],
        "args": [
            # Interception answers requests; what goes past it (preconnect, sockets, WebRTC) finds
            # no host and no route.
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--dns-prefetch-disable",
            "--disable-dev-shm-usage",
            f"--js-flags=--max-old-space-size={_SCRIPT_MEGABYTES}",
        ],
    }

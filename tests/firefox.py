"""A real Firefox for tests, driven by the protocol that it has built in (Marionette).

A message is `LENGTH:JSON`: [0, number, command, parameters] there, [1, number, error, answer] back.
So no driver is needed besides the browser. It may talk to this machine only: for all other
addresses it is told of a proxy on a port on which nobody listens.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from extras import missing

EXTENSION_ID = "8d0b3f52-7a1e-4c55-9c1a-2f6a3b1c4d5e"
"""Where the extension lives in this browser: else Firefox makes one up."""
_PATIENT_S = 60
_PREFERENCES = {
    "marionette.port": 0,
    "extensions.webextensions.uuids": json.dumps({"dehusk@dehusk.example": EXTENSION_ID}),
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.allow_hijacking_localhost": False,
    "services.settings.server": "data:,",
}


class Firefox:
    """A browser that is asked one thing after another."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_PATIENT_S)
        self._stream = self._socket.makefile("rb")
        self._number = 0
        self._read()
        self.ask("WebDriver:NewSession", capabilities={})

    def _read(self) -> Any:
        size = b""
        while (one := self._stream.read(1)) != b":":
            assert one, "the browser has gone"
            size += one
        return json.loads(self._stream.read(int(size)))

    def ask(self, command: str, **given: Any) -> Any:
        """The browser's answer to a command."""
        self._number += 1
        message = json.dumps([0, self._number, command, given]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, answer = self._read()
        assert error is None, f"{command}: {error}"
        return answer["value"] if isinstance(answer, dict) and "value" in answer else answer

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script gives in the tab that is chosen."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=list(arguments))

    def until(self, script: str, *arguments: Any) -> Any:
        """What a script gives, once it is something."""
        end = time.monotonic() + _PATIENT_S
        while True:
            with suppress(AssertionError):  # A page that is left meanwhile answers nothing.
                if found := self.run(script, *arguments):
                    return found
            assert time.monotonic() < end, script
            time.sleep(0.05)

    def open(self, url: str) -> str:
        """A new tab with that page, chosen."""
        handle: str = self.ask("WebDriver:NewWindow", type="tab", focus=True)["handle"]
        self.choose(handle)
        if url.startswith("moz-extension:"):
            self._open_as_browser(url)
        else:
            self.ask("WebDriver:Navigate", url=url)
        return handle

    def _open_as_browser(self, url: str) -> None:
        """Load a page of an extension: newer browsers refuse to be driven there."""
        self.ask("Marionette:SetContext", value="chrome")
        self.run(
            """gBrowser.selectedBrowser.loadURI(Services.io.newURI(arguments[0]), {
                 triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() })""",
            url,
        )
        self.ask("Marionette:SetContext", value="content")
        self.until(
            "return location.href === arguments[0] && document.readyState === 'complete'", url
        )

    def choose(self, handle: str) -> None:
        """Go on in that tab."""
        self.ask("WebDriver:SwitchToWindow", handle=handle, focus=True)

    def find(self, selector: str) -> Any:
        """An element, to be given to other commands."""
        self.until("return document.querySelector(arguments[0])", selector)
        found = self.ask("WebDriver:FindElement", using="css selector", value=selector)
        return next(iter(found.values()))

    def click(self, selector: str) -> None:
        """Click on an element, as a hand would."""
        self.ask("WebDriver:ElementClick", id=self.find(selector))

    def press(self, key: str) -> None:
        """Press a key in the tab that is chosen."""
        keys = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self.ask("WebDriver:PerformActions", actions=[{"type": "key", "id": "k", "actions": keys}])

    def close(self) -> None:
        """End the browser."""
        with suppress(AssertionError, OSError):
            self.ask("Marionette:Quit", flags=["eForceQuit"])
        self._stream.close()
        self._socket.close()


def executable() -> str:
    """Where the browser is; the test is skipped without one, but fails in CI."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if found is None:
        missing("no Firefox (Debian: apt-get install firefox-esr)")
    return found


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A browser that runs as long as the block."""
    command = [
        executable(), "--headless", "--marionette", "--remote-allow-system-access", "--no-remote",
        "--profile", str(profile),
    ]  # fmt: skip
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in _PREFERENCES.items()]
    (profile / "user.js").write_text("".join(lines))
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, stdout=quiet, stderr=quiet, env={**os.environ, "HOME": str(profile)}
    )
    try:
        browser = Firefox(_port(profile, process))
        yield browser
        browser.close()
        process.wait(_PATIENT_S)
    finally:
        process.kill()
        process.wait()


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    """Where the browser listens, once it does."""
    written = profile / "MarionetteActivePort"
    end = time.monotonic() + _PATIENT_S
    while not (written.exists() and written.read_text()):
        assert process.poll() is None, "Firefox did not start"
        assert time.monotonic() < end, "Firefox did not listen"
        time.sleep(0.1)
    return int(written.read_text())

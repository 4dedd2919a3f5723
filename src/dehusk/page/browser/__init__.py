"""Pages as a browser shows them: loaded in Chromium, scripts run, every node with its box.

The browser itself never reaches the network. A page is handed to it at the page's own URL; what the
page asks for on top is answered by a function of the caller's, or refused.
"""

from __future__ import annotations

from dehusk.page.browser.session import BrowserSettings, Fetch, Resource, find_chromium
from dehusk.page.browser.worker import Browser

__all__ = ["Browser", "BrowserSettings", "Fetch", "Resource", "find_chromium"]

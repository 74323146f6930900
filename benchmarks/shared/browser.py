"""A real Chromium without a window, for pages that are tested and measured in one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_FLAGS = (
    "headless",
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "no-first-run",
    "hide-scrollbars",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "disable-dev-shm-usage",
)


def _programs() -> list[str | None]:
    names = ("chromium", "chromium-browser", "google-chrome")
    return [next(filter(None, map(shutil.which, names)), None), shutil.which("chromedriver")]


def missing() -> str:
    """Say what is not on this machine; nothing if all is there."""
    if find_spec("selenium") is None:
        return "selenium comes with the extra test"
    return "" if all(_programs()) else "Chromium and its driver are not installed"


@contextmanager
def browser(
    width: int = 1360, height: int = 1000, *, dark: bool = False, phone: bool = False
) -> Iterator[Any]:
    """Give a driver of a browser with a window of this size, which starts empty."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    chromium, driver = _programs()
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"window-size={width},{height}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options.add_argument(f"--user-data-dir={profile}")
        opened = webdriver.Chrome(options=options, service=Service(driver))
        try:
            opened.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone},
            )
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
            yield opened
        finally:
            opened.quit()


def open_page(opened: Any, path: Path) -> None:
    """Open a file, and forget what was logged before."""
    opened.get_log("browser")
    opened.get_log("performance")
    opened.get(path.resolve().as_uri())

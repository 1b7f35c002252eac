"""Headless Chromium for tests: `from browser_fixtures import chromium  # noqa: F401` and mark them ``browser``.

The browser cannot reach any host but 127.0.0.1, so a page that needs the network fails here. Where Chromium or its
driver is absent the tests are skipped with a message; with ``CI`` set in the environment that is a failure.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-prefers-reduced-motion",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
DESK, PHONE = (1440, 900), (390, 844)


class Browser:
    """A Chromium under the control of tests.

    Attributes
    ----------
    driver
        The selenium WebDriver.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, url: str, size: tuple[int, int] = DESK) -> None:
        """Open a page in a window of a size, without what earlier pages left."""
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.driver.get("about:blank")
        self.console()
        self.resize(size)
        self.driver.get(url)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the page a width and height in CSS pixels; narrow ones as on a phone."""
        width, height = size
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page; what it returns comes back."""
        return self.driver.execute_script(script, *arguments)

    def console(self) -> list[str]:
        """Return what the page has written to the console at level warning or above since the last asking."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def foreign_resources(self) -> list[str]:
        """Return the addresses of loaded resources that are not of the page's own origin."""
        script = (
            "return performance.getEntriesByType('resource').map(e => e.name)"
            ".filter(n => !n.startsWith(location.origin + '/') && !n.startsWith('data:'))"
        )
        return list(self.run(script))

    def scrolls_sideways(self) -> bool:
        """Say whether the page is wider than its window."""
        return bool(self.run("return document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def screenshot(self, name: str) -> None:
        """Save a picture under the folder named by SABER_SCREENSHOTS, when it is set."""
        folder = os.environ.get("SABER_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(Path(folder) / f"{name}.png"))


def _missing(why: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"Browser tests must run in CI: {why}")
    pytest.skip(f"Browser tests left out: {why}")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start Chromium once for all browser tests."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    helper = shutil.which("chromedriver")
    if binary is None or helper is None:
        _missing("chromium and chromedriver are not installed (Debian: apt-get install chromium chromium-driver)")
        return
    try:
        from selenium import webdriver
    except ModuleNotFoundError:
        _missing("selenium is not installed (pip install selenium)")
        return
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Given the driver's path, selenium looks nothing up on the network.
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=helper))
    try:
        yield Browser(driver)
    finally:
        driver.quit()

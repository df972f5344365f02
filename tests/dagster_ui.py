"""Dagster's own pages, used with the mouse and the keyboard in a real browser."""

import json
import time

from tests.browser import Browser

_PATIENCE_SECONDS = 90
_TITLE = "Launch runs to materialize 3 assets"
_OPENER = "Select a partition or create one"


class DagsterUi:
    """The pages of one server.

    Args:
        browser: an open browser.
        port: where the server is.
    """

    def __init__(self, browser: Browser, port: int) -> None:
        self._browser = browser
        self._port = port

    def backfill_job(self, job: str, model: str) -> None:
        """On the page of a job over cells: choose one model and all scenarios, and launch."""
        self._browser.send("Emulation.setDeviceMetricsOverride", width=1500, height=1000, deviceScaleFactor=1, mobile=False)
        self._browser.send("Page.navigate", url=f"http://127.0.0.1:{self._port}/locations/abstain/jobs/{job}")
        self._click(_button("Materialize all…"))
        self._click(_text(_OPENER))  # the first dimension is the model
        self._wait_for("document.activeElement.placeholder === 'Filter partitions'")
        self._browser.send("Input.insertText", text=model)
        self._click(_text("Select all (1)"))
        self._click(_text("Options"))  # closes the list
        self._click("[...document.querySelectorAll('button')].filter(e => e.innerText === 'All')[1]")
        self._wait_for("document.body.innerText.includes('8 partitions')")
        self._click(_button("Launch backfill"))
        self._wait_for(f"!{_text(_TITLE)}")  # the dialog closes when the server has answered

    def _click(self, element: str) -> None:
        self._wait_for(f"(e => e && !e.disabled)({element})")
        middle = "const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height];"
        place = f"(e => {{ e.scrollIntoView({{block: 'center'}}); {middle} }})"
        x, y, width, height = self._browser.value(f"{place}({element})")
        for kind in ("mousePressed", "mouseReleased"):
            where = {"x": x + width / 2, "y": y + height / 2}
            self._browser.send("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)

    def _wait_for(self, condition: str) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not self._browser.value(f"(() => {{ try {{ return Boolean({condition}); }} catch {{ return false; }} }})()"):
            assert time.monotonic() < end, (condition, self._browser.value("document.body.innerText"))
            time.sleep(0.2)


def _button(text: str) -> str:
    return f"[...document.querySelectorAll('button')].find(e => e.innerText.trim() === {json.dumps(text)})"


def _text(text: str) -> str:
    inner = f"!e.children.length && e.textContent.trim() === {json.dumps(text)}"
    return f"[...document.querySelectorAll('*')].find(e => {inner})"

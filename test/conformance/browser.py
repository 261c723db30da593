"""A JupyterLab server and a browser that uses it, for lab.py."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

import harness
import nbformat
from playwright.sync_api import TimeoutError as PlaywrightTimeout

# State of the current notebook, from JupyterLab's own objects.
STATE = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const context = panel?.sessionContext;
  if (!context || !panel.content?.widgets) return null;
  const cells = panel.content.widgets.filter(c => c.model.type === 'code');
  return {
    kernel: context.session?.kernel?.id ?? null,
    display: context.kernelDisplayStatus,
    cells: cells.map(c => ({
      count: c.model.executionCount,
      prompt: c.node.querySelector('.jp-InputPrompt')?.textContent ?? '',
      running: c.model.executionState === 'running',
      outputs: c.model.outputs.toJSON(),
    })),
  };
}"""

# A timeline of the kernel's displayed status, sampled in the page: when a kernel is known, and each change.
WATCH = """() => {
  window.timeline = [];
  let last = '';
  const sample = () => {
    const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    const kernel = context?.session?.kernel ? 'kernel ' : 'no kernel ';
    const now = context ? kernel + context.kernelDisplayStatus : 'no notebook';
    if (now !== last) { last = now; window.timeline.push([performance.now() / 1000, now]); }
    setTimeout(sample, 10);
  };
  sample();
}"""


class Lab:
    """A JupyterLab server in a folder and a browser."""

    def __init__(self, playwright, out):
        self.out = out
        self.failed = 0
        self.root = harness.installation().folder / "notebooks"
        self.root.mkdir()
        settings = harness.installation().folder / "settings"
        for plugin, values in {
            "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
            "@jupyterlab/docmanager-extension/plugin": {"autosaveInterval": 3600},
        }.items():
            path = settings / f"{plugin}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))
        os.environ.update(
            JUPYTERLAB_SETTINGS_DIR=str(settings),
            JUPYTERLAB_WORKSPACES_DIR=str(harness.installation().folder / "workspaces"),
        )
        self.log = open(out / "jupyterlab.log", "w")
        self.server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "jupyterlab",
                "--no-browser",
                "--allow-root",
                "--expose-app-in-browser",
                "--IdentityProvider.token=conformance",
                f"--ServerApp.root_dir={self.root}",
                "--ServerApp.port=0",
                "--ServerApp.open_browser=False",
            ],
            stdout=self.log,
            stderr=subprocess.STDOUT,
            cwd=self.root,
        )
        self.url = self.find_server()
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        self.browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )

    def find_server(self):
        runtime = harness.installation().folder / "runtime"
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            for path in runtime.glob(f"jpserver-{self.server.pid}.json"):
                try:
                    url = json.loads(path.read_text())["url"]
                    urllib.request.urlopen(url + "api?token=conformance", timeout=5).close()
                    return url
                except (OSError, ValueError):
                    pass
            time.sleep(0.2)
        raise RuntimeError("JupyterLab did not start")

    def close(self):
        self.browser.close()
        self.server.terminate()
        try:
            self.server.wait(30)
        except subprocess.TimeoutExpired:
            self.server.kill()
        self.log.close()

    def shut_kernels_down(self):
        """End all kernels and close their sessions, so that the next scenario starts its own."""
        for session in json.load(urllib.request.urlopen(self.url + "api/sessions?token=conformance")):
            request = urllib.request.Request(
                self.url + f"api/sessions/{session['id']}?token=conformance", method="DELETE"
            )
            urllib.request.urlopen(request, timeout=60).close()

    def open(self, nb, name):
        """Write a notebook and open it in a browser page of its own."""
        nbformat.write(nb, self.root / name)
        page = self.browser.new_page(viewport={"width": 1300, "height": 1000})
        page.add_init_script(f"({WATCH})()")
        page.set_default_timeout(60_000)
        page.goto(f"{self.url}lab/workspaces/{name[:-6]}/tree/{name}?token=conformance&reset")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        return page

    def report(self, name, passed, text):
        self.failed += not passed
        print(f"{'PASS' if passed else 'FAIL'} {name}: {text}", flush=True)

    def shot(self, page, name):
        page.screenshot(path=str(self.out / f"{name}.png"))

    def pages(self, page, name, most=20):
        """Save screenshots of the whole notebook, one screen each."""
        area = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
        page.eval_on_selector(area, "e => e.scrollTo(0, 0)")
        for n in range(1, most + 1):
            page.wait_for_timeout(700)  # cells are drawn when they come into view
            self.shot(page, f"{name}-{n:02}")
            before = page.eval_on_selector(area, "e => e.scrollTop")
            page.eval_on_selector(area, "e => e.scrollBy(0, e.clientHeight * 0.9)")
            if page.eval_on_selector(area, "e => e.scrollTop") == before:
                return

    def scroll_to(self, page, heading):
        """Scroll to a heading; cells are drawn when they come into view."""
        area = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer"
        page.eval_on_selector(area, "e => e.scrollTo(0, 0)")
        there = (
            "text => { const h = [...document.querySelectorAll('.jp-RenderedHTMLCommon h2')]"
            ".find(e => e.textContent.startsWith(text)); h?.scrollIntoView(); return !!h; }"
        )
        for _ in range(40):
            page.wait_for_timeout(700)
            if page.evaluate(there, heading):
                break
            page.eval_on_selector(area, "e => e.scrollBy(0, e.clientHeight * 0.5)")
        page.wait_for_timeout(1500)
        page.evaluate(there, heading)  # what is above it has its height now
        page.wait_for_timeout(700)

    def theme(self, page, name):
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        page.wait_for_timeout(2000)


def state(page):
    return page.evaluate(STATE)


def until(page, condition, timeout):
    """Wait until condition(state) holds; return the seconds it took, None where it did not."""
    started = time.monotonic()
    while time.monotonic() - started < timeout:
        s = state(page)
        if s and condition(s):
            return time.monotonic() - started
        page.wait_for_timeout(50)
    return None


def idle(s):
    return s["display"] == "idle" and not any("*" in c["prompt"] or c["running"] for c in s["cells"])


def menu(page, *labels):
    """Choose an entry of the menu bar."""
    page.click(f".lm-MenuBar-itemLabel:text-is('{labels[0]}')")
    for label in labels[1:]:
        page.click(f".lm-Menu .lm-Menu-itemLabel:has-text('{label}')")


def run_all(page):
    menu(page, "Run", "Run All Cells")


def toolbar(page, command):
    page.click(f".jp-NotebookPanel:not(.lm-mod-hidden) .jp-NotebookPanel-toolbar [data-command='{command}']")


def confirm(page):
    try:
        page.click(".jp-Dialog .jp-mod-accept", timeout=10_000)
    except PlaywrightTimeout:
        pass  # the dialog was not shown


def text_of(cell):
    return "".join("".join(o.get("text", "")) for o in cell["outputs"])


def summary(s):
    return " ".join(f"[{c['count'] or ('*' if c['running'] else ' ')}]" for c in s["cells"]) + " " + s["display"]

"""Scenarios in JupyterLab, played by a scripted Chromium. Each prints one line with what it measured, and PASS or FAIL.

To run it: see harness.py for the environment, then

    pip install jupyterlab==4.6.6 playwright==1.65.2      # a Chromium on PATH is used; playwright's own otherwise
    python internal/conformance/lab.py --out FOLDER [SCENARIO…]

SCENARIO is any of status, completion, small, stop, restart, two, tour; without one all run, in this order. Screenshots go
to FOLDER. The exit status is 1 where a scenario failed. tour and stop need a store without their images: the default, a
temporary store, is one.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.request

import harness
import nbformat
from clients_test import notebook
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import sync_playwright

WITHIN = 1.0  # seconds until a status or a completion is shown
STOPPED = 3.0  # seconds from Stop to idle

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
    const now = context ? (context.session?.kernel ? 'kernel ' : 'no kernel ') + context.kernelDisplayStatus : 'no notebook';
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
            JUPYTERLAB_SETTINGS_DIR=str(settings), JUPYTERLAB_WORKSPACES_DIR=str(harness.installation().folder / "workspaces")
        )
        self.log = open(out / "jupyterlab.log", "w")
        self.server = subprocess.Popen(
            [
                sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
                "--IdentityProvider.token=conformance", f"--ServerApp.root_dir={self.root}",
                "--ServerApp.port=0", "--ServerApp.open_browser=False",
            ],
            stdout=self.log, stderr=subprocess.STDOUT, cwd=self.root,
        )  # fmt: skip
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


def statuses(page):
    """Return (seconds from the kernel being known to idle, the timeline) of what the page showed since it was loaded."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        line = page.evaluate("window.timeline")
        known = [t for t, s in line if s.startswith("kernel ")]
        ready = [t for t, s in line if s == "kernel idle"]
        if known and ready:
            return ready[0] - known[0], line
        page.wait_for_timeout(50)
    return None, page.evaluate("window.timeline")


def shown(line):
    start = line[0][0] if line else 0
    return " → ".join(f"{t - start:.2f} {s}" for t, s in line)


def status(lab):
    """The kernel's status is idle within a second of opening, reloading and restarting; it is never "unknown" for longer."""
    page = lab.open(notebook('%%\nfmt.Println("x")'), "status.ipynb")
    for action in ("open", "reload", "restart"):
        if action == "reload":
            page.reload()
            page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        if action == "restart":
            page.evaluate("window.timeline.length = 0")
            toolbar(page, "notebook:restart-kernel")
            confirm(page)
            page.wait_for_function("window.timeline.some(([, s]) => !s.endsWith(' idle'))")
        seconds, line = statuses(page)
        lab.shot(page, f"status-{action}")
        lab.report(
            f"status after {action}",
            seconds is not None and seconds <= WITHIN,
            f"idle after {seconds if seconds is None else round(seconds, 2)} s ({shown(line)})",
        )
    page.close()


def completed(page, text, wants):
    """Type text in the first cell and press Tab; return the seconds until the completer shows wants or inserts it."""
    editor = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell .cm-content"
    page.click(editor)
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)
    page.wait_for_timeout(100)
    started = time.monotonic()
    page.keyboard.press("Tab")
    found = """([editor, wants]) => {
      const items = [...document.querySelectorAll('.jp-Completer:not(.lm-mod-hidden) .jp-Completer-item')];
      return items.some(i => i.textContent.includes(wants)) || document.querySelector(editor).textContent.includes(wants);
    }"""
    try:
        page.wait_for_function(found, arg=[editor, wants], timeout=5000, polling=20)
        took = time.monotonic() - started
    except PlaywrightTimeout:
        took = None
    return took


def completion(lab):
    """A completion is shown within a second of the first Tab in the first kernel, and later."""
    page = lab.open(notebook(""), "completion.ipynb")
    until(page, lambda s: s["kernel"], 60)
    samples = [("var f = plots.Ba", "Bars"), ("var t = datasets.Arch", "Archipelago"), ("var f = plots.Fo", "Forest")]
    for n, (text, wants) in enumerate(samples):
        took = completed(page, text, wants)
        lab.shot(page, f"completion-{n + 1}")
        page.keyboard.press("Escape")
        lab.report(
            f"completion {n + 1} of a new kernel, {text!r}",
            took is not None and took <= WITHIN,
            "nothing is shown" if took is None else f"{took:.2f} s",
        )
    page.wait_for_timeout(20_000)
    took = completed(page, "var f = plots.Ba", "Bars")
    lab.shot(page, "completion-warm")
    lab.report(
        "completion after 20 s", took is not None and took <= WITHIN, "nothing is shown" if took is None else f"{took:.2f} s"
    )
    page.close()


def small(lab):
    """Run All of a small notebook."""
    page = lab.open(notebook("var x = 20", "%%\nfmt.Println(x + 1)", "%%\nx * 2"), "small.ipynb")
    until(page, lambda s: s["kernel"], 60)
    run_all(page)
    took = until(page, lambda s: idle(s) and all(c["count"] for c in s["cells"]), 180)
    s = state(page)
    lab.shot(page, "small")
    results = [o["data"]["text/plain"] for o in s["cells"][2]["outputs"] if o["output_type"] == "execute_result"]
    passed = took is not None and text_of(s["cells"][1]) == "21\n" and results == ["40"]
    lab.report("Run All of a small notebook", passed, f"{took and round(took, 1)} s, {summary(s)}")
    page.close()


def stop(lab):
    """Stop while images are generated: idle within three seconds, later cells do not run, the device is free."""
    nb = nbformat.read(harness.ROOT / "notebooks" / "tour.ipynb", 4)
    for c in nb.cells:
        c.source = c.source.replace("var each = 4", "var each = 200")
    nb.cells.append(nbformat.v4.new_code_cell('%%\nfmt.Println("after")'))
    page = lab.open(nb, "stop.ipynb")
    until(page, lambda s: s["kernel"], 60)
    sources = [c.source for c in nb.cells if c.cell_type == "code"]
    generating = next(i for i, source in enumerate(sources) if "drawn.Run()" in source or "generated.Run()" in source)
    run_all(page)
    reached = until(page, lambda s: all(c["count"] for c in s["cells"][:generating]) and s["cells"][generating]["outputs"], 600)
    page.wait_for_timeout(5000)
    lab.shot(page, "stop-before")
    toolbar(page, "notebook:interrupt-kernel")
    took = until(page, lambda s: s["display"] == "idle", 60)
    page.wait_for_timeout(3000)
    s = state(page)
    lab.shot(page, "stop-after")
    device = harness.installation().antipode("backend", "status").strip().replace("\n", " · ")
    later = s["cells"][generating + 1 :]
    passed = reached is not None and took is not None and took <= STOPPED
    passed = passed and idle(s) and not any(c["outputs"] for c in later)
    lab.report("Stop during generation", passed, f"idle after {took and round(took, 2)} s, {summary(s)}; {device}")
    page.close()


def restart(lab):
    """Restart & Run All counts from one again."""
    page = lab.open(notebook("var x = 20", "%%\nfmt.Println(x + 1)"), "restart.ipynb")
    until(page, lambda s: s["kernel"], 60)
    for _ in range(2):
        run_all(page)
        until(page, lambda s: idle(s) and all(c["count"] for c in s["cells"]), 180)
        page.wait_for_timeout(500)
    before = state(page)
    toolbar(page, "notebook:restart-run-all")
    confirm(page)
    took = until(page, lambda s: idle(s) and [c["count"] for c in s["cells"]] == [1, 2], 180)
    s = state(page)
    lab.shot(page, "restart")
    passed = took is not None and text_of(s["cells"][1]) == "21\n" and before["cells"][0]["count"] == 3
    lab.report("Restart & Run All", passed, f"{took and round(took, 1)} s, before {summary(before)}, after {summary(s)}")
    page.close()


def two(lab):
    """Two notebooks at once, each with a kernel of its own."""
    pages = []
    for name in ("first", "second"):
        cells = [f'var name = "{name}"', "%%\nfor i := range 20 {\n\tfmt.Println(name, i)\n\ttime.Sleep(100 * time.Millisecond)\n}"]
        pages.append((name, lab.open(notebook(*cells), f"{name}.ipynb")))
    for _, page in pages:
        until(page, lambda s: s["kernel"], 60)
        run_all(page)
    times, right, kernels = [], True, set()
    for name, page in pages:
        times.append(until(page, lambda s: idle(s) and all(c["count"] for c in s["cells"]), 180))
        s = state(page)
        right = right and text_of(s["cells"][1]) == "".join(f"{name} {i}\n" for i in range(20))
        kernels.add(s["kernel"])
        lab.shot(page, f"two-{name}")
    lab.report("two notebooks at once", None not in times and right and len(kernels) == 2, f"{times} s, outputs right: {right}")
    for _, page in pages:
        page.close()


def tour(lab):
    """Run All of the tour from a store without its images; screenshots in both themes."""
    page = lab.open(nbformat.read(harness.ROOT / "notebooks" / "tour.ipynb", 4), "tour.ipynb")
    menu(page, "Edit", "Clear Outputs of All Cells")
    until(page, lambda s: s["kernel"], 60)
    run_all(page)
    took = until(page, lambda s: idle(s) and all(c["count"] for c in s["cells"]), 1800)
    s = state(page)
    errors = [o for c in s["cells"] for o in c["outputs"] if o["output_type"] == "error" or o.get("name") == "stderr"]
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(page, theme)
        lab.pages(page, f"tour-{theme.split()[-1].lower()}")
    lab.theme(page, "JupyterLab Light")
    lab.report("Run All of a cold tour", took is not None and not errors, f"{took and round(took)} s, {summary(s)}, {len(errors)} errors")
    page.close()


SCENARIOS = {f.__name__: f for f in (status, completion, small, stop, restart, two, tour)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for screenshots and JupyterLab's log")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(SCENARIOS))
    arguments = parser.parse_args()
    unknown = set(arguments.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"unknown scenario {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    harness.installation()
    with sync_playwright() as playwright:
        lab = Lab(playwright, arguments.out)
        try:
            for name in arguments.scenarios or SCENARIOS:
                try:
                    SCENARIOS[name](lab)
                except Exception as error:  # the other scenarios run all the same
                    lab.report(name, False, f"{type(error).__name__}: {str(error).splitlines()[0]}")
                lab.shut_kernels_down()
        finally:
            lab.close()
    # The driver and the browser are this script's own and end with it.
    left = harness.installation().remaining()
    lab.report("processes", not left, f"remaining: {left or 'none'}")
    sys.exit(1 if lab.failed else 0)


if __name__ == "__main__":
    main()

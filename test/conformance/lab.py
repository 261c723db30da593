"""Scenarios in JupyterLab, played by a scripted Chromium. Each prints one line with what it measured, and PASS or FAIL.

To run it: see harness.py for the environment, then

    pip install jupyterlab==4.6.6 playwright==1.65.2      # a Chromium on PATH is used; playwright's own otherwise
    python test/conformance/lab.py --out FOLDER [SCENARIO…]

SCENARIO is any of status, completion, small, stop, restart, two, columns, slow, keep, builds, homes, linked, tour; without one
all run, in this order. Screenshots go to FOLDER. The exit status is 1 where a scenario failed. tour and stop need a
store without their images: a temporary store, the default, is one.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

import harness
import nbformat
from browser import Lab, confirm, idle, menu, run_all, state, summary, text_of, toolbar, until
from clients_test import notebook
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import sync_playwright

WITHIN = 1.0  # seconds until a status or a completion is shown
STOPPED = 3.0  # seconds from Stop to idle


def statuses(page):
    """Return the seconds from the kernel being known to idle, and the timeline of what the page showed."""
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
    """The kernel's status is idle within a second of opening, reloading and restarting."""
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
      const text = document.querySelector(editor).textContent;
      return text.includes(wants) || items.some(i => i.textContent.includes(wants));
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
    samples = [
        ("var f = plots.Ba", "Bars"),
        ("var t = datasets.Arch", "Archipelago"),
        ("var f = plots.Bars{", "Series"),
        ("var o = gomlxmodels.GenerateOptions{", "Guidance"),
        ("var o = disparity.GapsOptions{", "Comparison"),
    ]
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
        "completion after 20 s",
        took is not None and took <= WITHIN,
        "nothing is shown" if took is None else f"{took:.2f} s",
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
    reached = until(
        page, lambda s: all(c["count"] for c in s["cells"][:generating]) and s["cells"][generating]["outputs"], 600
    )
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
    passed = passed and idle(s) and not any(c["outputs"] or c["count"] for c in later)
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
    lab.report(
        "Restart & Run All", passed, f"{took and round(took, 1)} s, before {summary(before)}, after {summary(s)}"
    )
    page.close()


def two(lab):
    """Two notebooks at once, each with a kernel of its own."""
    pages = []
    for name in ("first", "second"):
        cells = [
            f'var name = "{name}"',
            "%%\nfor i := range 20 {\n\tfmt.Println(name, i)\n\ttime.Sleep(100 * time.Millisecond)\n}",
        ]
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
    lab.report(
        "two notebooks at once",
        None not in times and right and len(kernels) == 2,
        f"{times} s, outputs right: {right}",
    )
    for _, page in pages:
        page.close()


TABLE = 'var photos = datasets.FromRows([]map[string]any{{"id": "a", "region": "North", "rain": 3}})'


def ran(page, timeout=180):
    """Run all cells and return the seconds it took and the text of each cell's outputs."""
    until(page, lambda s: s["kernel"], 60)
    run_all(page)
    took = until(page, lambda s: idle(s) and all(c["count"] for c in s["cells"]), timeout)
    page.wait_for_timeout(300)

    def text(o):
        return "".join(o.get("text", "")) + "".join(o.get("data", {}).get("text/plain", ""))

    return took, ["".join(map(text, c["outputs"])) for c in state(page)["cells"]]


def columns(lab):
    """Column names are completed inside strings."""
    page = lab.open(notebook("", TABLE), "columns.ipynb")
    page.click(".jp-Cell:nth-of-type(2) .cm-content")
    ran(page)
    samples = [
        ('var few = photos.Where("re', "region"),
        ('var f = plots.Bars{Table: photos, Y: "ra', "rain"),
        ('var o = disparity.Comparison{Unmasked: "z', "zero-vector"),
    ]
    for n, (text, wants) in enumerate(samples):
        took = completed(page, text, wants)
        lab.shot(page, f"columns-{n + 1}")
        page.keyboard.press("Escape")
        passed = took is not None and took <= WITHIN
        lab.report(f"completion in a string, {text!r}", passed, f"{took and round(took, 2)} s")
    page.close()


def slow(lab):
    """A var that computes is named once, in the cell that declares it; %time and %who work."""
    declared = "var slow = func() int {\n\ttime.Sleep(600 * time.Millisecond)\n\treturn 7\n}()"
    page = lab.open(notebook(declared, "%%time\nfmt.Println(slow)", "%who"), "slow.ipynb")
    _, texts = ran(page)
    lab.shot(page, "slow")
    passed = texts[0].startswith("var slow takes more than 0.5 s") and texts[1].startswith("7\ntime: ")
    lab.report("the note of a slow var", passed and texts[2] == "slow\n", repr(texts))
    page.close()


def keep(lab):
    """cell.Keep computes once for the contents of its inputs, also after a restart of the kernel."""
    kept = """var features = cell.Keep("features", func() datasets.Table {
\tcell.Say("computing")
\ttime.Sleep(600 * time.Millisecond)
\treturn photos
}, photos)"""
    page = lab.open(notebook(TABLE, kept, "%%\nfeatures.Show()"), "keep.ipynb")
    _, first = ran(page)
    toolbar(page, "notebook:restart-run-all")
    confirm(page)
    page.wait_for_timeout(1000)
    until(page, lambda s: idle(s) and [c["count"] for c in s["cells"]] == [1, 2, 3], 180)
    _, again = ran(page)
    lab.shot(page, "keep")
    passed = "computing" in first[1] and not any("computing" in t or "0.5 s" in t for t in first[2:] + again)
    lab.report("cell.Keep", passed and "North" in again[2], repr([first, again]))
    page.close()


def environment(lab, name, variable):
    """Return what a cell of a new kernel sees in an environment variable."""
    page = lab.open(notebook(f'%%\nfmt.Println(os.Getenv("{variable}"))'), f"{name}.ipynb")
    _, texts = ran(page)
    lab.shot(page, name)
    page.close()
    lab.shut_kernels_down()
    return texts[0].strip()


def builds(lab):
    """After the installed command is replaced, a new kernel runs the new build."""
    before = environment(lab, "build-before", "ANTIPODE_BIN")
    command = ["go", "build", "-ldflags=-s", "-o", str(harness.installation().binary), "."]
    subprocess.run(command, cwd=harness.ROOT, check=True)
    after = environment(lab, "build-after", "ANTIPODE_BIN")
    new = harness.installation().antipode("version")
    passed = before != after and pathlib.Path(after).parent.name in new
    lab.report("the launcher after a new build", passed, f"{before} → {after}")


def homes(lab):
    """ANTIPODE_HOME in Jupyter's environment wins over the store for which the kernel was installed."""
    other = harness.installation().folder / "other"
    mine = os.environ.pop("ANTIPODE_HOME")
    os.environ.update(ANTIPODE_HOME=str(other), ANTIPODE_PLUGIN="none")
    try:
        harness.installation().antipode("install")
    finally:
        del os.environ["ANTIPODE_PLUGIN"]
        os.environ["ANTIPODE_HOME"] = mine
    seen = environment(lab, "home", "ANTIPODE_HOME")
    harness.installation().antipode("install")
    lab.report("ANTIPODE_HOME in the environment", seen == mine, f"installed for {other}, a cell sees {seen}")


def linked(lab):
    """A click on a bar of a figure with Browse shows the images of its group, below the figure."""
    world = "datasets.Archipelago(datasets.ArchipelagoOptions{PerCell: 1})"
    page = lab.open(
        notebook(
            f"var images = {world}.Reference()",
            '%%\nplots.Show(plots.Bars{Table: images.Count("region"), Y: "n", Title: "Images", Browse: images})',
        ),
        "linked.ipynb",
    )
    ran(page)
    page.click(".jp-RenderedHTMLCommon summary")
    page.wait_for_selector(".jp-RenderedHTMLCommon iframe")
    frame = page.frame_locator(".jp-RenderedHTMLCommon iframe")
    frame.locator("#figure button").nth(1).click()
    frame.locator("#figure button[aria-pressed=true]").wait_for()
    count = frame.locator("#count").text_content()
    lab.shot(page, "linked")
    shown, _, rows = count.removesuffix(" rows").partition(" of ")
    lab.report("images behind a bar", rows and 0 < int(shown) < int(rows), count)
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
    page.set_viewport_size({"width": 1200, "height": 850})  # docs/lab.png is this one, with a palette of 128 colors
    page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    lab.scroll_to(page, "Segment")
    lab.shot(page, "lab")
    lab.report(
        "Run All of a cold tour",
        took is not None and not errors,
        f"{took and round(took)} s, {summary(s)}, {len(errors)} errors",
    )
    page.close()


SCENARIOS = {
    f.__name__: f
    for f in (status, completion, small, stop, restart, two, columns, slow, keep, builds, homes, linked, tour)
}


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

"""Notebooks run by nbclient and papermill, and a session in jupyter console.

To run it: see harness.py; in short, python test/conformance/clients_test.py -v

The papermill tests need the package in integrations/papermill installed. ANTIPODE_CONFORMANCE_NOTEBOOKS=1 adds the
notebooks that people open, which takes minutes.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import harness
import nbclient
import nbformat
import papermill
import pexpect
from papermill.translators import papermill_translators

SLOW = "ANTIPODE_CONFORMANCE_NOTEBOOKS"

PARAMETERS = """var count = 3 // how many
var guidance = 1.5
var model = "a \\"quoted\\" name"
var quick = false
var wait = 2 * time.Second
var names = []string{"a", "b"}
var half float32 = 0.5"""

USE = """%%
var g float64 = guidance
var n int = count
var d time.Duration = wait
var h float32 = half
fmt.Printf("%d|%g|%q|%t|%v|%q|%g\\n", n, g, model, quick, d, names, h)"""


END = "\x04"  # Ctrl-D


def notebook(*cells):
    """Return a notebook of code cells; a pair (source, tag) is tagged."""
    nb = nbformat.v4.new_notebook()
    nb.metadata.kernelspec = {"name": harness.KERNEL, "display_name": "Go (Antipode)", "language": "go"}
    for c in cells:
        source, tags = (c, []) if isinstance(c, str) else (c[0], [c[1]])
        nb.cells.append(nbformat.v4.new_code_cell(source, metadata={"tags": tags} if tags else {}))
    return nb


def printed(nb, stream="stdout"):
    return "".join(o["text"] for c in nb.cells for o in c.get("outputs", []) if o.get("name") == stream)


def setUpModule():
    harness.installation()


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apn-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, nb, name="in.ipynb"):
        path = self.folder / name
        nbformat.write(nb, path)
        return path


class NBClient(Case):
    def test_runs_a_notebook(self):
        nb = notebook("var x = 20", "%%\nfmt.Println(x + 1)", "%%\nx * 2")
        nbclient.NotebookClient(nb, kernel_name=harness.KERNEL, timeout=300).execute()
        self.assertEqual(printed(nb), "21\n")
        self.assertEqual([o["output_type"] for o in nb.cells[2].outputs], ["execute_result"])
        self.assertEqual(nb.cells[2].outputs[0]["data"]["text/plain"], "40")
        self.assertEqual([c.execution_count for c in nb.cells], [1, 2, 3])
        nbformat.validate(nb)

    def test_stops_at_a_failing_cell(self):
        nb = notebook("%%\nfmt.Println(1)", '%%\npanic("no luck")', "%%\nfmt.Println(2)")
        with self.assertRaises(nbclient.exceptions.CellExecutionError) as raised:
            nbclient.NotebookClient(nb, kernel_name=harness.KERNEL, timeout=300).execute()
        self.assertIn("no luck", str(raised.exception))
        self.assertEqual(printed(nb), "1\n")
        self.assertEqual([o["output_type"] for o in nb.cells[1].outputs], ["error"])

    def test_timeout_interrupts(self):
        nb = notebook("%%\ntime.Sleep(60 * time.Second)", '%%\nfmt.Println("next")')
        client = nbclient.NotebookClient(
            nb, kernel_name=harness.KERNEL, timeout=10, interrupt_on_timeout=True, allow_errors=True
        )
        client.execute()
        self.assertEqual(printed(nb), "next\n")


class Console(Case):
    """Cells are typed line by line: Enter starts a new line while the cell is incomplete, and runs it otherwise."""

    def setUp(self):
        super().setUp()
        environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.count, command = 0, ["-m", "jupyter_console", "--kernel", harness.KERNEL]
        self.console = pexpect.spawn(
            sys.executable, command, encoding="utf-8", timeout=60 * harness.SLACK, dimensions=(40, 100), env=environment
        )
        self.addCleanup(self.console.close, force=True)

    def type(self, *lines):
        self.count += 1
        self.console.expect(r"In \[(?:\x1b\[[0-9;]*m)*%d" % self.count)
        for line in lines:
            time.sleep(1)  # what comes before the prompt reads is lost
            self.console.send(line)
            if line != END:
                self.console.send("\r")

    def test_session(self):
        self.type("var x = 20")
        for lines, printed in (
            (["%%", "x * 2"], r"Out\[.*40"),
            (["%%", "for i := range 2 {", 'fmt.Println("item", x+i)', "}"], "item 20\r\nitem 21"),
            (["x * 2"], "statements go below a line %%"),
            (["%%", "none"], "undefined: none"),
        ):
            self.type(*lines)
            self.console.expect(printed)
        self.type("%%", 'fmt.Println("start", "ed"); time.Sleep(time.Minute)')
        self.console.expect("start ed")
        self.console.sendintr()
        self.console.expect("interrupted")
        self.type("%%", 'fmt.Println("after", x)')
        self.console.expect("after 20")
        self.type(END)
        self.console.expect("really want to exit")
        self.console.send("y\r")
        self.console.expect(pexpect.EOF)


class Papermill(Case):
    def execute(self, nb, parameters=None, **options):
        out = self.folder / "out.ipynb"
        papermill.execute_notebook(
            self.write(nb), out, parameters=parameters, progress_bar=False, cwd=str(self.folder), **options
        )
        return nbformat.read(out, 4)

    def test_finds_the_translator(self):
        for kernel, language in ((harness.KERNEL, "go"), ("other", "go"), (harness.KERNEL, "")):
            self.assertEqual(papermill_translators.find_translator(kernel, language).__module__, "antipode_papermill")

    def test_defaults(self):
        nb = self.execute(notebook((PARAMETERS, "parameters"), USE))
        self.assertEqual(printed(nb), '3|1.5|"a \\"quoted\\" name"|false|2s|["a" "b"]|0.5\n')

    def test_values_keep_the_declared_types(self):
        values = {
            "count": 4.0,
            "guidance": 2,  # an int for a float64
            "model": 'say "é" \\ `x`\n🎨 </b>',
            "quick": True,
            "wait": "1m30s",
            "names": ["b", 'c"d'],
            "half": 1,
        }
        nb = self.execute(notebook((PARAMETERS, "parameters"), USE), values)
        self.assertEqual(
            printed(nb), '4|2|"say \\"é\\" \\\\ `x`\\n🎨 </b>"|true|1m30s|["b" "c\\"d"]|1\n', printed(nb, "stderr")
        )
        self.assertEqual(nb.cells[1].metadata.tags, ["injected-parameters"])

    def test_command_line(self):
        path, out = self.write(notebook((PARAMETERS, "parameters"), USE)), self.folder / "out.ipynb"
        arguments = "-p count 5 -p guidance 2 -p quick true -r model 12 -p half 0.25".split()

        subprocess.run(
            [sys.executable, "-m", "papermill", str(path), str(out), *arguments, "--no-progress-bar"], check=True
        )
        self.assertEqual(printed(nbformat.read(out, 4)), '5|2|"12"|true|2s|["a" "b"]|0.25\n')

    def test_a_second_run_replaces_the_injected_cell(self):
        first = self.execute(notebook((PARAMETERS, "parameters"), USE), {"count": 4})
        second = self.execute(first, {"count": 5})
        self.assertTrue(printed(second).startswith("5|"))
        self.assertEqual(len(second.cells), len(first.cells))

    def test_wrong_values_run_nothing(self):
        for values, says in (
            ({"count": "many"}, "parameter count: its type is int"),
            ({"count": None}, "parameter count"),
            ({"guidance": True}, "parameter guidance: its type is float64"),
            ({"model": 5}, "-r passes text"),
            ({"count": 1.5}, "parameter count"),
            ({"guidance": float("nan")}, "nan"),
            ({"names": ["a", 1]}, "parameter names"),
            ({"names": {"a": 1}}, "parameter names"),
            ({'x = 1\nvar _ = os.Remove("ran")\nvar y': 1}, "no Go identifier"),
            ({"a-b": 1}, "parameter 'a-b': the name is no Go identifier"),
            ({"func": 1}, "no Go identifier"),
        ):
            with self.subTest(values), self.assertRaisesRegex(ValueError, says):
                self.execute(notebook((PARAMETERS, "parameters"), '%%\nos.WriteFile("ran", nil, 0o600)'), values)
            self.assertFalse((self.folder / "ran").exists())

    def test_notebook_without_parameters_cell(self):
        nb = self.execute(
            notebook('%%\nfmt.Printf("%T %T %T %T\\n", a, b, c, d)'), {"a": 1, "b": 2.0, "c": "x", "d": [1, 2.5]}
        )
        self.assertEqual(printed(nb), "int float64 string []float64\n")

    def test_failing_cell(self):
        with self.assertRaises(papermill.PapermillExecutionError) as raised:
            self.execute(notebook('%%\npanic("no luck")', '%%\nfmt.Println("x")'))
        self.assertIn("no luck", str(raised.exception))

    def test_inspection(self):
        found = papermill.inspect_notebook(str(self.write(notebook((PARAMETERS, "parameters")))))
        kinds = {name: p["inferred_type_name"] for name, p in found.items()}
        self.assertEqual(
            kinds,
            {
                "count": "int",
                "guidance": "float64",
                "model": "string",
                "quick": "bool",
                "wait": "time.Duration",
                "names": "[]string",
                "half": "float32",
            },
        )
        self.assertEqual(found["count"]["help"], "how many")


class Built(Case):
    """The notebooks that people open, from the store of this run."""

    runs = {
        "tour": {"n": 2},
        "your_own_images": {"k": 4},
    }

    def setUp(self):
        super().setUp()
        if not os.environ.get(SLOW):
            self.skipTest(f"{SLOW} is not set")

    def test_nbclient(self):
        for name in self.runs:
            with self.subTest(name):
                nb = nbformat.read(harness.ROOT / "notebooks" / f"{name}.ipynb", 4)
                nbclient.NotebookClient(nb, kernel_name=harness.KERNEL, timeout=900).execute()
                self.complete(nb)

    def test_papermill(self):
        for name, parameters in self.runs.items():
            with self.subTest(name):
                out = self.folder / f"{name}.ipynb"
                papermill.execute_notebook(
                    harness.ROOT / "notebooks" / f"{name}.ipynb", out, parameters=parameters, progress_bar=False
                )
                nb = nbformat.read(out, 4)
                injected = [c for c in nb.cells if "injected-parameters" in c.metadata.get("tags", [])]
                self.assertEqual(len(injected), 1)
                self.complete(nb)

    def complete(self, nb):
        nbformat.validate(nb)
        cells = [c for c in nb.cells if c.cell_type == "code"]
        self.assertEqual([c.execution_count for c in cells], list(range(1, len(cells) + 1)))
        outputs = [o for c in cells for o in c.outputs]
        self.assertFalse([o for o in outputs if o["output_type"] == "error"])
        self.assertEqual(printed(nb, "stderr"), "")
        self.assertTrue([o for o in outputs if o["output_type"] in ("display_data", "execute_result")])


class Zz(harness.NoProcessRemains):  # classes run in alphabetical order
    def test_no_process_remains(self):
        self.check()


if __name__ == "__main__":
    unittest.main()

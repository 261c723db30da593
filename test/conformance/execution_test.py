"""How cells run, end, fail and read: what Jupyter's messaging specification and a careful front end expect.

To run it: see harness.py; in short, python test/conformance/execution_test.py -v [CLASS[.TEST]]
"""

import time
import unittest

import harness
from harness import SLACK, KernelCase


def setUpModule():
    harness.installation()


class Queue(KernelCase):
    """Cells that wait behind one that fails."""

    def statuses(self, *cells, **options):
        results = [self.front.submit(code, **options) for code in cells]
        self.front.finish(*results)
        return results

    def test_aborted_after_an_error(self):
        failed, *queued = self.statuses('%%\npanic("x")', '%%\nfmt.Println("a")', '%%\nfmt.Println("b")')
        self.assertEqual(failed.status, "error")
        self.assertEqual([r.status for r in queued], ["aborted"] * 2)
        self.assertEqual([r.stdout for r in queued], ["", ""], "an aborted cell printed")
        for r in queued:
            self.assertNotIn(
                "execution_count", r.reply["content"], "JupyterLab shows a count next to a cell that did not run"
            )
            self.assertEqual(r.of("execute_input"), [])
        self.assertEqual(self.run_cell('%%\nfmt.Println("c")').stdout, "c\n", "the cell after the aborted ones")

    def test_aborted_after_a_compile_error(self):
        failed, queued = self.statuses("%%\nnothing()", '%%\nfmt.Println("a")')
        self.assertEqual((failed.status, queued.status), ("error", "aborted"))

    def test_not_aborted_without_stop_on_error(self):
        failed, queued = self.statuses('%%\npanic("x")', '%%\nfmt.Println("a")', stop_on_error=False)
        self.assertEqual((failed.status, queued.status, queued.stdout), ("error", "ok", "a\n"))

    def test_aborted_after_an_interrupt(self):
        running, first, second = [
            self.front.submit(c) for c in (harness.SLEEP, '%%\nfmt.Println("a")', '%%\nfmt.Println("b")')
        ]
        self.front.wait(lambda: "started" in running.stdout, 60, "the cell's first line")
        asked = time.monotonic()
        reply = self.front.request("interrupt_request", channel="control", timeout=3)
        self.assertEqual(reply["status"], "ok")
        self.front.finish(running, first, second, timeout=10)
        self.assertLessEqual(time.monotonic() - asked, 3 * SLACK)
        self.assertEqual([r.status for r in (running, first, second)], ["error", "aborted", "aborted"])

    def test_requests_of_another_kind_are_answered_while_cells_are_aborted(self):
        failed, queued = self.front.submit('%%\npanic("x")'), self.front.submit('%%\nfmt.Println("a")')
        self.assertEqual(
            self.front.request("is_complete_request", {"code": "var x = 5"}, timeout=60)["status"], "complete"
        )
        self.front.finish(failed, queued)
        self.assertEqual(queued.status, "aborted")


class Interrupt(KernelCase):
    def interrupted(self, code, until="started"):
        result = self.front.submit(code)
        self.front.wait(lambda: until in result.stdout, 60, "the cell's first line")
        asked = time.monotonic()
        self.front.request("interrupt_request", channel="control", timeout=3)
        self.front.finish(result, timeout=10)
        self.assertLessEqual(time.monotonic() - asked, 3 * SLACK, "seconds until the cell ended")
        self.assertEqual(result.status, "error")
        self.assertEqual(len(result.errors), 1, "error messages")
        self.assertNotIn("not interrupted", result.stdout)
        self.assertNotRegex(result.read(), harness.TEMPORARY_PATH)
        self.assertEqual(self.run_cell('%%\nfmt.Println("next")').stdout, "next\n")
        return result

    def test_sleeping_cell(self):
        self.interrupted(harness.SLEEP)

    def test_busy_cell(self):
        self.interrupted('%%\nfmt.Println("started")\nfor i := 0; ; i++ {\n\tif i < 0 {\n\t\tbreak\n\t}\n}')

    def test_cell_that_ignores_the_signal(self):
        self.interrupted(
            'import "os/signal"\n%%\nsignal.Ignore(os.Interrupt)\nfmt.Println("started")\ntime.Sleep(60 * time.Second)'
        )

    def test_child_process_of_a_cell(self):
        code = (
            'import "os/exec"\n%%\nc := exec.Command("sleep", "61")\n_ = c.Start()\n'
            'fmt.Println("started")\n_ = c.Wait()\n'
            "time.Sleep(60 * time.Second)"
        )
        self.interrupted(code)
        sleeping = [p for p in harness.installation().processes() if "61" in p.cmdline()]
        self.assertEqual([harness.describe(p) for p in sleeping], [], "the cell's child process goes on")

    def test_while_a_cell_is_compiled(self):
        # The interrupt arrives before the program runs, at a moment that varies.
        for delay in (0.05, 0.3):
            with self.subTest(delay=delay):
                result = self.front.submit(harness.SLEEP.replace("60", f"6{int(delay * 100)}"))
                time.sleep(delay)
                self.front.request("interrupt_request", channel="control", timeout=3)
                self.front.finish(result, timeout=10)
                self.assertEqual(result.status, "error")

    def test_idle_kernel(self):
        self.assertEqual(self.front.request("interrupt_request", channel="control", timeout=3)["status"], "ok")
        result = self.run_cell('%%\nfmt.Println("next")')
        self.assertEqual((result.status, result.stdout), ("ok", "next\n"))


READ_LINE = """import "bufio"
%%
fmt.Print("name? ")
line, err := bufio.NewReader(os.Stdin).ReadString('\\n')
fmt.Printf("line %q error %v\\n", line, err)"""


class Stdin(KernelCase):
    def input_requests(self):
        return [m for channel, m in self.front.seen if channel == "stdin"]

    def test_reply_reaches_the_cell(self):
        result = self.front.submit(READ_LINE, allow_stdin=True)
        request = self.front.wait(self.input_requests, 30, "input_request")[0]
        self.assertEqual(request["header"]["msg_type"], "input_request")
        self.assertEqual(request["parent_header"]["msg_id"], result.id)
        self.front.send("stdin", "input_reply", {"status": "ok", "value": "Ada"})
        self.front.finish(result, timeout=30)
        self.assertIn('line "Ada\\n" error <nil>', result.stdout)

    def test_two_lines(self):
        code = READ_LINE.replace(
            "line, err", "reader := bufio.NewReader(os.Stdin)\nfirst, _ := reader.ReadString('\\n')\nline, err", 1
        )
        code = (
            code.replace("bufio.NewReader(os.Stdin).ReadString", "reader.ReadString")
            .replace("%q error", "%q after %q error")
            .replace("line, err)", "line, first, err)")
        )
        result = self.front.submit(code, allow_stdin=True)
        for n, value in enumerate(("one", "two"), 1):
            self.front.wait(lambda: len(self.input_requests()) >= n, 30, f"input_request {n}")
            self.front.send("stdin", "input_reply", {"status": "ok", "value": value})
        self.front.finish(result, timeout=30)
        self.assertIn('line "two\\n" after "one\\n" error <nil>', result.stdout, result.read())

    def test_without_stdin_the_cell_ends(self):
        result = self.run_cell(READ_LINE, timeout=30)
        self.assertEqual(self.input_requests(), [])
        self.assertTrue(result.status == "error" or "error EOF" in result.stdout, result.read())

    def test_no_request_for_a_cell_that_does_not_read(self):
        result = self.front.execute('%%\nfmt.Println("x")', allow_stdin=True)
        self.assertEqual((result.stdout, self.input_requests()), ("x\n", []))

    def test_interrupt_while_waiting(self):
        result = self.front.submit(READ_LINE, allow_stdin=True)
        self.front.wait(self.input_requests, 30, "input_request")
        self.front.request("interrupt_request", channel="control", timeout=3)
        self.front.finish(result, timeout=5)
        self.assertEqual(result.status, "error")


class Errors(KernelCase):
    """What a user reads when a cell fails."""

    failing = {
        "compile error": ('%%\nvar x int = "text"\n_ = x', "cannot use"),
        "unknown name": ("%%\nfmt.Println(nothing)", "undefined: nothing"),
        "two compile errors": ("%%\nfmt.Println(nothing, neither)", "undefined: neither"),
        "syntax error": ("func broken( {\n}", "syntax|expected"),
        "declared and not used": ("%%\nx := 5", "declared and not used: x"),
        "panic": ('%%\npanic("x")', "panic: x"),
        "panic in a declaration": ('func f() int { panic("deep") }\n%%\nfmt.Println(f())', "deep"),
        "nil pointer": ("%%\nvar p *int\nfmt.Println(*p)", "nil pointer"),
        "deadlock": ("%%\nselect {}", "deadlock"),
        "exit status 1": ("%%\nos.Exit(1)", "1"),
        "exit status 3": ("%%\nos.Exit(3)", "3"),
        "fatal log": ('import "log"\n%%\nlog.Fatal("no luck")', "no luck"),
        "failed table": ('%%\ndatasets.CSV("missing.csv").Show()', "missing.csv"),
        "unknown column": ('%%\ndatasets.Archipelago().Reference().Select("nothing").Run()', "nothing"),
    }

    def test_one_error_message(self):
        for name, (code, says) in self.failing.items():
            with self.subTest(name):
                result = self.run_cell(code)
                content = result.reply["content"]
                self.assertEqual(content["status"], "error")
                self.assertEqual(len(result.errors), 1, [m["msg_type"] for m in result.messages])
                error = result.errors[0]["content"]
                self.assertEqual(
                    [error[k] for k in ("ename", "evalue", "traceback")],
                    [content[k] for k in ("ename", "evalue", "traceback")],
                )
                self.assertRegex(result.read(), says)
                self.assertNotRegex(result.read(), harness.TEMPORARY_PATH)
                self.assertNotRegex(result.read() if "os.Exit" not in code else result.stderr, "exit status")
                self.assertTrue(error["traceback"], "front ends show the traceback and nothing else")
                self.assertTrue(error["ename"])

    def test_error_names_the_cells_line(self):
        for code in ('var first = 1\nvar second int = "text"', '%%\nfmt.Println("1")\npanic("line 3")'):
            with self.subTest(code):
                line = 2 if code.startswith("var") else 3
                self.assertRegex(
                    "\n".join(self.run_cell(code).errors[0]["content"]["traceback"]), rf"(?i)(line |:|\[)\s*{line}\b"
                )

    def test_text_printed_before_a_failure_arrives(self):
        result = self.run_cell('%%\nfmt.Println("before")\nfmt.Fprintln(os.Stderr, "warned")\npanic("x")')
        self.assertEqual(result.stdout, "before\n")
        self.assertIn("warned\n", result.stderr)

    def test_stderr_of_a_cell_that_succeeds_is_unchanged(self):
        result = self.run_cell('%%\nfmt.Fprintln(os.Stderr, "a.go:12: a line that looks like an error")')
        self.assertEqual((result.status, result.stderr), ("ok", "a.go:12: a line that looks like an error\n"))

    def test_python_habits(self):
        self.assertEqual(self.run_cell("var photos = datasets.Archipelago().Reference()").status, "ok")
        for code in (
            "photos",
            "x := 5",
            "print()",
            'fmt.Println("hello")',
            "photos.Show()",
            "for i := range 3 {\n}",
            "y = 5",
        ):
            with self.subTest(code):
                result = self.run_cell(code)
                self.assertEqual(result.status, "error")
                self.assertEqual(len(result.errors), 1)
                self.assertIn("statements go below a line %%", "\n".join(result.errors[0]["content"]["traceback"]))

    def test_no_such_hint_where_it_does_not_apply(self):
        for code in ('%%\nvar x int = "text"', 'var x int = "text"'):
            with self.subTest(code):
                self.assertNotIn("statements go below", self.run_cell(code).read())

    def test_assignment_to_a_notebook_variable_warns(self):
        self.assertEqual(self.run_cell("var total = 1\nvar other = 2").status, "ok")
        for code in ("%%\ntotal = 5", "%%\ntotal += 5", "%%\ntotal++", "%%\nif true {\n\ttotal, other = 1, 2\n}"):
            with self.subTest(code):
                result = self.run_cell(code)
                self.assertEqual(result.status, "ok")
                self.assertIn("total", result.stderr)
                self.assertRegex(result.stderr, r"later cells|other cells|next cell")
        for code in (
            "%%\ntotal := 5\n_ = total",
            "%%\nfmt.Println(total == 5)",
            "%%\nx := struct{ total int }{}\nx.total = 5",
        ):
            with self.subTest(code):
                self.assertEqual(self.run_cell(code).stderr, "")


class Results(KernelCase):
    def text(self, code):
        result = self.run_cell(code)
        self.assertEqual(result.status, "ok", result.read())
        found = result.of("execute_result")
        self.assertEqual(len(found), 1, result.read())
        return found[0]["content"]["data"]["text/plain"]

    def test_last_expression(self):
        self.assertEqual(self.text("%%\n1+1"), "2")
        self.assertEqual(self.text('%%\n"text"'), "text")
        self.assertEqual(self.text("%%\nx := 4\nx * x"), "16")
        self.assertEqual(self.text("%%\nmath.Sqrt(16)"), "4")
        self.assertEqual(self.text('var kept = []string{"a", "b"}\n%%\nkept'), "[a b]")

    def test_output_before_the_result(self):
        result = self.run_cell('%%\nfmt.Println("printed")\ntime.Sleep(time.Second / 2)\n7')
        self.assertEqual(
            [m["msg_type"] for m in result.messages if m["msg_type"] != "execute_input"], ["stream", "execute_result"]
        )

    def test_statements_have_no_result(self):
        for code in ('%%\nfmt.Println("x")', "%%\nx := 5\n_ = x", "var y = 5", "%%\ncopy(make([]int, 1), []int{1})"):
            with self.subTest(code):
                result = self.run_cell(code)
                self.assertEqual(result.status, "ok", result.read())
                if "copy" not in code:
                    self.assertEqual(result.of("execute_result"), [])

    def test_table_as_last_expression(self):
        result = self.run_cell("%%\ndatasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7}).Reference().Head(2)", timeout=300)
        self.assertEqual(result.status, "ok", result.read())
        shown = [m["content"]["data"] for m in result.of("execute_result", "display_data")]  # progress, too
        tables = [data for data in shown if "<table" in data.get("text/html", "")]
        self.assertEqual(len(tables), 1)
        data = tables[0]
        self.assertIn("<img", data["text/html"], "no thumbnail")
        self.assertNotRegex(data["text/html"], r">\s*[\d.]+e\+\d", "a seed in exponent notation")
        self.assertIn("text/plain", data)

    def test_images_have_bundles_that_others_can_show(self):
        for code, mime in (
            (
                '%%\ncell.SVG(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`, "a dot")',
                "image/svg+xml",
            ),
            (
                'import ("bytes"; "image"; "image/png")\n%%\nvar b bytes.Buffer\n'
                '_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2)))\ncell.PNG(b.Bytes(), "gray")',
                "image/png",
            ),
        ):
            with self.subTest(mime):
                result = self.run_cell(code)
                self.assertEqual(result.status, "ok", result.read())
                data = result.of("display_data")[0]["content"]["data"]
                self.assertLessEqual({mime, "text/plain"}, set(data))


class Zz(harness.NoProcessRemains):  # classes run in alphabetical order
    def test_no_process_remains(self):
        self.check()


if __name__ == "__main__":
    unittest.main()

"""What Jupyter's messaging specification and a careful front end expect beyond jupyter_kernel_test.

To run it: see harness.py; in short, python internal/conformance/extra_test.py -v [CLASS[.TEST]]
Every message that a test receives is validated (harness.validate).
"""

import json
import re
import signal
import socket
import threading
import time
import unittest

import harness
import psutil
from harness import FrontEnd, KernelCase, start_kernel

# What names a file of the kernel's own: its folder, a cell's compiled program, a generated source file.
TEMPORARY_PATH = re.compile(r"/gonb_|/apk-|/main\.go|/(?:tmp|var/folders)/|gonb_cell")

SLEEP = '%%\nfmt.Println("started")\ntime.Sleep(60 * time.Second)\nfmt.Println("not interrupted")'


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
        self.assertEqual(self.run_cell('%%\nfmt.Println("c")').stdout, "c\n", "the cell after the aborted ones")

    def test_aborted_after_a_compile_error(self):
        failed, queued = self.statuses("%%\nnothing()", '%%\nfmt.Println("a")')
        self.assertEqual((failed.status, queued.status), ("error", "aborted"))

    def test_not_aborted_without_stop_on_error(self):
        failed, queued = self.statuses('%%\npanic("x")', '%%\nfmt.Println("a")', stop_on_error=False)
        self.assertEqual((failed.status, queued.status, queued.stdout), ("error", "ok", "a\n"))

    def test_aborted_after_an_interrupt(self):
        running, first, second = [self.front.submit(c) for c in (SLEEP, '%%\nfmt.Println("a")', '%%\nfmt.Println("b")')]
        self.front.wait(lambda: "started" in running.stdout, 60, "the cell's first line")
        asked = time.monotonic()
        reply = self.front.request("interrupt_request", channel="control", timeout=3)
        self.assertEqual(reply["status"], "ok")
        self.front.finish(running, first, second, timeout=10)
        self.assertLessEqual(time.monotonic() - asked, 3)
        self.assertEqual([r.status for r in (running, first, second)], ["error", "aborted", "aborted"])

    def test_requests_of_another_kind_are_answered_while_cells_are_aborted(self):
        failed, queued = self.front.submit('%%\npanic("x")'), self.front.submit('%%\nfmt.Println("a")')
        self.assertEqual(self.front.request("is_complete_request", {"code": "var x = 5"}, timeout=60)["status"], "complete")
        self.front.finish(failed, queued)
        self.assertEqual(queued.status, "aborted")


class Interrupt(KernelCase):
    def interrupted(self, code, until="started"):
        result = self.front.submit(code)
        self.front.wait(lambda: until in result.stdout, 60, "the cell's first line")
        asked = time.monotonic()
        self.front.request("interrupt_request", channel="control", timeout=3)
        self.front.finish(result, timeout=10)
        self.assertLessEqual(time.monotonic() - asked, 3, "seconds until the cell ended")
        self.assertEqual(result.status, "error")
        self.assertEqual(len(result.errors), 1, "error messages")
        self.assertNotIn("not interrupted", result.stdout)
        self.assertNotRegex(result.read(), TEMPORARY_PATH)
        self.assertEqual(self.run_cell('%%\nfmt.Println("next")').stdout, "next\n")
        return result

    def test_sleeping_cell(self):
        self.interrupted(SLEEP)

    def test_busy_cell(self):
        self.interrupted('%%\nfmt.Println("started")\nfor i := 0; ; i++ {\n\tif i < 0 {\n\t\tbreak\n\t}\n}')

    def test_cell_that_ignores_the_signal(self):
        self.interrupted('import "os/signal"\n%%\nsignal.Ignore(os.Interrupt)\nfmt.Println("started")\ntime.Sleep(60 * time.Second)')

    def test_child_process_of_a_cell(self):
        code = (
            'import "os/exec"\n%%\nc := exec.Command("sleep", "61")\n_ = c.Start()\nfmt.Println("started")\n_ = c.Wait()\n'
            "time.Sleep(60 * time.Second)"
        )
        self.interrupted(code)
        sleeping = [p for p in harness.installation().processes() if "61" in p.cmdline()]
        self.assertEqual([harness.describe(p) for p in sleeping], [], "the cell's child process goes on")

    def test_while_a_cell_is_compiled(self):
        # The interrupt arrives before the program runs, at a moment that varies.
        for delay in (0.05, 0.3):
            with self.subTest(delay=delay):
                result = self.front.submit(SLEEP.replace("60", f"6{int(delay * 100)}"))
                time.sleep(delay)
                self.front.request("interrupt_request", channel="control", timeout=3)
                self.front.finish(result, timeout=10)
                self.assertEqual(result.status, "error")

    def test_idle_kernel(self):
        self.assertEqual(self.front.request("interrupt_request", channel="control", timeout=3)["status"], "ok")
        result = self.run_cell('%%\nfmt.Println("next")')
        self.assertEqual((result.status, result.stdout), ("ok", "next\n"))


READ_LINE = '''import "bufio"
%%
fmt.Print("name? ")
line, err := bufio.NewReader(os.Stdin).ReadString('\\n')
fmt.Printf("line %q error %v\\n", line, err)'''


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
        code = READ_LINE.replace("line, err", "reader := bufio.NewReader(os.Stdin)\nfirst, _ := reader.ReadString('\\n')\nline, err", 1)
        code = code.replace("bufio.NewReader(os.Stdin).ReadString", "reader.ReadString").replace("%q error", "%q after %q error").replace("line, err)", "line, first, err)")
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


class Requests(KernelCase):
    """Requests other than execute_request; harness.validate checks each reply."""

    def test_comm_info(self):
        for content in ({}, {"target_name": "jupyter.widget"}):
            self.assertEqual(self.front.request("comm_info_request", content, timeout=3), {"status": "ok", "comms": {}})

    def test_comm_open_to_an_unknown_target_is_closed(self):
        # The specification: a kernel without the target replies with comm_close. What else it does, it goes on.
        self.front.send("shell", "comm_open", {"comm_id": "c1", "target_name": "nobody", "data": {}})
        self.assertEqual(self.front.request("comm_info_request", timeout=5)["comms"], {})
        closed = self.front.wait(lambda: self.front.published("comm_close"), 3, "comm_close")
        self.assertEqual(closed[0]["content"]["comm_id"], "c1")

    def test_kernel_info(self):
        for channel in ("shell", "control"):
            info = self.front.request("kernel_info_request", channel=channel, timeout=3)
            self.assertEqual(info["language_info"]["name"], "go")
            self.assertEqual(info["language_info"]["file_extension"], ".go")
            self.assertRegex(info["language_info"]["version"], r"\d")
            self.assertRegex(info["protocol_version"], r"^5\.")
            self.assertIn("mimetype", info["language_info"])

    def test_unknown_request_does_not_end_the_kernel(self):
        self.front.send("shell", "nothing_request", {})
        self.assertEqual(self.front.request("kernel_info_request", timeout=5)["status"], "ok")

    def test_requests_without_optional_fields(self):
        self.front.request("history_request", {"hist_access_type": "tail"}, timeout=5)
        self.front.request("complete_request", {"code": "", "cursor_pos": 0}, timeout=5)
        self.front.request("inspect_request", {"code": "", "cursor_pos": 0}, timeout=5)
        self.front.request("is_complete_request", {"code": ""}, timeout=5)

    def test_positions_are_counted_in_code_points(self):
        code = '%%\ns := "héé 🎨"; fmt.Printl'
        reply = self.front.request("complete_request", {"code": code, "cursor_pos": len(code)}, timeout=5)
        self.assertIn("fmt.Println", [code[: reply["cursor_start"]][-4:] + m for m in reply["matches"]] + reply["matches"])
        self.assertEqual(reply["cursor_end"], len(code))

    def test_inspect_of_unfinished_code_is_no_error_text(self):
        # None of the names has "error" in its documentation.
        for code, at in (("%%\nstrings.ToUpper(", 10), ("%%\nif strings.ToUpper(", 13), ("%%\nnothing.", 6), ("var x = ", 8)):
            with self.subTest(code):
                reply = self.front.request("inspect_request", {"code": code, "cursor_pos": at, "detail_level": 0}, timeout=10)
                text = json.dumps(reply)
                self.assertNotIn("rror", text)
                self.assertNotRegex(text, TEMPORARY_PATH)

    def test_busy_and_idle_surround_each_request(self):
        for kind, content in (
            ("kernel_info_request", {}),
            ("comm_info_request", {}),
            ("is_complete_request", {"code": "1"}),
            ("history_request", {"hist_access_type": "tail", "n": 1, "output": False, "raw": True}),
        ):
            with self.subTest(kind):
                id = self.front.send("shell", kind, content)

                def states():
                    own = [m for m in self.front.published("status") if m["parent_header"].get("msg_id") == id]
                    return [m["content"]["execution_state"] for m in own]

                self.front.wait(lambda: len(states()) >= 2 and id in self.front.replies, 5, f"status messages of {kind}")
                self.assertEqual(states(), ["busy", "idle"])

    def test_silent_execution_counts_nothing(self):
        before = self.run_cell('%%\nfmt.Println("x")').reply["content"]["execution_count"]
        silent = self.front.execute('%%\nfmt.Println("y")', silent=True, store_history=False)
        self.assertEqual(silent.status, "ok")
        self.assertEqual(silent.of("execute_input", "execute_result"), [])
        self.assertEqual(self.run_cell('%%\nfmt.Println("x")').reply["content"]["execution_count"], before + 1)

    def test_counts_agree(self):
        result = self.run_cell("%%\n40+2")
        count = result.reply["content"]["execution_count"]
        self.assertEqual([m["content"]["execution_count"] for m in result.of("execute_input", "execute_result")], [count] * 2)

    def test_empty_cell(self):
        for code in ("", "\n", "// a comment\n", "%%\n"):
            with self.subTest(code):
                self.assertEqual(self.run_cell(code).status, "ok")


class Start(unittest.TestCase):
    """The first second of a kernel's life."""

    def sockets(self, manager):
        """Wait until the kernel's sockets accept connections; return the time since they do."""
        info = manager.get_connection_info()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not manager.is_alive():
                self.fail("the kernel process ended")
            try:
                socket.create_connection((info["ip"], info["shell_port"]), timeout=1).close()
                return time.monotonic()
            except OSError:
                time.sleep(0.005)
        self.fail("the kernel's sockets do not accept connections")

    def idle_within_a_second(self, manager):
        opened = self.sockets(manager)
        front = FrontEnd(manager)
        self.addCleanup(front.close)
        # The subscription has arrived when the welcome has: what is published before that is lost.
        front.wait(lambda: front.published("iopub_welcome"), 1, "iopub_welcome")
        info = front.request("kernel_info_request", timeout=1)
        self.assertEqual(info["status"], "ok")
        front.wait(
            lambda: any(m["content"]["execution_state"] == "idle" for m in front.published("status")), 1, "status idle"
        )
        self.assertLessEqual(time.monotonic() - opened, 1.2, "seconds from connectable to idle")
        return front

    def test_idle_within_a_second_of_start_and_restart(self):
        started = time.monotonic()
        manager = start_kernel()
        self.addCleanup(manager.shutdown_kernel, now=False)
        front = self.idle_within_a_second(manager)
        print(f"\n  start to idle: {time.monotonic() - started:.2f} s", flush=True)
        result = front.execute('%%\nfmt.Println("first")', timeout=120)
        self.assertEqual(result.stdout, "first\n", "a cell sent while GoNB starts waits and runs")
        started = time.monotonic()
        manager.restart_kernel(now=False)
        front = self.idle_within_a_second(manager)
        print(f"  restart to idle: {time.monotonic() - started:.2f} s", flush=True)
        self.assertEqual(front.execute('%%\nfmt.Println("second")', timeout=120).stdout, "second\n")

    def test_welcome(self):
        manager = start_kernel()
        self.addCleanup(manager.shutdown_kernel, now=False)
        self.sockets(manager)
        for reader in ("first", "second"):
            front = FrontEnd(manager)
            self.addCleanup(front.close)
            welcome = front.wait(lambda: front.published("iopub_welcome"), 5, f"iopub_welcome of the {reader} front end")
            self.assertEqual([m["content"] for m in welcome], [{"subscription": ""}])
        self.assertEqual(len(front.published("iopub_welcome")), 1)

    def test_shutdown_at_once(self):
        manager = start_kernel()
        self.sockets(manager)
        front = FrontEnd(manager)
        self.addCleanup(front.close)
        started = time.monotonic()
        reply = front.request("shutdown_request", {"restart": False}, channel="control", timeout=5)
        self.assertEqual(reply, {"status": "ok", "restart": False})
        while manager.is_alive() and time.monotonic() - started < 10:
            time.sleep(0.1)
        self.assertFalse(manager.is_alive(), "the kernel lives 10 s after shutdown_reply")

    def test_killed_kernel_leaves_no_process(self):
        before = {p.pid for p in harness.installation().processes()}
        manager = start_kernel()
        front = FrontEnd(manager)
        self.addCleanup(front.close)
        running = front.submit(SLEEP)
        front.wait(lambda: "started" in running.stdout, 120, "the cell's first line")
        manager.signal_kernel(signal.SIGKILL)
        manager.provisioner.process.wait(5)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            left = [p for p in harness.installation().processes() if p.pid not in before]
            if not left:
                return
            time.sleep(0.2)
        self.fail(f"left by a killed kernel: {[harness.describe(p) for p in left]}")


class Errors(KernelCase):
    """What a user reads when a cell fails."""

    failing = {
        "compile error": ('%%\nvar x int = "text"\n_ = x', "cannot use"),
        "unknown name": ("%%\nfmt.Println(nothing)", "undefined: nothing"),
        "two compile errors": ("%%\nfmt.Println(nothing, neither)", "undefined: neither"),
        "syntax error": ("func broken( {\n}", "syntax|expected"),
        "declared and not used": ("%%\nx := 5", "declared and not used: x"),
        "panic": ('%%\npanic("x")', "panic: x"),
        "panic in a declaration": ("func f() int { panic(\"deep\") }\n%%\nfmt.Println(f())", "deep"),
        "nil pointer": ("%%\nvar p *int\nfmt.Println(*p)", "nil pointer"),
        "deadlock": ("%%\nselect {}", "deadlock"),
        "exit status 1": ("%%\nos.Exit(1)", "1"),
        "exit status 3": ("%%\nos.Exit(3)", "3"),
        "fatal log": ('import "log"\n%%\nlog.Fatal("no luck")', "no luck"),
        "failed table": ('%%\ndatasets.CSV("missing.csv").Show()', "missing.csv"),
        "unknown column": ('%%\ndatasets.Archipelago().Photos().Select("nothing").Run()', "nothing"),
    }

    def test_one_error_message(self):
        for name, (code, says) in self.failing.items():
            with self.subTest(name):
                result = self.run_cell(code)
                content = result.reply["content"]
                self.assertEqual(content["status"], "error")
                self.assertEqual(len(result.errors), 1, [m["msg_type"] for m in result.messages])
                error = result.errors[0]["content"]
                self.assertEqual([error[k] for k in ("ename", "evalue", "traceback")], [content[k] for k in ("ename", "evalue", "traceback")])
                self.assertRegex(result.read(), says)
                self.assertNotRegex(result.read(), TEMPORARY_PATH)
                self.assertNotRegex(result.read() if "os.Exit" not in code else result.stderr, "exit status")
                self.assertTrue(error["traceback"], "front ends show the traceback and nothing else")
                self.assertTrue(error["ename"])

    def test_error_names_the_cells_line(self):
        for code in ("var first = 1\nvar second int = \"text\"", '%%\nfmt.Println("1")\npanic("line 3")'):
            with self.subTest(code):
                line = 2 if code.startswith("var") else 3
                self.assertRegex("\n".join(self.run_cell(code).errors[0]["content"]["traceback"]), rf"(?i)(line |:|\[)\s*{line}\b")

    def test_text_printed_before_a_failure_arrives(self):
        result = self.run_cell('%%\nfmt.Println("before")\nfmt.Fprintln(os.Stderr, "warned")\npanic("x")')
        self.assertEqual(result.stdout, "before\n")
        self.assertIn("warned\n", result.stderr)

    def test_stderr_of_a_cell_that_succeeds_is_unchanged(self):
        result = self.run_cell('%%\nfmt.Fprintln(os.Stderr, "a.go:12: a line that looks like an error")')
        self.assertEqual((result.status, result.stderr), ("ok", "a.go:12: a line that looks like an error\n"))

    def test_python_habits(self):
        self.assertEqual(self.run_cell("var photos = datasets.Archipelago().Photos()").status, "ok")
        for code in ("photos", "x := 5", "print()", 'fmt.Println("hello")', "photos.Show()", "for i := range 3 {\n}", "y = 5"):
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
        for code in ("%%\ntotal := 5\n_ = total", "%%\nfmt.Println(total == 5)", "%%\nx := struct{ total int }{}\nx.total = 5"):
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
        self.assertEqual(self.text("var kept = []string{\"a\", \"b\"}\n%%\nkept"), "[a b]")

    def test_output_before_the_result(self):
        result = self.run_cell('%%\nfmt.Println("printed")\n7')
        self.assertEqual([m["msg_type"] for m in result.messages if m["msg_type"] != "execute_input"], ["stream", "execute_result"])

    def test_statements_have_no_result(self):
        for code in ('%%\nfmt.Println("x")', "%%\nx := 5\n_ = x", "var y = 5", "%%\ncopy(make([]int, 1), []int{1})"):
            with self.subTest(code):
                result = self.run_cell(code)
                self.assertEqual(result.status, "ok", result.read())
                if "copy" not in code:
                    self.assertEqual(result.of("execute_result"), [])

    def test_table_as_last_expression(self):
        result = self.run_cell('%%\ndatasets.Archipelago(datasets.Seed(7)).Photos().Head(2)', timeout=300)
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
            ('%%\ncell.SVG(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`, "a dot")', "image/svg+xml"),
            ('import ("bytes"; "image"; "image/png")\n%%\nvar b bytes.Buffer\n_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2)))\ncell.PNG(b.Bytes(), "gray")', "image/png"),
        ):
            with self.subTest(mime):
                result = self.run_cell(code)
                self.assertEqual(result.status, "ok", result.read())
                data = result.of("display_data")[0]["content"]["data"]
                self.assertLessEqual({mime, "text/plain"}, set(data))


def megabytes(process):
    try:
        return process.memory_info().rss / 1e6
    except psutil.Error:
        return 0


class Memory:
    """Samples the resident memory of a kernel's long-lived processes: antipode and GoNB."""

    def __init__(self, manager):
        kernel = psutil.Process(manager.provisioner.process.pid)
        children = [p for p in kernel.children() if any("gonb" in word for word in p.cmdline()[:1])]
        self.processes = {"antipode": kernel, **({"gonb": children[0]} if children else {})}
        self.first = {name: megabytes(p) for name, p in self.processes.items()}
        self.highest = dict(self.first)
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)

    def sample(self):
        while not self.done.wait(0.1):
            for name, p in self.processes.items():
                self.highest[name] = max(self.highest[name], megabytes(p))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def growth(self):
        return {name: round(self.highest[name] - self.first[name]) for name in self.first}

    def peak(self):
        return {name: round(mb) for name, mb in self.highest.items()}


class Volume(KernelCase):
    """Much output: nothing stops, nothing grows, whoever reads or does not read."""

    limit = 200  # MB that a process may grow

    def lines(self, n):
        # A display is one message each, whatever the kernel does to lines of text.
        return f'%%\nfor i := range {n} {{\n\tcell.HTML(fmt.Sprintf("<i>%d</i>", i))\n}}\nfmt.Println("end")'

    def check(self, code, timeout, what):
        started = time.monotonic()
        self.front.count = self.front.volume = 0
        with Memory(self.manager) as memory:
            self.assertIn("antipode", memory.first)
            result = self.front.execute(code, timeout=timeout, stall=30)
        growth = memory.growth()
        print(
            f"\n  {what}: {self.front.count} messages, {self.front.volume / 1e6:.0f} MB, "
            f"{time.monotonic() - started:.1f} s, growth in MB {growth}, peak {memory.peak()}",
            flush=True,
        )
        self.assertEqual(result.status, "ok")
        for name, mb in growth.items():
            self.assertLess(mb, self.limit, f"growth of {name} in MB")
        self.front.keep = True
        self.assertEqual(self.run_cell('%%\nfmt.Println("next")').stdout, "next\n")
        return result

    def test_3000_lines(self):
        code = '%%\nfor i := range 3000 {\n\tfmt.Println("line", i)\n\ttime.Sleep(time.Millisecond)\n}'
        result = self.check(code, 120, "3,000 lines")
        self.assertEqual(result.stdout, "".join(f"line {i}\n" for i in range(3000)))

    def test_10000_messages(self):
        result = self.check(self.lines(10000), 300, "10,000 displays")
        shown = [m["content"]["data"]["text/html"] for m in result.of("display_data")]
        self.assertEqual(shown, [f"<i>{i}</i>" for i in range(10000)])
        self.assertEqual(result.stdout, "end\n")

    def megabytes_of_text(self, n):
        return (
            f'%%\nline := strings.Repeat("x", 999)\nfor range {n * 1000} {{\n\tfmt.Println(line)\n}}\nfmt.Println("end")'
        )

    def test_100_megabytes(self):
        result = self.check(self.megabytes_of_text(100), 300, "100 MB of text")
        self.assertEqual(len(result.stdout), 100_000_000 + len("end\n"))

    def test_100_megabytes_in_large_messages(self):
        code = '%%\npart := strings.Repeat("x", 2_000_000)\nfor range 50 {\n\tcell.HTML("<!--" + part + "-->")\n}'
        result = self.check(code, 300, "50 displays of 2 MB")
        self.assertEqual(len(result.of("display_data")), 50)

    def test_with_a_front_end_that_does_not_read(self):
        stalled = FrontEnd(self.manager, reads_iopub=False)
        self.addCleanup(stalled.close)
        self.assertEqual(stalled.request("kernel_info_request")["status"], "ok")
        result = self.check(self.lines(10000), 300, "10,000 displays, a second front end does not read")
        self.assertEqual(len(result.of("display_data")), 10000)
        self.front.keep = False
        self.check(self.megabytes_of_text(100), 300, "100 MB of text, a second front end does not read")

    def test_with_a_front_end_that_is_not_subscribed(self):
        other = FrontEnd(self.manager, subscribe=False)
        self.addCleanup(other.close)
        self.front.keep = True
        result = self.check(self.lines(2000), 120, "2,000 displays, a second front end has no subscription")
        self.assertEqual(len(result.of("display_data")), 2000)

    def test_interrupt_during_output(self):
        result = self.front.submit('%%\nfor i := 0; ; i++ {\n\tfmt.Println("line", i)\n}')
        self.front.wait(lambda: "line 1000\n" in result.stdout, 60, "the first thousand lines")
        asked = time.monotonic()
        self.front.send("control", "interrupt_request")
        self.front.finish(result, timeout=20)
        self.assertLessEqual(time.monotonic() - asked, 3, "seconds until the cell ended")
        self.assertEqual(result.status, "error")


class Security(KernelCase):
    def alive(self):
        self.assertEqual(self.front.request("kernel_info_request", timeout=5)["status"], "ok")
        self.assertTrue(self.manager.is_alive())

    def test_malformed_messages_are_dropped(self):
        s = self.front.sockets
        session = self.front.session
        valid = session.serialize(session.msg("kernel_info_request"))
        for name, frames in {
            "no delimiter": [b"text"],
            "empty": [b""],
            "delimiter alone": [b"<IDS|MSG>"],
            "too few frames": [b"<IDS|MSG>", b"", b"{}"],
            "no JSON": [b"<IDS|MSG>", b"", b"{", b"{", b"{", b"{"],
            "unsigned": [b"<IDS|MSG>", b"", *valid[2:]],
            "wrong signature": [b"<IDS|MSG>", b"0" * 64, *valid[2:]],
            "other signature": [valid[0], valid[1], valid[2], valid[3], valid[4], b'{"changed": 1}'],
            "signed, header is no object": self.signed(b"[]"),
            "signed, header is empty": self.signed(b"{}"),
            "large": [b"<IDS|MSG>", b"", b"x" * 20_000_000],
        }.items():
            for channel in ("shell", "control"):
                with self.subTest(name, channel=channel):
                    replies = len(self.front.replies)
                    s[channel].send_multipart(frames)
                    self.alive()
                    self.assertEqual(len(self.front.replies), replies + 1, "a message without a valid signature was answered")
                self.refresh()
                s = self.front.sockets

    def signed(self, header):
        session = self.front.session
        parts = [header, b"{}", b"{}", b"{}"]
        return [b"<IDS|MSG>", session.sign(parts), *parts]

    def test_unsigned_code_does_not_run(self):
        session = self.front.session
        content = {"code": '%%\nfmt.Println("ran")', "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        frames = session.serialize(session.msg("execute_request", content))
        self.front.sockets["shell"].send_multipart([b"<IDS|MSG>", b"", *frames[2:]])
        self.run_cell('%%\nfmt.Println("own")')
        self.assertFalse([m for m in self.front.published("stream") if "ran" in m["content"]["text"]])

    def test_replayed_message_does_not_run_twice(self):
        session = self.front.session
        content = {"code": '%%\nfmt.Println("replayed")', "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
        message = session.msg("execute_request", content)
        frames = session.serialize(message)
        self.front.sockets["shell"].send_multipart(frames)
        self.front.wait(lambda: self.front.replies.get(message["header"]["msg_id"]), 60, "reply")
        self.front.sockets["shell"].send_multipart(frames)
        self.alive()
        self.run_cell('%%\nfmt.Println("own")')
        shown = "".join(m["content"]["text"] for m in self.front.published("stream"))
        self.assertEqual(shown.count("replayed\n"), 1)

    def test_bytes_that_are_no_zeromq(self):
        info = self.manager.get_connection_info()
        for port in ("shell_port", "iopub_port", "stdin_port", "control_port", "hb_port"):
            with self.subTest(port):
                with socket.create_connection((info["ip"], info[port]), timeout=5) as c:
                    c.sendall(b"GET / HTTP/1.1\r\n\r\n")
                self.alive()

    def test_heartbeat(self):
        s = self.front.sockets["hb"]
        for ping in (b"ping", b"", b"x" * 1000):
            s.send(ping)
            self.assertTrue(s.poll(2000), "no heartbeat")
            self.assertEqual(s.recv_multipart(), [ping])

    def test_heartbeat_while_a_cell_runs(self):
        running = self.front.submit('%%\ntime.Sleep(3 * time.Second)')
        s = self.front.sockets["hb"]
        for _ in range(5):
            s.send(b"ping")
            self.assertTrue(s.poll(1000), "no heartbeat")
            s.recv_multipart()
            time.sleep(0.2)
        self.front.finish(running)


class TwoFrontEnds(KernelCase):
    def test_each_sees_the_others_output(self):
        other = FrontEnd(self.manager)
        self.addCleanup(other.close)
        other.request("kernel_info_request")
        mine = self.front.submit('%%\nfmt.Println("of the first")')
        theirs = other.submit('%%\nfmt.Println("of the second")')
        self.front.finish(mine)
        other.finish(theirs)
        self.assertEqual((mine.stdout, theirs.stdout), ("of the first\n", "of the second\n"))
        for front, parent, text in ((other, mine, "of the first"), (self.front, theirs, "of the second")):
            foreign = front.wait(
                lambda: [m for m in front.published("stream") if m["parent_header"].get("msg_id") == parent.id], 5, text
            )
            self.assertIn(text, "".join(m["content"]["text"] for m in foreign))
            front.wait(lambda: any(m["parent_header"].get("msg_id") == parent.id for m in front.published("execute_input")), 5, "execute_input")
        self.assertNotIn(mine.id, other.replies, "a reply went to the wrong front end")
        self.assertNotIn(theirs.id, self.front.replies, "a reply went to the wrong front end")

    def test_one_leaves_while_its_cell_runs(self):
        other = FrontEnd(self.manager)
        running = other.submit('%%\nfmt.Println("left alone")\ntime.Sleep(2 * time.Second)')
        other.wait(lambda: running.stdout, 60, "output")
        other.close()
        self.assertEqual(self.run_cell('%%\nfmt.Println("next")').stdout, "next\n")

    def test_error_of_one_does_not_abort_cells_sent_later(self):
        self.assertEqual(self.run_cell('%%\npanic("x")').status, "error")
        self.assertEqual(self.run_cell('%%\nfmt.Println("next")').status, "ok")


class Completion(unittest.TestCase):
    """Completion of a kernel that has just started: JupyterLab drops replies that take longer than a second."""

    def test_first_tab(self):
        manager = start_kernel()
        self.addCleanup(manager.shutdown_kernel, now=False)
        front = FrontEnd(manager)
        self.addCleanup(front.close)
        front.request("kernel_info_request", timeout=60)
        for n, (code, wants) in enumerate(
            (
                ("var f = plots.Ba", "plots.Bars"),
                ("var t = datasets.Archip", "datasets.Archipelago"),
                ('%%\nplots.Gr', "plots.Grid"),
                ("%%\nfmt.Printl", "fmt.Println"),
            )
        ):
            with self.subTest(code):
                started = time.monotonic()
                reply = front.request("complete_request", {"code": code, "cursor_pos": len(code)}, timeout=15)
                took = time.monotonic() - started
                print(f"\n  completion {n + 1} of a new kernel, {code!r}: {took:.2f} s", flush=True)
                self.assertTrue(
                    [m for m in reply["matches"] if (code[: reply["cursor_start"]] + m).endswith(wants)], reply["matches"]
                )
                self.assertLessEqual(took, 1)

    def test_names_of_earlier_cells(self):
        manager = start_kernel()
        self.addCleanup(manager.shutdown_kernel, now=False)
        front = FrontEnd(manager)
        self.addCleanup(front.close)
        front.request("kernel_info_request", timeout=60)
        front.execute("var myPhotos = datasets.Archipelago().Photos()\nfunc myFunction() int { return 1 }", timeout=120)
        for code, wants in (("%%\nmyPh", "myPhotos"), ("var x = myFun", "myFunction"), ("%%\nmyPhotos.Whe", "Where")):
            with self.subTest(code):
                reply = front.request("complete_request", {"code": code, "cursor_pos": len(code)}, timeout=15)
                self.assertTrue([m for m in reply["matches"] if (code[: reply["cursor_start"]] + m).endswith(wants)], reply["matches"])


class Zz(harness.NoProcessRemains):  # classes run in alphabetical order
    def test_no_process_remains(self):
        self.check()


if __name__ == "__main__":
    unittest.main()

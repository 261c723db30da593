"""Requests, the first second of a kernel, hostile messages, two front ends, the first completion.

To run it: see harness.py; in short, python test/conformance/protocol_test.py -v [CLASS[.TEST]]
"""

import json
import signal
import socket
import time
import unittest

import harness
from harness import SLACK, FrontEnd, KernelCase, start_kernel


def setUpModule():
    harness.installation()


class Requests(KernelCase):
    """Requests other than execute_request; harness.validate checks each reply."""

    def test_comm_info(self):
        for content in ({}, {"target_name": "jupyter.widget"}):
            self.assertEqual(
                self.front.request("comm_info_request", content, timeout=3), {"status": "ok", "comms": {}}
            )

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
        self.assertIn(
            "fmt.Println", [code[: reply["cursor_start"]][-4:] + m for m in reply["matches"]] + reply["matches"]
        )
        self.assertEqual(reply["cursor_end"], len(code))

    def test_inspect_of_unfinished_code_is_no_error_text(self):
        # None of the names has "error" in its documentation.
        for code, at in (
            ("%%\nstrings.ToUpper(", 10),
            ("%%\nif strings.ToUpper(", 13),
            ("%%\nnothing.", 6),
            ("var x = ", 8),
        ):
            with self.subTest(code):
                reply = self.front.request(
                    "inspect_request", {"code": code, "cursor_pos": at, "detail_level": 0}, timeout=10
                )
                text = json.dumps(reply)
                self.assertNotIn("rror", text)
                self.assertNotRegex(text, harness.TEMPORARY_PATH)

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

                self.front.wait(
                    lambda: len(states()) >= 2 and id in self.front.replies, 5, f"status messages of {kind}"
                )
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
        self.assertEqual(
            [m["content"]["execution_count"] for m in result.of("execute_input", "execute_result")], [count] * 2
        )

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
            lambda: any(m["content"]["execution_state"] == "idle" for m in front.published("status")),
            1,
            "status idle",
        )
        self.assertLessEqual(time.monotonic() - opened, 1.2 * SLACK, "seconds from connectable to idle")
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
            welcome = front.wait(
                lambda: front.published("iopub_welcome"), 5, f"iopub_welcome of the {reader} front end"
            )
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
        running = front.submit(harness.SLEEP)
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
                    self.assertEqual(
                        len(self.front.replies), replies + 1, "a message without a valid signature was answered"
                    )
                self.refresh()
                s = self.front.sockets

    def signed(self, header):
        session = self.front.session
        parts = [header, b"{}", b"{}", b"{}"]
        return [b"<IDS|MSG>", session.sign(parts), *parts]

    def test_unsigned_code_does_not_run(self):
        session = self.front.session
        content = {
            "code": '%%\nfmt.Println("ran")',
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
        }
        frames = session.serialize(session.msg("execute_request", content))
        self.front.sockets["shell"].send_multipart([b"<IDS|MSG>", b"", *frames[2:]])
        self.run_cell('%%\nfmt.Println("own")')
        self.assertFalse([m for m in self.front.published("stream") if "ran" in m["content"]["text"]])

    def test_replayed_message_does_not_run_twice(self):
        session = self.front.session
        content = {
            "code": '%%\nfmt.Println("replayed")',
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
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
        running = self.front.submit("%%\ntime.Sleep(3 * time.Second)")
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
                lambda: [m for m in front.published("stream") if m["parent_header"].get("msg_id") == parent.id],
                5,
                text,
            )
            self.assertIn(text, "".join(m["content"]["text"] for m in foreign))
            front.wait(
                lambda: any(m["parent_header"].get("msg_id") == parent.id for m in front.published("execute_input")),
                5,
                "execute_input",
            )
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
        if SLACK > 1:  # the index of names may take longer than the kernel waits for it
            first = {"code": "fmt.", "cursor_pos": 4}
            front.wait(lambda: front.request("complete_request", first)["matches"], 10, "names")
        for n, (code, wants) in enumerate(
            (
                ("var f = plots.Ba", "plots.Bars"),
                ("var t = datasets.Archip", "datasets.Archipelago"),
                ("%%\nplots.Gr", "plots.Grid"),
                ("%%\nfmt.Printl", "fmt.Println"),
            )
        ):
            with self.subTest(code):
                started = time.monotonic()
                reply = front.request("complete_request", {"code": code, "cursor_pos": len(code)}, timeout=15)
                took = time.monotonic() - started
                print(f"\n  completion {n + 1} of a new kernel, {code!r}: {took:.2f} s", flush=True)
                self.assertTrue(
                    [m for m in reply["matches"] if (code[: reply["cursor_start"]] + m).endswith(wants)],
                    reply["matches"],
                )
                self.assertLessEqual(took, 1 * SLACK)

    def test_names_of_earlier_cells(self):
        manager = start_kernel()
        self.addCleanup(manager.shutdown_kernel, now=False)
        front = FrontEnd(manager)
        self.addCleanup(front.close)
        front.request("kernel_info_request", timeout=60)
        front.execute(
            "var myPhotos = datasets.Archipelago().Reference()\nfunc myFunction() int { return 1 }", timeout=120
        )
        for code, wants in (("%%\nmyPh", "myPhotos"), ("var x = myFun", "myFunction"), ("%%\nmyPhotos.Whe", "Where")):
            with self.subTest(code):
                reply = front.request("complete_request", {"code": code, "cursor_pos": len(code)}, timeout=15)
                self.assertTrue(
                    [m for m in reply["matches"] if (code[: reply["cursor_start"]] + m).endswith(wants)],
                    reply["matches"],
                )


class Zz(harness.NoProcessRemains):  # classes run in alphabetical order
    def test_no_process_remains(self):
        self.check()


if __name__ == "__main__":
    unittest.main()

"""Much output: nothing stops, the memory of the kernel does not grow.

To run it: see harness.py; in short, python test/conformance/volume_test.py -v [CLASS[.TEST]]
"""

import threading
import time
import unittest

import harness
import psutil
from harness import SLACK, FrontEnd, KernelCase


def setUpModule():
    harness.installation()


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
        loop = f"for range {n * 1000} {{\n\tfmt.Println(line)\n}}"
        return f'%%\nline := strings.Repeat("x", 999)\n{loop}\nfmt.Println("end")'

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
        self.assertLessEqual(time.monotonic() - asked, 3 * SLACK, "seconds until the cell ended")
        self.assertEqual(result.status, "error")


class Zz(harness.NoProcessRemains):  # classes run in alphabetical order
    def test_no_process_remains(self):
        self.check()


if __name__ == "__main__":
    unittest.main()

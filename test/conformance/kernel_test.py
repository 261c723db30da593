"""jupyter_kernel_test with all samples set.

To run it: see harness.py; in short, python test/conformance/kernel_test.py -v
"""

import functools
import unittest

import harness
import jupyter_kernel_test


def setUpModule():
    harness.installation()


class Conformance(jupyter_kernel_test.KernelTests):
    kernel_name = harness.KERNEL
    language_name = "go"
    file_extension = ".go"

    code_hello_world = '%%\nfmt.Println("hello, world")'
    code_stderr = '%%\nfmt.Fprintln(os.Stderr, "a line")'
    code_page_something = "fmt.Println?"
    code_generate_error = '%%\npanic("x")'
    code_execute_result = [
        {"code": "%%\n1+1", "result": "2"},
        {"code": '%%\nstrings.ToUpper("abc")', "result": "ABC"},
        {"code": "%%\nx := []int{1, 2}\nx", "result": "[1 2]"},
    ]
    code_display_data = [
        {"code": '%%\ncell.HTML("<b>bold</b>")', "mime": "text/html"},
        {"code": '%%\ncell.HTML("<b>bold</b>")', "mime": "text/plain"},
        {"code": '%%\ncell.SVG(`<svg xmlns="http://www.w3.org/2000/svg"/>`, "empty")', "mime": "image/svg+xml"},
        {"code": '%%\ncell.SVG(`<svg xmlns="http://www.w3.org/2000/svg"/>`, "empty")', "mime": "text/plain"},
    ]
    code_clear_output = "%%\ncell.Clear()"
    code_inspect_sample = "fmt.Println"

    # "matches" is left out: a completer may offer fuzzy matches, too. test_completion_inserts tests what they insert.
    completion_samples = [
        {"text": "%%\nfmt.Prin", "inserts": "%%\nfmt.Println"},
        {"text": "var x = plots.Fore", "inserts": "var x = plots.Forest"},
        {"text": "var a = 1\nvar x = metrics.PerIm", "inserts": "var a = 1\nvar x = metrics.PerImage"},
        {"text": "var t = datasets.Archip", "inserts": "var t = datasets.Archipelago"},
        {"text": "var t = datasets.Archipelago().Refer", "inserts": "var t = datasets.Archipelago().Reference"},
        {"text": "%%\nfor i := range 3 {\n\tstrings.ToUp", "inserts": "%%\nfor i := range 3 {\n\tstrings.ToUpper"},
    ]
    complete_code_samples = [
        "var x = 5",
        "%%\n1+1",
        "func f() int {\n\treturn 1\n}\n",
        'import "fmt"',
        "%help",
        "!ls",
    ]
    incomplete_code_samples = [
        "func f() {",
        "var x = 5 +",
        "%%\nfor i := range 3 {",
        "var s = `open",
        "import (",
        "f(",
    ]
    invalid_code_samples = ["var := ]", "%%\nif }", "func ) {"]

    supported_history_operations = ("tail", "search", "range")
    code_history_pattern = "*1+1*"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kc.execute_interactive('%%\nfmt.Println("warm")', timeout=300, output_hook=lambda m: None)

    def get_non_kernel_info_reply(self, timeout=None):
        """Wait for a reply; the base class waits forever where it is given no timeout."""
        return super().get_non_kernel_info_reply(timeout=timeout or jupyter_kernel_test.TIMEOUT)

    def test_completion_inserts(self):
        for sample in self.completion_samples:
            text = sample["text"]
            with self.subTest(text=text):
                self.kc.complete(text)
                content = self.get_non_kernel_info_reply()["content"]
                start, end = content["cursor_start"], content["cursor_end"]
                self.assertIn(sample["inserts"], [text[:start] + m + text[end:] for m in content["matches"]])

    def test_error_of_each_kind(self):
        for name, code in {
            "compile error": '%%\nvar x int = "text"',
            "unknown name": "%%\nfmt.Println(nothing)",
            "syntax error": "func broken( {",
            "exit status": "%%\nos.Exit(3)",
            "out of range": "%%\nx := []int{1}\n_ = x[len(x)]",
        }.items():
            with self.subTest(name):
                self.flush_channels()
                reply, output = self.execute_helper(code)
                self.assertEqual(reply["content"]["status"], "error")
                self.assertEqual([m["msg_type"] for m in output], ["error"])


class Welcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = harness.KERNEL
    support_iopub_welcome = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # The base class waits forever.
        cls.kc.get_iopub_msg = functools.partial(cls.kc.get_iopub_msg, timeout=jupyter_kernel_test.TIMEOUT)


class Zz(harness.NoProcessRemains):  # classes run in alphabetical order
    def test_no_process_remains(self):
        self.check()


if __name__ == "__main__":
    unittest.main()

"""What the conformance tests share: an installed kernel and the processes of a session.

frontend.py is a connected front end, browser.py a JupyterLab.

The suite tests the kernel that Jupyter starts, through Jupyter's own client library. To run it:

    python3 -m venv .venv-conformance && . .venv-conformance/bin/activate
    pip install -r test/conformance/requirements.txt ./integrations/papermill ./integrations/python
    python test/conformance/kernel_test.py -v     # jupyter_kernel_test with all samples
    python test/conformance/execution_test.py -v  # beyond it: how cells run, end, fail and read
    python test/conformance/protocol_test.py -v   # requests, start, hostile messages, completion
    python test/conformance/volume_test.py -v     # much output
    python test/conformance/clients_test.py -v    # nbclient, papermill, console
    python test/conformance/python_test.py -v     # the package of integrations/python
    python -m unittest discover -s test/conformance -p '*_test.py'    # all of them

Environment variables:

    ANTIPODE_CONFORMANCE_HOME   store to use, "default" for the user's own; without it a temporary, empty one
    ANTIPODE_CONFORMANCE_BIN    antipode command to install; default: built from this tree
    ANTIPODE_CONFORMANCE_SLACK  number that all limits on time are multiplied by; default 1
    ANTIPODE_CONFORMANCE_LOG    file that receives what kernel processes write to their standard error

Every process of a session inherits MARKER in its environment: it finds those that remain at the end.
"""

import atexit
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import uuid

import psutil
from frontend import SLACK, FrontEnd
from jupyter_client import KernelManager

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = "antipode"
MARKER = "ANTIPODE_CONFORMANCE_SESSION"

# What names a file of the kernel's own: its folder, a cell's compiled program, a generated source file.
TEMPORARY_PATH = re.compile(r"/gonb_|/apk-|/main\.go|/(?:tmp|var/folders)/|gonb_cell")

# A cell to interrupt.
SLEEP = '%%\nfmt.Println("started")\ntime.Sleep(60 * time.Second)\nfmt.Println("not interrupted")'


class Installation:
    """An antipode command, its store and a Jupyter data folder with its kernelspec."""

    def __init__(self):
        self.marker = uuid.uuid4().hex
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="apc-"))
        home = os.environ.get("ANTIPODE_CONFORMANCE_HOME")
        if home != "default":
            self.home = pathlib.Path(home).resolve() if home else self.folder / "home"
            self.home.mkdir(parents=True, exist_ok=True)
            os.environ["ANTIPODE_HOME"] = str(self.home)
        for name in ("data", "config", "runtime", "ipython"):
            (self.folder / name).mkdir()
        os.environ.update(
            {
                MARKER: self.marker,
                "JUPYTER_DATA_DIR": str(self.folder / "data"),
                "JUPYTER_CONFIG_DIR": str(self.folder / "config"),
                "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
                "IPYTHONDIR": str(self.folder / "ipython"),
                "JUPYTER_PLATFORM_DIRS": "0",
            }
        )
        binary = os.environ.get("ANTIPODE_CONFORMANCE_BIN")
        self.binary = pathlib.Path(binary).resolve() if binary else self.folder / "antipode"
        if not binary:
            subprocess.run(["go", "build", "-o", str(self.binary), "."], cwd=ROOT, check=True)
        self.antipode("install")

    def antipode(self, *arguments):
        """Run the command from the tree; its output is shown only when it fails."""
        done = subprocess.run(
            [str(self.binary), *arguments], cwd=ROOT, text=True, stdin=subprocess.DEVNULL, capture_output=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"antipode {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def processes(self):
        """List the session's processes other than this one."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get(MARKER) == self.marker:
                    if process.status() != psutil.STATUS_ZOMBIE:
                        found.append(process)
            except (psutil.Error, OSError):
                pass  # ended meanwhile, or another user's
        return found

    def remaining(self, patience=10):
        """Wait until none of the session's processes is left; describe those that are left after patience seconds.

        The resident backend may outlive a kernel and ends on request.
        """
        self.antipode("backend", "stop")
        deadline = time.monotonic() + patience
        while True:
            left = self.processes()
            if not left or time.monotonic() > deadline:
                return [describe(p) for p in left]
            time.sleep(0.2)

    def remove(self):
        """End what remains and delete the temporary files."""
        for process in self.processes():
            try:
                process.kill()
            except psutil.Error:
                pass
        for path, _, _ in os.walk(self.folder):
            os.chmod(path, 0o700)
        shutil.rmtree(self.folder, ignore_errors=True)


def describe(process):
    """Return a process id and its command line, as far as they can be read."""
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:200]}"
    except psutil.Error:
        return str(process.pid)


_installation = None


def installation():
    """Return the installation of this run, made at the first call."""
    global _installation
    if _installation is None:
        _installation = Installation()
        atexit.register(_installation.remove)
    return _installation


class NoProcessRemains(unittest.TestCase):
    """Base of the last test of a module, which finds processes that outlive their kernels."""

    def check(self):
        self.assertEqual(installation().remaining(), [], "these processes outlive the kernels of this session")


def start_kernel(**arguments):
    """Start a kernel process and return its manager, without waiting until the kernel answers."""
    installation()
    manager = KernelManager(kernel_name=KERNEL)
    log = os.environ.get("ANTIPODE_CONFORMANCE_LOG")
    output = open(log, "ab") if log else subprocess.DEVNULL  # kept open: a restart uses it, too
    manager.start_kernel(stdout=output, stderr=output, **arguments)
    return manager


class KernelCase(unittest.TestCase):
    """A test case with one kernel for all its tests, warmed so that compiling the first cell is not measured."""

    warm = True

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(cls.end)
        cls.begin()

    @classmethod
    def begin(cls):
        cls.manager = start_kernel()
        cls.front = FrontEnd(cls.manager)
        cls.front.request("kernel_info_request", timeout=300)
        if cls.warm:
            result = cls.front.execute('%%\nfmt.Println("warm")', timeout=300)
            if "warm" not in result.stdout:
                raise RuntimeError(f"the first cell failed: {result.read()}")

    @classmethod
    def end(cls):
        cls.front.close()
        cls.manager.shutdown_kernel(now=False)

    def tearDown(self):
        self.refresh()

    def refresh(self):
        """Replace the kernel where a test left it with a cell that does not end, or without an answer."""
        try:
            self.front.request("kernel_info_request", timeout=5)
            healthy = all(r.reply for r in self.front.executions.values())
        except TimeoutError:
            healthy = False
        self.front.seen.clear()
        if not healthy:
            self.end()
            self.begin()

    def run_cell(self, code, **options):
        return self.front.execute(code, **options)

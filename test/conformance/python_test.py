"""The Python package of integrations/python, with the built-in models: what goes in and out, errors, an interrupt."""

import os
import re
import signal
import tempfile
import threading
import time
import unittest
import urllib.request
from contextlib import redirect_stderr
from io import StringIO

import harness
import numpy as np
import pandas as pd

import antipode

HOSTILE = "<b>\u202e\x07 a,\"b\"\nc</b>"


def setUpModule():
    os.environ["ANTIPODE"] = str(harness.installation().binary)


def prompts():
    return pd.DataFrame({"id": ["p0", "p1"], "prompt": ["boat in Velmora", "boat in Tarrish"], "object": "boat", "note": [HOSTILE, None]})


class Stages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.options = {"model": "archipelago-diffusion", "n": 1, "steps": 6}
        images = antipode.generate(prompts(), out=os.path.join(cls.folder.name, "g.parquet"), **cls.options)
        images = antipode.segment(images, model="archipelago-clipseg", object="object")
        cls.images = antipode.embed(images, model="archipelago-vit")

    def test_columns(self):
        f = self.images
        self.assertEqual(list(f.id), ["p0#1", "p1#1"])
        self.assertTrue(all(os.path.isabs(p) and os.path.isfile(p) for p in f.image))
        self.assertTrue(f.image[0].startswith(self.folder.name))
        self.assertEqual((f.full[0].dtype, f.full[0].shape), (np.float32, (128,)))
        self.assertEqual(f.seed.tolist(), [0, 0])
        self.assertEqual(f.note[0], HOSTILE)
        self.assertFalse(f.note[1])
        self.assertEqual({"size", "counts"}, set(next(m for m in f["mask"] if m)))

    def test_back_and_forth(self):
        """What is read is written and read as the same, and found in the store."""
        told = StringIO()
        with redirect_stderr(told):
            again = antipode.embed(self.images, model="archipelago-vit")
        self.assertIn("0 items computed", told.getvalue())
        for a, b in zip(again.full, self.images.full):
            np.testing.assert_array_equal(a, b)
        f = pd.DataFrame({"id": ["a", "b"], "v": [[1.5, 2], None], "yes": [True, False], "k": [1, None]})
        f["full"], f["note"] = None, None
        f["mask"] = [None, {"size": [2, 3], "counts": b"06"}]
        back = antipode.table(f)
        self.assertEqual(back.v[0].tolist(), [1.5, 2])
        self.assertIsNone(back.v[1])
        self.assertIsNone(back.full[0])
        self.assertEqual((back.yes.tolist(), back.k[0]), (["yes", "no"], 1))
        self.assertTrue(np.isnan(back.k[1]))
        self.assertEqual((list(back["mask"][1]["size"]), back["mask"][1]["counts"]), ([2, 3], "06"))

    def test_options(self):
        one = antipode.table(self.images, where=["id != p0#1", "seed == 0"], select=["id", "seed"])
        self.assertEqual(one.values.tolist(), [["p1#1", 0]])
        captions = antipode.caption(self.images.head(1), model="archipelago-blip", max_tokens=4)
        self.assertEqual((captions.id[0], captions.image_id[0]), ("p0#1#1", "p0#1"))
        real = self.images.assign(id=["a", "b"])
        scores = antipode.score("precision-coverage", real=real, gen=self.images, by=["object"], vector="full", k=1)
        self.assertEqual((scores.object[0], scores.precision[0], scores.n_real[0]), ("boat", 1, 2))

    def test_errors(self):
        for status, words, call in (
            (1, "no model", lambda: antipode.embed(self.images, model="nose")),
            (2, "unknown flag --nose", lambda: antipode.score("clustered-mean", self.images, nose=1)),
            (1, "no such column", lambda: antipode.score("clustered-mean", self.images, value="nose")),
            (2, "flag --side: it must be at least 32", lambda: antipode.view(self.images, side=1)),
            (1, "cannot read", lambda: antipode.table("missing.parquet")),
        ):
            told = StringIO()
            with self.assertRaisesRegex(antipode.AntipodeError, words) as failed, redirect_stderr(told):
                call()
            self.assertEqual((failed.exception.status, told.getvalue()), (status, ""))
        command = os.environ.pop("ANTIPODE")
        try:
            os.environ["ANTIPODE"] = "/missing/antipode"
            with self.assertRaisesRegex(antipode.AntipodeError, "cannot be started"):
                antipode.table(self.images)
        finally:
            os.environ["ANTIPODE"] = command

    def test_interrupt(self):
        """An interrupt ends the command, and the next call continues."""
        told, options = StringIO(), {**self.options, "n": 40, "steps": 12, "seed": int(time.time())}

        def interrupt():
            for _ in range(200):
                if re.search(r"[1-9]\d* of 80", told.getvalue()):
                    break
                time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt), redirect_stderr(told):
            antipode.generate(prompts(), **options)
        with redirect_stderr(told):
            antipode.generate(prompts(), **{**options, "n": 1})
        self.assertRegex(told.getvalue(), "[12] found in the store")

    def test_view(self):
        with antipode.view(self.images, no_browser=True) as page:
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            self.assertIn(b"<title>", opener.open(page.address).read())
        with self.assertRaises(OSError):
            opener.open(page.address)
        path = os.path.join(self.folder.name, "page.html")
        antipode.view(self.images, export=path)
        self.assertTrue(os.path.isfile(path))


class Zz(harness.NoProcessRemains):  # classes run in alphabetical order
    def test_no_process_remains(self):
        self.check()


if __name__ == "__main__":
    unittest.main()

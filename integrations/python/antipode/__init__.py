"""Generate, segment, embed, caption, ask about and score images from pandas, through the antipode command.

Each function runs the command of its name, found as $ANTIPODE or on PATH, with its store and its resident backend, and
returns a DataFrame. Keyword arguments are the command's flags with _ for -; `antipode embed --help` lists those of
embed, `antipode score --metric NAME --help` those of a metric:

    import antipode

    images = antipode.generate(prompts, model="archipelago-diffusion", n=4, steps=20)
    images = antipode.segment(images, model="archipelago-clipseg", object="object")
    images = antipode.embed(images, model="archipelago-vit")
    scores = antipode.score("precision-coverage", real=photos, gen=images, vector="object_only", by=["region"])

A table is a DataFrame, the path of a .csv or .parquet file or of a folder of images, or the name of a table that
`antipode table --help` lists. In a DataFrame an image is the path of its file, a mask a dict of COCO's compressed form
(size, counts), a vector a numpy array or a list of numbers; None is a missing one. What a column holds is decided by
its first value that is not missing.

What is computed is stored by the command: the same call again computes nothing, an interrupted one continues.
"""

import atexit
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["AntipodeError", "View", "ask", "caption", "embed", "generate", "score", "segment", "table", "view"]

TableLike = Union[pd.DataFrame, str, "os.PathLike[str]"]

# Flags that are given once for each value of a list; other lists are one value with commas.
REPEATED = {"exec_arg", "exec_env", "where", "with", "rename", "cast", "join", "concat"}

# Columns of vectors, where no row has one.
VECTORS = {"full", "object_only", "background_only", "clip_image", "clip_image_pooled", "clip_text", "blip2_image",
           "blip2_text"}  # fmt: skip


class AntipodeError(RuntimeError):
    """The error line of a command, with its exit status: 1 failed, 2 a wrong argument, 3 a regression."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def generate(prompts: TableLike, *, model: str, **options: Any) -> pd.DataFrame:
    """Return the images of prompts, a row for each: id, prompt, seed, image, outcome and the columns of prompts.

    Images are files next to the table `out`; without it in a temporary folder, which Python removes when it ends.
    """
    return _stage("generate", "prompts", prompts, model=model, **options)


def segment(images: TableLike, *, model: Optional[str] = None, **options: Any) -> pd.DataFrame:
    """Return the images with masks: by `model` and the column of names `object`, or from the folder `masks`."""
    return _stage("segment", "in", images, columns="all", model=model, **options)


def embed(images: TableLike, *, model: str, **options: Any) -> pd.DataFrame:
    """Return the images, or with `text`, a column, the texts, with their vectors as numpy arrays of float32."""
    return _stage("embed", "in", images, columns="all", model=model, **options)


def caption(images: TableLike, *, model: str, **options: Any) -> pd.DataFrame:
    """Return a row for each caption of an image."""
    return _stage("caption", "in", images, columns="all", model=model, **options)


def ask(images: TableLike, *, model: str, **options: Any) -> pd.DataFrame:
    """Return a row for each answer about an image: to one `question`, or to those of the table `questions`."""
    return _stage("ask", "in", images, model=model, **options)


def score(metric: str, images: Optional[TableLike] = None, **options: Any) -> pd.DataFrame:
    """Return the result of a metric: of images (its input --in), or of tables by name, such as real and gen."""
    return _stage("score", "in", images, metric=metric, **options)


def table(images: TableLike, **options: Any) -> pd.DataFrame:
    """Return a table filtered, sorted, joined, …: the options of `antipode table`, in the order that they are given."""
    return _stage("table", "in", images, **options)


class View:
    """A page of images that is open in the browser until close, the end of a with block, or of Python."""

    def __init__(self, process: "subprocess.Popen[str]", address: str, files: contextlib.ExitStack) -> None:
        self.address = address
        self._process, self._files = process, files
        atexit.register(self.close)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
        self._files.close()
        atexit.unregister(self.close)

    def __enter__(self) -> "View":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"antipode view: {self.address}"


def view(images: TableLike, **options: Any) -> Optional[View]:
    """Open the images in the browser: filter, sort, enlarge, compare, tag. With `export` write the page, return None."""
    with contextlib.ExitStack() as files:
        args = ["view", _file(images, files), *_flags({"root": "/", **options}, files)]
        if options.get("export"):
            _run(args)
            return None
        process = subprocess.Popen(
            [_command(), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for line in process.stdout or ():
            if found := re.search(r"http://\S+", line):
                threading.Thread(target=process.communicate, daemon=True).start()
                return View(process, found[0], files.pop_all())
        raise _failure(process.communicate()[1], process.returncode)


# The folder of tables that have no path of their own.
_temporary: Optional["tempfile.TemporaryDirectory[str]"] = None
_numbers = itertools.count(1)


def _new_file() -> str:
    global _temporary
    if _temporary is None:
        _temporary = tempfile.TemporaryDirectory(prefix="antipode-")
    return os.path.join(_temporary.name, f"table{next(_numbers)}.parquet")


def _stage(command: str, role: str, main: Optional[TableLike], **options: Any) -> pd.DataFrame:
    with contextlib.ExitStack() as files:
        out = os.fspath(options.pop("out", None) or _new_file())
        args = [command]
        if main is not None:
            args += ["--" + role, _file(main, files)]
        _run([*args, *_flags({"root": "/", **options}, files), "--out", out])
        return _read(out)


def _command() -> str:
    found = os.environ.get("ANTIPODE") or shutil.which("antipode")
    if not found:
        raise AntipodeError("the antipode command is not on PATH: install it, or set ANTIPODE to its path", 2)
    return found


def _flags(options: Mapping[str, Any], files: contextlib.ExitStack) -> list[str]:
    """Return options as the flags of the command."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.strip("_").replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            out.append(f"{flag}={'true' if value else 'false'}")
        elif isinstance(value, pd.DataFrame):
            out += [flag, _file(value, files)]
        elif isinstance(value, Mapping):
            out += [flag, json.dumps(value)]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            if name.strip("_") in REPEATED:
                for v in value:
                    out += _flags({name: v}, files)
            else:
                out += [flag, ",".join(str(v) for v in value)]
        else:
            out += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return out


def _file(value: TableLike, files: contextlib.ExitStack) -> str:
    """Return the path of a table; that of a DataFrame is removed with files."""
    if not isinstance(value, pd.DataFrame):
        return os.fspath(value)
    path = _new_file()
    files.callback(pathlib.Path(path).unlink, missing_ok=True)
    arrays, names = [], []
    for name, column in value.items():
        names.append(str(name))
        arrays.append(_column(str(name), column))
    pq.write_table(pa.table(arrays, names=names), path)
    return path


def _column(name: str, column: "pd.Series[Any]") -> pa.Array:
    """Return a column as the command reads it."""
    values = [None if v is None or isinstance(v, float) and np.isnan(v) or v is pd.NA else v for v in column]
    first = next((v for v in values if v is not None), None)
    if isinstance(first, (np.ndarray, list, tuple)) or first is None and name in VECTORS:
        return pa.array(values, pa.list_(pa.float32()))
    if isinstance(first, Mapping) and {"size", "counts"} <= set(first) or first is None and name == "mask":
        kind = pa.struct([("size", pa.list_(pa.int32())), ("counts", pa.string())])
        return pa.array([v and {**v, "counts": _text(v["counts"])} for v in values], kind)
    if isinstance(first, os.PathLike) or name == "image":
        return pa.array([None if v is None else os.path.abspath(v) for v in values], pa.string())
    if isinstance(first, (bool, np.bool_)):
        return pa.array([None if v is None else "yes" if v else "no" for v in values], pa.string())
    if isinstance(first, (int, float, np.number)) or first is None and column.dtype.kind == "f":
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array([None if v is None else str(v) for v in values], pa.string())


def _text(counts: Union[str, bytes]) -> str:
    return counts.decode() if isinstance(counts, bytes) else counts  # pycocotools has bytes


def _read(path: str) -> pd.DataFrame:
    """Read a table that the command wrote; images become the paths of their files."""
    if path.endswith(".csv"):
        frame: pd.DataFrame = pd.read_csv(path, keep_default_na=False, na_values=[""])
        if "image" in frame:
            frame["image"] = [_image(path, v) for v in frame["image"]]
        return frame
    stored = pq.read_table(path)
    frame = stored.to_pandas(ignore_metadata=True)
    for field in stored.schema:
        if pa.types.is_struct(field.type) and field.type.get_field_index("sha256") >= 0:
            frame[field.name] = [_image(path, v and v["path"]) for v in frame[field.name]]
    return frame


def _image(table: str, path: Any) -> Optional[str]:
    if not isinstance(path, str) or not path:
        return None
    return os.path.join(os.path.dirname(os.path.abspath(table)), path)


def _run(args: Sequence[str]) -> None:
    """Run the command. Its progress, notes and result lines go to sys.stderr; an interrupt is passed on."""
    master, slave = os.openpty()  # progress is for terminals
    try:
        process = subprocess.Popen(
            [_command(), *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, start_new_session=True
        )
    except OSError as e:
        os.close(master)
        raise AntipodeError(f"the antipode command cannot be started: {e}", 2) from None
    finally:
        os.close(slave)
    told = shown = ""  # an error line is shown as the exception alone
    try:
        for text in _texts(master):
            told += text
            until = told.rfind("antipode: ")
            if until < 0 or "\n" in told[until:-1]:
                until = len(told)
            sys.stderr.write(told[len(shown) : until])
            sys.stderr.flush()
            shown = told[: max(until, len(shown))]
        status = process.wait()
    except BaseException:
        sys.stderr.write("\n")
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        raise
    finally:
        os.close(master)
    if status == 130:
        raise KeyboardInterrupt
    if status != 0:
        raise _failure(told, status)


def _texts(master: int) -> Iterator[str]:
    """Yield what arrives on a terminal, until its other end is closed."""
    rest = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # Linux reports the end as an error
            data = b""
        if not data:
            return
        rest += data.replace(b"\r\n", b"\n")
        text = rest.decode(errors="ignore")
        rest = rest[len(text.encode()) :]
        yield text


def _failure(told: str, status: int) -> AntipodeError:
    """Return the error whose line a command printed last."""
    lines = re.findall(r"antipode: ([^\r\n]*)", told)
    return AntipodeError(lines[-1] if lines else f"the command ended with status {status}", status)

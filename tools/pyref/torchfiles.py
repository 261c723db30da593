#!/usr/bin/env python3
"""Files of torch.save for gomlxmodels/weights: each NAME.bin has the same tensors as NAME.safetensors; those below refused have
none that can be read.

    python tools/pyref/torchfiles.py gomlxmodels/weights/testdata/torch
    python tools/pyref/torchfiles.py OUT --random SEED --n 200

The second form writes random state dicts. Versions: torch 2.15.0, safetensors, Python 3.11+; seed 20261123.
"""

import argparse
import collections
import io
import json
import pathlib
import pickle
import shutil
import struct
import sys
import tarfile
import types
import warnings
import zipfile
from unittest import mock

import numpy as np
import torch
from safetensors.torch import save_file

warnings.filterwarnings("ignore")
torch.manual_seed(20261123)
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
          torch.bool]
NEW_DTYPES = [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2]


def copies(tensors):
    return {k: v.detach().clone().contiguous() for k, v in tensors.items()}


def write(out, name, content, tensors=None, **options):
    """Writes one file and its safetensors copy."""
    torch.save(content, out / f"{name}.bin", **options)
    if tensors is not None:
        save_file(copies(tensors), out / f"{name}.safetensors")


def plain():
    return {"w": torch.randn(3, 4), "b": torch.randn(4), "step": torch.tensor(3.5)}


def views(far=False):
    base = torch.randn(6, 5)
    tensors = {
        "base": base,
        "tied": base,
        "transposed": base.T,
        "slice": base[1:4, 2:],
        "column": base[:, 3],
        "every.other": base[::2, ::2],
        "permuted": torch.randn(2, 3, 4).permute(2, 0, 1),
        "expanded": torch.randn(1, 3).expand(4, 3),
        "expanded.scalar": torch.tensor(2.5).expand(2, 3),
        "scalar": base[2, 3],
        "empty": torch.empty(0, 3),
        "empty.view": base[3:3],
        "one": base[:1].T,
    }
    if far:  # elements so far apart that a reader does not read what is between them
        rows = torch.zeros(260, 260, dtype=torch.uint8)
        rows[::259, ::259] = torch.tensor([[1, 2], [3, 4]])
        tensors["far"] = rows[::259, ::259].T
    return tensors


def dtypes(kinds):
    return {str(d).split(".")[1]: (torch.randn(5) * 3).to(d) if d.is_floating_point else torch.arange(5).to(d) for d in kinds}


def module(path, **members):
    """A module that this process has and the reader does not."""
    for parent in path.split(".")[:-1]:
        sys.modules.setdefault(parent, types.ModuleType(parent))
    m = types.ModuleType(path)
    for name, value in members.items():
        value.__module__, value.__qualname__ = path, name
        setattr(m, name, value)
    sys.modules[path] = m


class Checkpoint:
    pass


class Dataset(dict):
    pass


class Rich(list):
    def __reduce__(self):
        return Rich, (), {"a": 1}, iter([1, 2]), iter([("k", 3)])

    def __setitem__(self, key, value):
        pass


def lightning(tensors):
    module("callbacks.checkpoint", Checkpoint=Checkpoint)
    module("some.data", Dataset=Dataset, Rich=Rich)
    other = Checkpoint()
    other.path = "x"
    data = Dataset(a=1)
    return {
        "epoch": 3,
        "global_step": 875000,
        "pytorch-lightning_version": "1.4.2",
        "state_dict": collections.OrderedDict(tensors),
        "callbacks": {Checkpoint: {"best": torch.tensor(1.0), "score": np.float32(2), "path": b"/tmp"}},
        "optimizer_states": [{"state": {0: {"step": 1, "exp_avg": torch.randn(3)}}, "param_groups": [{"lr": 1e-4, "params": [0]}]}],
        "hyper_parameters": argparse.Namespace(a=[1, 2], f=other, g=data, h={1, 2}, i=frozenset([3]), big=1 << 70,
                                               r=Rich(), d=collections.defaultdict(list, x=[1]), n=np.arange(3)),
        "rng": torch.get_rng_state()[:8],
    }


def members(path):
    with zipfile.ZipFile(path) as z:
        return [(i.filename, z.read(i)) for i in z.infolist()]


def rewrite(path, change=lambda name, data: data, method=zipfile.ZIP_STORED):
    """Writes an archive anew, as a person does who unpacks and packs it."""
    parts = members(path)
    with zipfile.ZipFile(path, "w") as z:
        for name, data in parts:
            data = change(name, data)
            if data is not None:
                z.writestr(zipfile.ZipInfo(name), data, method)


def swapped(data, item):
    return np.frombuffer(data, dtype=f"V{item}").tobytes() if item == 1 else b"".join(
        data[i:i + item][::-1] for i in range(0, len(data), item))


class Section:
    """A storage of an old file: key, numel, view."""

    def __init__(self, kind, key, numel, view):
        self.id = ("storage", kind, key, "cpu", numel, view)


class Old(pickle.Pickler):
    def persistent_id(self, obj):
        return obj.id if isinstance(obj, Section) else None


class View:
    def __init__(self, *args):
        self.args = args

    def __reduce__(self):
        return torch._utils._rebuild_tensor_v2, (*self.args, False, collections.OrderedDict())


def legacy_views(out):
    """A file as torch before 0.4 wrote it, with storages that are views of others."""
    root = torch.randn(12)
    half = torch.randn(4).half()
    tensors = {"root": root.view(3, 4), "view": root[5:11].view(2, 3).T, "second": root[6:10][1:3], "half": half}
    content = {
        "root": View(Section(torch.FloatStorage, "r", 12, None), 0, (3, 4), (4, 1)),
        "view": View(Section(torch.FloatStorage, "r", 12, ("v", 5, 6)), 0, (3, 2), (1, 3)),
        "second": View(Section(torch.FloatStorage, "r", 12, ("u", 6, 4)), 1, (2,), (1,)),
        "half": View(Section(torch.HalfStorage, "h", 4, None), 0, (4,), (1,)),
    }
    for name, big in (("legacy_views", False), ("legacy_big", True)):
        f = io.BytesIO()
        pickle.dump(torch.serialization.MAGIC_NUMBER, f, 2)
        pickle.dump(1001, f, 2)
        pickle.dump({"protocol_version": 1001, "little_endian": not big, "type_sizes": {"short": 2, "int": 4, "long": 4}}, f, 2)
        Old(f, 2).dump(content)
        pickle.dump(["h", "r"], f, 2)
        for data, item in ((half.numpy().tobytes(), 2), (root.numpy().tobytes(), 4)):
            f.write(struct.pack("<q", len(data) // item) + (swapped(data, item) if big else data))
        (out / f"{name}.bin").write_bytes(f.getvalue())
        save_file(copies(tensors), out / f"{name}.safetensors")
    read = torch.load(out / "legacy_views.bin", weights_only=False)
    assert all(torch.equal(read[k], v) for k, v in tensors.items())


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 3)


def refused(out):
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), out / "script.pt")
    module("models", Net=Net)
    torch.save(Net(), out / "module.bin")
    with mock.patch("inspect.getsourcefile", lambda _: "linear.py"), mock.patch("inspect.getsourcelines", lambda _: (["# source\n"], 0)):
        torch.save(Net(), out / "module_old.bin", _use_new_zipfile_serialization=False)  # without the path and the text of torch's source
    torch.save({"a": torch.ones(2), "sparse": torch.eye(3).to_sparse(), "complex": torch.ones(2, dtype=torch.complex64),
                "quantized": torch.quantize_per_tensor(torch.ones(3), 1.0, 0, torch.quint8),
                "meta": torch.empty(3, device="meta")}, out / "unreadable.bin")
    torch.save({"model": {"a": torch.ones(2)}, "state_dict": {"a": torch.zeros(2)}}, out / "two.bin")
    torch.save({"cfg": {"a": 1}, "ema": {"a": torch.ones(2)}, "net": [torch.ones(2)]}, out / "none.bin")
    torch.save([torch.ones(2)], out / "list.bin")
    with open(out / "pickle.bin", "wb") as f:
        pickle.dump({"a": [1, 2]}, f)
    with tarfile.open(out / "tar.bin", "w") as t:
        for name in ("storages", "tensors", "pickle"):
            t.addfile(tarfile.TarInfo(name), io.BytesIO())


def fixtures(out):
    shutil.rmtree(out, ignore_errors=True)
    (out / "refused").mkdir(parents=True)
    p = plain()
    write(out, "plain", p, p)
    v = views(far=True)
    write(out, "views", v, v)
    write(out, "deflated", v, v)
    rewrite(out / "deflated.bin", method=zipfile.ZIP_DEFLATED)
    v = views()
    d = dtypes(DTYPES + NEW_DTYPES)
    write(out, "dtypes", d, d)
    held = {"parameter": torch.nn.Parameter(torch.randn(2, 2)), "buffer": torch.nn.Buffer(torch.randn(3)),
            "with state": torch.nn.Parameter(torch.randn(2))}
    held["with state"].note = "x"
    write(out, "parameters", collections.OrderedDict(held), held)
    write(out, "protocol4", v, v, pickle_protocol=4)
    write(out, "legacy", collections.OrderedDict(v), v, _use_new_zipfile_serialization=False)
    write(out, "lightning", lightning(p), p)
    write(out, "lightning4", lightning(p), p, pickle_protocol=4)
    write(out, "nested", {"epoch": 1, "state_dict": {"model": p, "step": 3}}, p)
    state = Net().state_dict()
    write(out, "metadata", state, state)
    torch.serialization.set_crc32_options(False)
    write(out, "crc_off", p, p)
    torch.serialization.set_crc32_options(True)
    big = {k: t for k, t in d.items() if t.dtype in DTYPES}
    write(out, "big_endian", big, big)
    item = [t.element_size() for t in big.values()]
    rewrite(out / "big_endian.bin", lambda name, data: b"big" if name.endswith("/byteorder") else
            swapped(data, item[int(name.split("/")[-1])]) if "/data/" in name else data)
    write(out, "old", p, p)
    rewrite(out / "old.bin", lambda name, data: None if name.endswith(("byteorder", ".format_version", ".storage_alignment",
                                                                       "serialization_id")) else data)
    legacy_views(out)
    shards = out / "shards"
    shards.mkdir()
    keys, index = sorted(v), {}
    for i in range(2):
        file = f"pytorch_model-{i + 1:05d}-of-00002.bin"
        torch.save({k: v[k] for k in keys[i::2]}, shards / file)
        index |= {k: file for k in keys[i::2]}
    (shards / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}, indent=1))
    save_file(copies(v), out / "shards.safetensors")
    refused(out / "refused")


def random(out, seed, n):
    """State dicts of random views of random storages, in every way of saving them."""
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for i in range(n):
        bases = [(torch.from_numpy(rng.standard_normal(int(np.prod(s)))).reshape(s) * 9).to(DTYPES[rng.integers(4)])
                 for s in (tuple(rng.integers(1, 7, size=rng.integers(0, 4)).tolist()) for _ in range(rng.integers(1, 6)))]
        tensors = {}
        for k in range(rng.integers(1, 12)):
            t = bases[rng.integers(len(bases))]
            for _ in range(rng.integers(0, 4)):
                if t.dim() == 0:
                    t = t.expand(2) if rng.random() < 0.5 else t.reshape(1, 1)
                    continue
                axis = int(rng.integers(t.dim()))
                match rng.integers(6):
                    case 0:
                        t = t.transpose(0, axis)
                    case 1:
                        t = t.narrow(axis, start := int(rng.integers(t.shape[axis] + 1)), int(rng.integers(t.shape[axis] - start + 1)))
                    case 2 if t.shape[axis]:
                        t = t.select(axis, int(rng.integers(t.shape[axis])))
                    case 3:
                        t = t.unsqueeze(axis)
                    case 4:
                        t = t.movedim(axis, -1)[..., ::2]
                    case 5 if t.shape[axis] == 1:
                        t = t.expand(*t.shape[:axis], 3, *t.shape[axis + 1:])
            tensors[f"t{k}.weight"] = torch.nn.Parameter(t) if t.is_floating_point() and rng.random() < 0.3 else t
        content = [tensors, collections.OrderedDict(tensors), {"state_dict": tensors, "n": i}, lightning(tensors)][rng.integers(4)]
        write(out, f"{i:03d}", content, tensors, pickle_protocol=int(rng.integers(2, 6)) if (new := rng.random() < 0.7) else 2,
              _use_new_zipfile_serialization=bool(new))
        if new and rng.random() < 0.3:
            rewrite(out / f"{i:03d}.bin", method=zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--random", type=int)
    p.add_argument("--n", type=int, default=200)
    a = p.parse_args()
    if a.random is None:
        fixtures(a.out)
    else:
        random(a.out, a.random, a.n)

#!/usr/bin/env python3
"""Files of Flax for gomlxmodels/weights: each NAME.msgpack has the same arrays as NAME.safetensors, named by their path.

    python tools/pyref/flaxfiles.py gomlxmodels/weights/testdata/flax

layers.msgpack has the layout of Flax, with layers stacked on the first axis; layers.torch.safetensors is the same network
with one tensor for each layer in torch's layout. Versions: flax 0.12.8, jax 0.10.2, ml_dtypes 0.6.0, safetensors,
Python 3.11+; seed 20261123.
"""

import pathlib
import shutil
import sys

import flax
import jax
import ml_dtypes
import numpy as np
from flax import serialization
from flax.traverse_util import flatten_dict
from safetensors.numpy import save_file

rng = np.random.default_rng(20261123)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def write(out, name, tree):
    (out / f"{name}.msgpack").write_bytes(serialization.to_bytes(tree))
    flat = {"/".join(k): v for k, v in flatten_dict(tree).items()}
    save_file({k: np.ascontiguousarray(v).reshape(v.shape) for k, v in flat.items() if isinstance(v, (np.ndarray, np.generic))},
              out / f"{name}.safetensors")


def main(out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    kinds = [np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32,
             np.uint16, np.uint8, np.bool_]
    write(out, "tree", {
        "dtypes": {np.dtype(k).name: (np.arange(6).reshape(2, 3) - (0 if np.dtype(k).kind in "ub" else 3)).astype(k) for k in kinds},
        "model": {"encoder": {"embed": {"embedding": normal(4, 3)}, "empty": np.zeros((0, 2), np.float32)}},
        "scalar": np.float32(2.5), "array of one": np.array(1.5, np.float32),
        "step": 70000, "negative": -5, "none": None, "flag": True, "rate": 0.1, "complex": 1 + 2j, "name": "x",
    })
    serialization.MAX_CHUNK_SIZE = 40  # bytes; 2**30 as it is
    write(out, "chunked", {"a": {"kernel": normal(5, 7)}, "b": normal(3)})
    serialization.MAX_CHUNK_SIZE = 2**30
    layers, width, wide = 3, 4, 6
    tree = {"layers": {"fc": {"kernel": normal(layers, width, wide), "bias": normal(layers, wide)},
                       "q": {"kernel": normal(layers, width, width)}, "k": {"kernel": normal(layers, width, width)}},
            "conv": {"kernel": normal(3, 2, 5, 4)}, "embed": {"embedding": normal(7, width)}}
    write(out, "layers", tree)
    torch = {"conv.weight": tree["conv"]["kernel"].transpose(3, 2, 0, 1), "embed.weight": tree["embed"]["embedding"]}
    for i in range(layers):
        fc = tree["layers"]["fc"]
        torch |= {f"layers.{i}.fc.weight": fc["kernel"][i].T, f"layers.{i}.fc.bias": fc["bias"][i]}
        torch |= {f"layers.{i}.{n}.weight": tree["layers"][n]["kernel"][i].T for n in "qk"}
    save_file({k: np.ascontiguousarray(v) for k, v in torch.items()}, out / "layers.torch.safetensors")
    print(f"flax {flax.__version__}, jax {jax.__version__}, {sum(f.stat().st_size for f in out.iterdir())} bytes")


main(pathlib.Path(sys.argv[1]))

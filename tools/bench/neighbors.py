"""prdc.compute_prdc on the same sets. Arguments: the numbers of a vector, and k. Command: `run`."""

import contextlib
import io
from importlib.metadata import version

import numpy as np
import prdc

from peer import arguments, folder, peaked, serve

d, k = map(int, arguments)
real, generated = (np.fromfile(folder / f"{name}.f32", dtype=np.float32).reshape(-1, d) for name in ("real", "generated"))


def compute(a, b):
    with contextlib.redirect_stdout(io.StringIO()):
        return prdc.compute_prdc(real_features=a, fake_features=b, nearest_k=k)


compute(real[:256], generated[:256])


def run(_):
    scores, _, mib = peaked(lambda: compute(real, generated))
    return {"mib": mib, "precision": float(scores["precision"]), "coverage": float(scores["coverage"])}


serve(f"prdc {version('prdc')}", run)

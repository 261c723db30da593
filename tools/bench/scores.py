"""clean-fid's distances and vendi-score on the same sets. Argument: the numbers of a vector. Command: `run`."""

import time
from importlib.metadata import version

import numpy as np
from cleanfid.fid import frechet_distance, kernel_distance
from vendi_score import vendi

from peer import arguments, folder, serve

d = int(arguments[0])
real, generated = (np.fromfile(folder / f"{name}.f32", dtype=np.float32).reshape(-1, d).astype(np.float64)
                   for name in ("real", "generated"))


def fd():
    moments = [(x.mean(0), np.cov(x, rowvar=False)) for x in (real, generated)]
    return frechet_distance(*moments[0], *moments[1])


def run(_):
    values, seconds = [], []
    for score in (fd, lambda: kernel_distance(real, generated, num_subsets=1, max_subset_size=len(real)),
                  lambda: vendi.score_dual(generated, normalize=True)):
        start = time.perf_counter()
        values.append(float(np.real(score())))
        seconds.append(time.perf_counter() - start)
    return {"values": values, "seconds": seconds}


serve(f"clean-fid {version('clean-fid')}, vendi-score {version('vendi-score')}", run)

"""Scores of two sets by other libraries. Argument: the numbers of a vector. Command: `run`."""

from importlib.metadata import version

import numpy as np
import torch
from cleanfid import fid
from torch_fidelity import metric_fid, metric_kid
from vendi_score import vendi

from peer import arguments, folder, peaked, serve

d = int(arguments[0])
real, generated = (np.fromfile(folder / f"{name}.f32", dtype=np.float32).reshape(-1, d).astype(np.float64)
                   for name in ("real", "generated"))


def clean_distance():
    moments = [(x.mean(0), np.cov(x, rowvar=False)) for x in (real, generated)]
    return fid.frechet_distance(*moments[0], *moments[1])


def clean_kernel():
    return fid.kernel_distance(real, generated, num_subsets=1, max_subset_size=len(real))


def fidelity_distance():
    moments = [metric_fid.fid_features_to_statistics(torch.from_numpy(x)) for x in (real, generated)]
    return metric_fid.fid_statistics_to_metric(*moments, False)["frechet_inception_distance"]


def fidelity_kernel():
    return metric_kid.kernel_mmd(real, generated, kid_kernel="poly", kid_kernel_poly_degree=3,
                                 kid_kernel_poly_gamma=None, kid_kernel_poly_coef0=1)


def gaussian_kernel():
    """CMMD's definition; cmmd-pytorch is in no package index."""
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (real, generated))

    def mean(a, b):
        return np.exp(-(np.sum(a * a, 1)[:, None] + np.sum(b * b, 1) - 2 * a @ b.T) / 200).mean()
    return 1000 * (mean(x, x) + mean(y, y) - 2 * mean(x, y))


def diversity():
    return vendi.score_dual(generated, normalize=True)


def run(_):
    results = [peaked(f) for f in (clean_distance, fidelity_distance, clean_kernel, fidelity_kernel, gaussian_kernel,
                                   diversity)]
    values, seconds, peaks = zip(*results)
    return {"values": [float(np.real(v)) for v in values], "seconds": seconds, "peaks": peaks}


serve(", ".join(f"{name} {version(name)}" for name in ("clean-fid", "torch-fidelity", "numpy", "vendi-score")), run)

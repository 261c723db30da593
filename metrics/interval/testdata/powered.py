"""Writes powered.json: prediction-powered intervals of means by ppi_py (published), and the adjusted ones by numpy.

Run with ppi-python 0.2.3, numpy and scipy: python powered.py > powered.json
"""
import json

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy import stats


def adjusted(labels, judged, rest, level):
    """A half of each pair of 0 and 1 is added, and the quantile is Student's."""
    free = len(labels) - 1
    weights = np.concatenate([np.ones(len(labels)), np.full(4, 0.5)])
    y, f = np.concatenate([labels, [0, 0, 1, 1]]), np.concatenate([judged, [0, 1, 0, 1]])
    n, k = weights.sum(), len(rest)
    covariance = np.cov(y, f, aweights=weights, ddof=0)[0, 1]
    lam = np.clip(covariance / ((1 + n / k) * np.var(np.concatenate([f, rest]), ddof=1)), 0, 1)
    errors = y - lam * f
    center = lam * rest.mean() + np.average(errors, weights=weights)
    se = np.sqrt(lam**2 * rest.var() / k + np.average((errors - np.average(errors, weights=weights)) ** 2, weights=weights) / n)
    half = stats.t.ppf((1 + level) / 2, free) * se
    return [center - half, center + half]


rng = np.random.default_rng(40)
cases = []
for name, n, k, rate, wrong, level in [
    ("a good judge", 30, 270, 0.6, 0.05, 0.95),
    ("a poor judge", 25, 100, 0.3, 0.35, 0.9),
    ("a judge that is never wrong", 12, 90, 0.7, 0.0, 0.95),
    ("a judge of no use", 20, 80, 0.5, 0.5, 0.95),
    ("scores", 40, 160, None, 0.4, 0.99),
]:
    if rate is None:
        truth = rng.normal(3, 1, n + k)
        judge = truth + rng.normal(0.5, wrong, n + k)
    else:
        truth = (rng.random(n + k) < rate).astype(float)
        judge = np.where(rng.random(n + k) < wrong, 1 - truth, truth)
    y, f, u = truth[:n], judge[:n], judge[n:]
    low, high = ppi_mean_ci(y, f, u, alpha=1 - level)
    case = {"name": name, "labels": y, "judged": f, "rest": u, "level": level,
            "value": float(np.squeeze(ppi_mean_pointestimate(y, f, u))),
            "published": [float(np.squeeze(low)), float(np.squeeze(high))]}
    if rate is not None:
        case["adjusted"] = [float(x) for x in adjusted(y, f, u, level)]
    cases.append({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in case.items()})
print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")

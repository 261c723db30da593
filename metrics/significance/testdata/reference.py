#!/usr/bin/env python3
"""Golden values of package significance from scipy 1.17.1 and statsmodels 0.15.0 (numpy 2.4.6), seed 5.

    python metrics/significance/testdata/reference.py
"""

import json
import pathlib

import numpy as np
from scipy.stats import mannwhitneyu, permutation_test, spearmanr
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_effectsize

rng = np.random.default_rng(5)
out = {"families": [], "means": [], "paired": [], "gaps": [], "h": []}
for n in (1, 2, 7, 40):
    p = rng.uniform(0, 1, n) ** 2
    p[n // 2] = p[0]  # a tie
    out["families"].append({"p": p.tolist(), "holm": multipletests(p, method="holm")[1].tolist(), "bh": multipletests(p, method="fdr_bh")[1].tolist()})
mean = lambda a, b: np.mean(a) - np.mean(b)
for n, m, whole in ((3, 4, False), (7, 6, False), (6, 8, True), (2, 5, False)):
    a, b = rng.normal(0.5, 1, n), rng.normal(0, 1, m)
    if whole:
        a, b = np.round(a * 2), np.round(b * 2)  # ties
    p = permutation_test((a, b), lambda x, y: abs(mean(x, y)), permutation_type="independent", alternative="greater", n_resamples=np.inf).pvalue
    u = mannwhitneyu(a, b).statistic
    row = {"a": a.tolist(), "b": b.tolist(), "difference": mean(a, b), "p": p, "delta": 2 * u / (n * m) - 1}
    row["d"] = mean(a, b) / np.sqrt(((n - 1) * a.var(ddof=1) + (m - 1) * b.var(ddof=1)) / (n + m - 2))
    out["means"].append(row)
for n in (2, 5, 11):
    d = rng.normal(0.4, 1, n)
    p = permutation_test((d, np.zeros(n)), lambda x, y: abs(mean(x, y)), permutation_type="samples", alternative="greater", n_resamples=np.inf).pvalue
    out["paired"].append({"d": d.tolist(), "p": float(p)})
for n, m, alpha, power in ((50, 50, 0.05, 0.8), (170, 80, 0.01, 0.9), (16, 400, 0.05, 0.95)):
    out["gaps"].append({"n": n, "m": m, "alpha": alpha, "power": power, "effect": float(NormalIndPower().solve_power(nobs1=n, ratio=m / n, alpha=alpha, power=power))})
for p, q in ((0.1, 0.3), (0.5, 0.5), (0.0, 1.0)):
    out["h"].append({"p": p, "q": q, "h": float(proportion_effectsize(p, q))})
out["ranks"] = []
for n, decimals in ((2, 9), (5, 9), (12, 0), (40, 1), (7, 0)):
    x = np.round(rng.normal(0, 1, n), decimals)  # few decimals make ties
    y = np.round(0.6 * x + rng.normal(0, 1, n), decimals)
    out["ranks"].append({"x": x.tolist(), "y": y.tolist(), "rho": float(spearmanr(x, y).statistic)})
pathlib.Path(__file__).with_name("reference.json").write_text(json.dumps(out, indent=1, default=float) + "\n")

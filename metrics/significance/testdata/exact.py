"""Exact permutation tests of values that are 0 or 1, by scipy, for TestExact.

Command: python exact.py > exact.json        Versions: numpy 2.4.6, scipy 1.17.1
Two-sided: the permutations whose difference is at least as large as the observed one, in absolute value.
"""
import json
import numpy as np
from scipy.stats import binomtest, hypergeom

out = {"means": [], "paired": []}
for ones, n, others, m in ((7, 9, 2, 9), (30, 40, 12, 30), (0, 25, 6, 25), (54, 108, 40, 108), (950, 1000, 2700, 3000)):
    k = np.arange(n + 1)
    p = hypergeom(n + m, ones + others, n).pmf(k)
    difference = np.abs(k / n - (ones + others - k) / m)
    p = p[difference >= abs(ones / n - others / m) * (1 - 1e-12)].sum()
    out["means"].append({"ones": ones, "n": n, "others": others, "m": m, "p": p})
for up, down, same in ((9, 2, 19), (0, 20, 0), (15, 15, 5), (600, 500, 900)):
    out["paired"].append({"up": up, "down": down, "same": same, "p": binomtest(up, up + down).pvalue})
print(json.dumps(out, indent=1))

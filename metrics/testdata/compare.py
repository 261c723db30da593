"""Writes compare.json: intervals of a change, by scipy 1.17; python metrics/testdata/compare.py."""
import json
import pathlib

import numpy as np
from scipy import stats

rng = np.random.default_rng(4)
cases = []
for name, n, m in (("pairs", 12, 12), ("pairs", 60, 60), ("independent", 15, 20), ("independent", 60, 60)):
    a, b = rng.normal(0, 1, n), rng.normal(0.3, 1.1, m)
    if name == "pairs":
        b += a
        interval = stats.ttest_rel(b, a).confidence_interval(0.95)
    else:
        interval = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    cases.append({"name": f"{n} and {m} {name}", "paired": name == "pairs", "a": a.round(9).tolist(),
                  "b": b.round(9).tolist(), "mean": b.round(9).mean() - a.round(9).mean(),
                  "low": interval.low, "high": interval.high})
path = pathlib.Path(__file__).with_name("compare.json")
path.write_text(json.dumps(cases, indent=1) + "\n")

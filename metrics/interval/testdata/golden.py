"""Bootstrap intervals of means by numpy and scipy, for golden_test.go.

Command: python golden.py > golden.json        Seed: 20261125        Versions: numpy 2.4.6, scipy 1.17.1
scipy.stats.bootstrap takes the percentiles of its own resamples at the expanded level (Hesterberg 2015, section 5.3).
"""
import json, math
import numpy as np
from scipy import stats

rng, cases = np.random.default_rng(20261125), []
for name, values in {"9 shares": [0, 1, 1, 0, 1, 1, 1, 0, 1], "10 values": np.round(rng.normal(5, 2, 10), 3).tolist(),
                     "30 skewed": np.round(rng.exponential(1, 30), 3).tolist()}.items():
    n = len(values)
    for level in (0.95, 0.8):
        tail = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1))
        own = stats.bootstrap((values,), np.mean, n_resamples=50_000, method="percentile", random_state=rng,
                              confidence_level=1 - 2 * tail)
        some = np.round(own.bootstrap_distribution[:199], 6)
        low, high = np.quantile(some, [tail, 1 - tail], method="weibull")
        cases.append({"name": name, "values": values, "level": level, "tail": tail, "resamples": some.tolist(),
                      "low": low, "high": high, "scipy_low": own.confidence_interval.low,
                      "scipy_high": own.confidence_interval.high})
print(json.dumps(cases))

#!/usr/bin/env python3
"""Golden values of package agreement from krippendorff 0.9.0 and statsmodels 0.15.0, seed 3.

    python metrics/agreement/testdata/reference.py
"""

import json
import pathlib

import krippendorff
import numpy as np
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

rng = np.random.default_rng(3)
out = []
for raters, items, labels, missing in ((3, 40, 4, 0), (2, 12, 2, 0), (5, 60, 5, 0.3), (4, 9, 3, 0.3)):
    truth = rng.integers(0, labels, items)
    ratings = np.where(rng.uniform(size=(raters, items)) < 0.6, truth, rng.integers(0, labels, (raters, items))).astype(float)
    ratings[rng.uniform(size=ratings.shape) < missing] = np.nan
    values = np.cumsum(rng.integers(1, 4, labels)).astype(float)
    counts = np.array([[int((column == c).sum()) for c in range(labels)] for column in ratings.T])
    row = {"counts": counts.tolist(), "values": values.tolist()}
    for level in ("nominal", "ordinal", "interval"):
        shown = np.where(np.isnan(ratings), np.nan, values[np.nan_to_num(ratings).astype(int)])
        row[level] = float(krippendorff.alpha(reliability_data=shown, level_of_measurement=level))
    if not missing:
        row["kappa"] = float(fleiss_kappa(aggregate_raters(ratings.T.astype(int))[0], method="fleiss"))
    out.append(row)
pathlib.Path(__file__).with_name("reference.json").write_text(json.dumps(out, indent=1) + "\n")

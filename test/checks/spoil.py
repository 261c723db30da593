"""Writes a Parquet table with pandas in which one vector holds a NaN: python spoil.py OUT.parquet"""

import sys

import numpy as np
import pandas as pd

rng = np.random.default_rng(3)
vectors = [rng.standard_normal(8).astype(np.float32) for _ in range(12)]
vectors[4][2] = np.nan
pd.DataFrame({"id": [f"v{i}" for i in range(12)], "region": ["north"] * 12, "full": vectors}).to_parquet(sys.argv[1])

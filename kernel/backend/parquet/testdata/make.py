#!/usr/bin/env python3
"""Tables as other programs write them: the files that TestForeign reads, with two images of 4 × 3 pixels.

    python make.py        (in this folder)

Versions: pandas 3.1.1, polars 2.1.0, pyarrow 26.0.1, datasets 5.2.0, Pillow 13.0.0, numpy as they require. Nothing is random.
"""

import datetime
import decimal

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

for name, color in {"a.png": (200, 30, 30), "b.png": (30, 30, 200)}.items():
    Image.new("RGB", (4, 3), color).save(name)

day = datetime.datetime(2024, 5, 17, 8, 30)

frame = pd.DataFrame(
    {
        "id": [1, 2**53 + 1],
        "image": ["a.png", "b.png"],
        "region": pd.Categorical(["north", "south"]),
        "seed": np.array([7, 8], np.uint8),
        "held_out": [True, False],
        "reason": [None, None],
        "full": [np.array([1, 2.5], np.float32), None],
        "share": [0.5, np.nan],
        "made": [day, pd.NaT],
    }
)
frame.to_parquet("pandas.parquet")
frame.drop(columns="id").set_index(pd.Index(["p", "q"])).to_parquet("pandas_index.parquet")

pl.DataFrame(
    {
        "id": pl.Series([1, 2], dtype=pl.UInt64),
        "image": ["a.png", "b.png"],
        "region": pl.Series(["north", "south"], dtype=pl.Categorical),
        "group": pl.Series(["x", None], dtype=pl.Enum(["x", "y"])),
        "seed": pl.Series([7, None], dtype=pl.Int32),
        "held_out": [True, False],
        "mask": pl.Series([None, None], dtype=pl.Null),
        "full": pl.Series([[1, 2.5], None], dtype=pl.Array(pl.Float32, 2)),
        "object_only": pl.Series([[1, 2.5, 3], []], dtype=pl.List(pl.Float64)),
        "made": [day, None],
        "on": [day.date(), None],
    }
).write_parquet("polars.parquet")

features = datasets.Features(
    {"id": datasets.Value("int32"), "image": datasets.Image(), "label": datasets.ClassLabel(names=["x", "y"]), "full": datasets.List(datasets.Value("float32"), length=2)}
)
datasets.Dataset.from_dict(
    {"id": [1, 2], "image": [Image.new("RGB", (4, 3), (200, 30, 30)), Image.open("b.png")], "label": [0, 1], "full": [[1, 2.5], None]}, features=features
).to_parquet("huggingface.parquet")

pq.write_table(
    pa.table(
        {
            "id": pa.array(["p", "q"], pa.large_string()),
            "language": pa.array(["en", None]).dictionary_encode(),
            "axis": pa.array([1.0, 2.5]),
            "prompt_id": pa.array([2**64 - 1, None], pa.uint64()),
            "full": pa.array([[1, 2.5], [3]], pa.large_list(pa.float16())),
            "half": pa.array([np.float16(-0.5), None], pa.float16()),
            "price": pa.array([decimal.Decimal("-1.25"), None], pa.decimal128(9, 2)),
            "took": pa.array([90, None], pa.duration("s")),
            "at": pa.array([day.time(), None], pa.time64("us")),
            "made": pa.array([day, None], pa.timestamp("ms", "UTC")),
            "image": pa.array([open("a.png", "rb").read(), None], pa.binary()),
            "mask": pa.array([{"bytes": open("b.png", "rb").read(), "path": "m.png"}, {"bytes": None, "path": "b.png"}]),
            "plain": pa.array([b"text", b"bytes"], pa.binary()),
            "raw": pa.array([b"\xff\xd8", None], pa.binary()),
            "boxes": pa.array([[[1.0, 2.0]], [[3.0], [4.0]]]),
            "objects": pa.array([[{"label": 1}], []]),
            "tags": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
            "size": pa.array([{"width": 4, "height": 3}, None]),
        }
    ),
    "pyarrow.parquet",
)
pq.write_table(pa.table({"id": ["a"], "made": pa.array([day], pa.timestamp("ns"))}), "int96.parquet", use_deprecated_int96_timestamps=True)

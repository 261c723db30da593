"""Reads the tables that the commands of docs/command_line.md write with pandas, polars and DuckDB: python3 tables.py FOLDER.

Tried with pandas 2 and 3, polars 1, DuckDB 1, pyarrow 17 to 22.
"""

import hashlib
import math
import pathlib
import sys

import duckdb
import pandas
import polars

folder = pathlib.Path(sys.argv[1])

# What each table of the chain has, and what it lacks.
HAS = {
    "g.parquet": "id image prompt object region seed model outcome",
    "m.parquet": "id image mask prompt object region seed outcome",
    "e.parquet": "id image mask prompt object region outcome full object_only background_only",
    "r.parquet": "id image mask object region full object_only background_only",
    "c.parquet": "id image_id image mask prompt object region caption",
    "i.parquet": "id image prompt clip_image",
    "t.parquet": "id image prompt clip_image clip_text",
    "s.csv": "region precision precision_low precision_high coverage n_real n_generated n_used",
    "clip_scores.csv": "region clip_score clip_score_low clip_score_high",
}
LACKS = {"c.parquet": "full object_only background_only"}
VECTORS = "full object_only background_only clip_image clip_text".split()


def pandas_rows(path):
    frame = pandas.read_parquet(path) if path.suffix == ".parquet" else pandas.read_csv(path)
    return list(frame.columns), frame.to_dict("records")


def polars_rows(path):
    frame = polars.read_parquet(path) if path.suffix == ".parquet" else polars.read_csv(path)
    return frame.columns, frame.to_dicts()


def duckdb_rows(path):
    relation = duckdb.sql(f"select * from '{path}'")
    return relation.columns, [dict(zip(relation.columns, row)) for row in relation.fetchall()]


def check_row(name, row):
    if name.endswith(".csv"):
        for column, value in row.items():
            if column.endswith(("precision", "coverage", "clip_score")):
                assert isinstance(value, float) and math.isfinite(value), (name, column, value)
        return
    image = row["image"]
    path = folder / image["path"]
    assert not pathlib.PurePosixPath(image["path"]).is_absolute(), image
    assert hashlib.sha256(path.read_bytes()).hexdigest() == image["sha256"], path
    for column in VECTORS:
        if row.get(column) is not None:
            assert all(math.isfinite(x) for x in row[column]) and len(row[column]) >= 64, (name, column)
    if "mask" in row and row["mask"] is not None:
        assert len(row["mask"]["size"]) == 2 and row["mask"]["counts"], (name, row["id"])


readers = {"pandas": pandas_rows, "polars": polars_rows, "duckdb": duckdb_rows}
for name, columns in HAS.items():
    shapes = {}
    for library, read in readers.items():
        found, rows = read(folder / name)
        missing = set(columns.split()) - set(found)
        surplus = set(LACKS.get(name, "").split()) & set(found)
        assert not missing and not surplus, (name, library, missing, surplus, found)
        assert rows, (name, library)
        if "id" in found:
            assert len({row["id"] for row in rows}) == len(rows), (name, library)
        for row in rows:
            check_row(name, row)
        shapes[library] = (len(rows), [str(c) for c in found])
    assert len({str(s) for s in shapes.values()}) == 1, (name, shapes)
    print(name, len(rows), "rows:", ", ".join(found))

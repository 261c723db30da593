// Package parquet reads and writes tables as Parquet files: text as STRING, numbers as DOUBLE, vectors as LIST<FLOAT>,
// masks as STRUCT<size LIST<INT32>, counts STRING> (COCO's compressed run lengths), and images as STRUCT<sha256 STRING,
// path STRING>. pandas, polars, DuckDB and pycocotools read these files directly. [Read] also reads files of pandas,
// polars, DuckDB and the Hugging Face library datasets.
package parquet

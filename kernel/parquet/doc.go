// Package parquet reads and writes tables at rest: text as STRING, numbers as DOUBLE, a vector as LIST<FLOAT>, a mask as
// STRUCT<size LIST<INT32>, counts STRING> (COCO's compressed run lengths), an image as STRUCT<sha256 STRING, path STRING>.
// pandas, polars, DuckDB and pycocotools read these files as they are; files that those and Hugging Face's datasets
// write are read here.
package parquet

// Package commands implements the antipode command and its subcommands, such as `antipode run`, `embed` and `score`.
//
// A subcommand returns an error; [Main] prints it as one line and returns the exit status: 0 done, 1 failed, 2 usage
// error, 130 interrupted.
//
// # Images of other generators
//
// `antipode import` makes a table of a folder of images. Prompts, seeds and other values are read from the file names
// by patterns, from a sidecar CSV, or from the flags; see datasets.Imported.
//
//	antipode import --dir export --model midjourney-v6 --midjourney --language en --out export/t.parquet
//	antipode import --dir grids --model dalle-mini --sidecar prompts.csv --grid 3 --margin 8 --gap 4 --out t.parquet
//	antipode import --dir out --model other --names '{language}/{prompt:words}_{seed:number}' --out out/t.parquet
//
// The images of a grid are written next to the table; other images stay in the folder. Images that cannot be decoded or
// cut are listed and nothing is written, unless --skip-bad leaves them out.
package commands

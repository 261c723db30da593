// Package commands is the antipode command: what `antipode run`, `embed`, `score` and the others do with their arguments.
//
// Every command returns an error; [Main] prints it as one line and turns it into the exit status: 0 done, 1 failed, 2
// wrong usage, 130 interrupted.
//
// # Pictures made elsewhere
//
// `antipode import` makes a table of a folder of pictures, for the commands that read tables. What is known of a picture comes from its
// name, by patterns, from a sidecar CSV, or from the flags; see datasets.Imported.
//
//	antipode import --dir export --model midjourney-v6 --midjourney --language en --out export/t.parquet
//	antipode import --dir grids --model dalle-mini --sidecar prompts.csv --grid 3 --margin 8 --gap 4 --out t.parquet
//	antipode import --dir out --model other --names '{language}/{prompt:words}_{seed:number}' --out out/t.parquet
//
// A grid is cut once, and its pictures are put beside the table; other pictures stay where they are. Pictures that cannot be decoded or
// cut are listed, and nothing is written, unless --skip-bad leaves them out.
package commands

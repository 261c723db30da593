// Package datasets defines the [Table], the value that every other package takes and returns.
//
// A table is a lazy, immutable plan for rows and columns. Creating one does no work and prints nothing. [Table.Run],
// [Table.Rows], [Table.Show], [Table.Print] and [Table.Save] do the work: they send the plan to the resident backend,
// which stores the result of every row. Running a notebook again computes only what is missing.
//
//	photos := datasets.CSV("photos/images.csv")
//	indoor := photos.Where("scene", "==", "indoor").Sample(20, "region", 7)
//	plots.Show(plots.Grid{Table: indoor, Rows: "region"})
//
// # Read your own data
//
// [CSV] and [Parquet] read a table, [Folder] lists the images of a folder, and [Images] accepts any of the three.
// [Imported] reads a folder of images that a generator outside Antipode made, with prompts and seeds from the file
// names or from a CSV file. [FromRows] and [FromFrame] return the table of rows in memory. The data sets of the
// published audits are in the packages below this one.
//
// Columns have the type that their name has in the column contract (id and region are text, image is an image); other
// columns are text or numbers. [Table.Bad] lists the rows that cannot be used, such as files that cannot be decoded,
// and [Table.Good] returns the table without them.
//
// # Select, combine and order rows
//
//   - Rows: [Table.Where], [Table.Head], [Table.Sample], [Table.Sort], [Table.SortDown], [Table.Concat],
//     [Table.Repeat], [Table.Questions].
//   - Columns: [Table.Select], [Table.With], [Table.Rename], [Table.Join], [Table.RemovePrefix], [Table.SeedBy],
//     [Table.MasksFrom], [Table.GrowMasks].
//   - Groups: [Table.GroupBy] with [Grouped.Mean] and others, [Table.Count], [Table.Unique].
//   - Functions of your own: [Table.Apply] for rows, [Table.ApplyImage] for images.
//
// For anything else, get the rows with [Table.Rows], compute in Go, and return to a table with [FromRows].
//
// # Show and save
//
// [Table.Show] shows the first rows with thumbnails of images and masks, [Table.Print] prints them as text, and
// [Table.Save] writes a .parquet or .csv file. [Table.Run] computes the table without showing it.
//
// # Use values in a notebook
//
// [Table.Number], [Table.Text] and [Table.Value] return the value of a table of one row, [Table.Sum] the sum of a
// column, and [Table.MustRows] all rows:
//
//	cell.Expect("images", photos.Len(), 120)
//	cell.Expect("coverage of Kenya", scores.Where("region", "==", "Kenya").Number("coverage"), "0.39")
//
// # The built-in world
//
// [Archipelago] returns a fictional world, drawn by code, with exact masks, prompts in invented languages and injected
// disparities of known size. It needs no network:
//
//	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, Injected: true})
//	world.InjectedDisparities().Show()
//
// # Errors
//
// A table knows its columns when it is created. Using a missing column returns a table in error: the error is reported
// when the table runs, with the line of the program that created it. Methods without an error result end a notebook
// cell with one line on failure and panic with the error elsewhere; [Table.RunE], [Table.ShowE], [Table.SaveE] and
// [Table.Rows] return errors.
package datasets

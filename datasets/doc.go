// Package datasets holds the one thing that moves through Antipode: the [Table].
//
// A table is a plan. Making one does no work and prints nothing; it only notes what would have to be done, and knows
// its columns. Work happens in [Table.Run], [Table.Rows], [Table.Show], [Table.Print] and [Table.Save], and is done by
// the resident backend, which keeps every item it computes: a notebook run again is a notebook resumed.
//
//	photos := datasets.CSV("photos/images.csv")
//	indoor := photos.Where("scene", "==", "indoor").Sample(20, "region", 7)
//	plots.Grid(indoor, plots.Rows("region")).Show()
//
// [Table.Show] shows the first rows with thumbnails of images and masks; [Table.Print] prints them as text.
//
// # Sources
//
// [CSV], [Parquet], [Folder] and [FromRows] read what you have; [Archipelago] is the built-in fictional world; the
// data sets of the published audits have constructors of their own.
//
// # Errors
//
// A table knows its columns when it is made. One that asks for a column that is not there is in error from there on:
// nothing happens until it is run, and the message then names the line that made it.
package datasets

// Package record writes what a notebook's conclusions rest on into a folder, and recomputes it on another machine.
//
// The folder is an RO-Crate 1.2 (Soiland-Reyes et al. 2022, https://w3id.org/ro/crate/1.2) with the terms of Process
// Run Crate:
//
//	ro-crate-metadata.json   the run, its parameters, software and machine, and every file with its SHA-256 (JSON-LD)
//	manifest-sha256.txt      the SHA-256 of every other file, as sha256sum writes it; its own is that of the record
//	NAME.ipynb, NAME.html    the executed notebook and its page
//	results/NNN-NAME.json    a score or saved table: plan, digests of its inputs, models, device, versions, columns
//	results/NNN-NAME.csv     its rows, with all digits; images are SHA-256, vectors and masks are left out
//	conclusions.csv          the verdicts in all results, and the signs of the gaps that they flag
//	files.csv                the files that were read, with their SHA-256
//	licenses.csv             data sets and models with their licenses
//	kept/                    tables that functions of the notebook computed (cell.Keep)
//	images/                  images of the results, on request
//
// Paths begin with a place instead of a folder of the machine: see [places].
package record

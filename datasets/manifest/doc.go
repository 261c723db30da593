// Package manifest describes where the data sets of the published audits come from, downloads them and checks them.
// The fonts that figures need are downloaded and checked the same way ([Fonts]).
//
// Each data set has one [Manifest]: title, origin, version, license, citation, and for every file the address, the
// commit, the SHA-256 of the bytes upstream publishes and that of our normalized form (identifiers of crowd workers
// replaced by labels, workbooks converted to CSV). A file is accepted if it is one of the two; anything else is an
// error that shows both hashes. [Pull] downloads the files and stores the normalized form only; [Find] locates a data
// set on this machine.
//
// The packages of the data sets (datasets/visage, …) register their manifests; importing one makes its name known here.
package manifest

// Package manifest says where the data sets of the published audits come from, and fetches and checks them; the fonts that
// pictures need are fetched and checked the same way ([Fonts]).
//
// Each data set has one [Manifest]: title, origin, version, licence, citation, and for every file the address, the
// commit, the SHA-256 of the bytes upstream publishes and that of our normalised form (identifiers of crowd workers
// replaced by labels, workbooks turned into CSV). A file is accepted when it is one of the two; anything else is refused
// with both hashes. [Pull] fetches and stores the normalised form only; [Find] says where a data set lies on this machine.
//
// The packages of the data sets (datasets/visage, …) register their manifests; importing one makes its name known here.
package manifest

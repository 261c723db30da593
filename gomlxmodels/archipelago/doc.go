// Archipelago trains the small models that go with the Archipelago, in Go with GoMLX, and writes them as Hugging Face lays
// models out. From the repository's root:
//
//	go run ./gomlxmodels/archipelago train vit             # train, resume, export; see -h
//	go run ./gomlxmodels/archipelago score vit             # held-out scores of the shipped weights
//	go run ./gomlxmodels/archipelago sheet docs/archipelago.png   # a contact sheet of the world
//
// Training draws every picture afresh, so no picture is seen twice and there is no data set to fetch. Batch k of a run
// depends on (seed, k) alone: a run that was killed goes on from its last checkpoint as if nothing had happened.
package main

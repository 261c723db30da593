// Archipelago trains the small models that go with the Archipelago, in Go with GoMLX, and writes them as Hugging Face lays
// models out. From the repository's root:
//
//	go run ./gomlxmodels/archipelago train NAME            # train, resume, export, score; see -h
//	go run ./gomlxmodels/archipelago score NAME            # held-out scores of the shipped weights
//	go run ./gomlxmodels/archipelago sheet docs/archipelago.png   # a contact sheet of the world
//	go run ./gomlxmodels/archipelago sheet NAME FILE.png   # a contact sheet of what a model makes
//
// Training draws every example afresh, so no picture is seen twice and there is no data set to fetch. What a run is stands in
// package trainer; each model has a folder beside it.
package main

// Archipelago trains the small models of the Archipelago with GoMLX and exports them in the Hugging Face layout. Run it
// in the repository's root:
//
//	go run ./gomlxmodels/archipelago train NAME            # train or resume, export and score; see -h
//	go run ./gomlxmodels/archipelago score NAME            # scores of the exported model on held-out data
//	go run ./gomlxmodels/archipelago sheet docs/archipelago.png   # a contact sheet of the world
//	go run ./gomlxmodels/archipelago sheet NAME FILE.png   # a contact sheet of a model's outputs
//
// Training examples are generated as needed: each image is used once, and no data set is downloaded. Package trainer is
// the training loop; each model has a package next to it.
package main

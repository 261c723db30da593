// Package weights carries the small models trained on the Archipelago inside the program, each a folder as Hugging Face lays
// models out. It is imported by what runs models, never by a notebook's cell.
package weights

import (
	"embed"
	"io/fs"
)

//go:embed archipelago-*
var files embed.FS

// ViT is the name of the Vision Transformer's folder. Each folder's README.md is the model card, training.json the report of its training.
const ViT = "archipelago-vit"

// FS holds the model folders, one by name: for example archipelago-vit/model.safetensors.
func FS() fs.FS { return files }

// Names lists the models.
func Names() []string {
	folders, err := files.ReadDir(".")
	if err != nil {
		panic(err) // an embedded folder can be read
	}
	var names []string
	for _, f := range folders {
		names = append(names, f.Name())
	}
	return names
}

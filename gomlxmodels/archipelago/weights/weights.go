// Package weights embeds the small models that are trained on the Archipelago, each a folder in the Hugging Face
// layout. Notebook cells do not import it.
package weights

import (
	"embed"
	"io/fs"
)

//go:embed archipelago-*
var files embed.FS

// ViT is the folder of the Vision Transformer. Each folder has a model card, README.md, and a training report,
// training.json.
const ViT = "archipelago-vit"

// FS returns the model folders, with paths such as archipelago-vit/model.safetensors.
func FS() fs.FS { return files }

// Names returns the names of the models.
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

package gomlxmodels

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"antipode/kernel/client"
)

// Model is a model known by name.
type Model struct {
	Name         string
	Hub          string // OWNER/NAME on the Hugging Face hub; "" = shipped with Antipode
	Architecture string // the class of transformers, timm or sentence-transformers that saves it
	Parameters   string // their number, for people
	Licence      string // as its card says; "" = read the card
	About        string // what it is for
	Columns      string // what it adds to a table
}

// ArchipelagoViT is the built-in image encoder, trained on the Archipelago.
const ArchipelagoViT = "archipelago-vit"

// Known lists the models known by name: those shipped, then those of the audits that `antipode models pull` fetches.
func Known() []Model {
	return []Model{
		{ArchipelagoViT, "", "ViTModel", "1.3 M", "Apache-2.0", "image encoder of the built-in world, small", "full object_only background_only"},
		{"archipelago-blip", "", "BlipForConditionalGeneration", "2.1 M", "Apache-2.0", "English captions of the built-in world's pictures, small", "caption"},
		{"archipelago-clip", "", "CLIPModel", "1.8 M", "Apache-2.0", "the built-in world's pictures and texts in five languages in one space, small", "clip_image clip_text"},
		{"archipelago-clipseg", "", "CLIPSegForImageSegmentation", "2.3 M", "Apache-2.0", "masks from words in the built-in world's pictures, small", "mask mask_score mask_area mask_components"},
		{"archipelago-diffusion", "", "StableDiffusionPipeline", "3.4 M", "Apache-2.0", "pictures of the built-in world, small; in its training, disparities were planted", "image"},
		{"archipelago-diffusion-fair", "", "StableDiffusionPipeline", "3.4 M", "Apache-2.0", "the same, from a world in which nothing is planted", "image"},
		{"vit-base-patch16-224", "google/vit-base-patch16-224", "ViTForImageClassification", "86 M", "Apache-2.0", "image encoder of Decomposed-DIG", "full object_only background_only"},
		{"clip-vit-base-patch32", "openai/clip-vit-base-patch32", "CLIPModel", "151 M", "", "pictures and English texts in one space: CoCo-CroLa, ENTIGEN's judge", "clip_image clip_text"},
		{"clip-vit-large-patch14", "openai/clip-vit-large-patch14", "CLIPModel", "428 M", "", "the same, larger", "clip_image clip_text"},
		{"altclip-m9", "BAAI/AltCLIP-m9", "AltCLIPModel", "864 M", "", "pictures and texts in nine languages", "clip_image clip_text"},
		{"clipseg", "CIDAS/clipseg-rd64-refined", "CLIPSegForImageSegmentation", "151 M", "Apache-2.0", "masks from words", "mask mask_score mask_area mask_components"},
		{"blip-image-captioning-base", "Salesforce/blip-image-captioning-base", "BlipForConditionalGeneration", "247 M", "BSD-3-Clause", "English captions of pictures", "caption"},
		{"blip2-opt-2.7b", "Salesforce/blip2-opt-2.7b", "Blip2ForConditionalGeneration", "3.7 G", "MIT", "English captions, and vectors of pictures: IndicTTI's CLGC and IGC", "caption blip2_image"},
		{"blip2-itm-vit-g", "Salesforce/blip2-itm-vit-g", "Blip2ForImageTextRetrieval", "1.2 G", "", "pictures and English texts in one space: IndicTTI's LGC", "blip2_image blip2_text"},
		{"stable-diffusion-v1-5", "stable-diffusion-v1-5/stable-diffusion-v1-5", "StableDiffusionPipeline", "1.1 G", "CreativeML OpenRAIL-M", "pictures of English prompts: Decomposed-DIG, IndicTTI", "image"},
		{"all-minilm-l6-v2", "sentence-transformers/all-MiniLM-L6-v2", "SentenceTransformer (BertModel)", "23 M", "Apache-2.0", "small encoder of English sentences", "text"},
		{"all-mpnet-base-v2", "sentence-transformers/all-mpnet-base-v2", "SentenceTransformer (MPNetModel)", "109 M", "Apache-2.0", "encoder of English sentences: IndicTTI's CLGC", "text"},
		{"paraphrase-multilingual-mpnet-base-v2", "sentence-transformers/paraphrase-multilingual-mpnet-base-v2", "SentenceTransformer (XLMRobertaModel)", "278 M", "Apache-2.0", "encoder of sentences in some fifty languages", "text"},
	}
}

// Find is the model known under a name.
func Find(name string) (Model, bool) {
	known := Known()
	i := slices.IndexFunc(known, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return known[i], true
}

// Nearest returns the end of a message about an unknown model: `; did you mean "NAME"?` where a known name is similar,
// or "".
func Nearest(name string) string {
	var names []string
	for _, m := range Known() {
		names = append(names, m.Name)
	}
	return client.Hint(name, names)
}

// hubName is a model on the hub, OWNER/NAME or OWNER/NAME@REVISION.
var hubName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*(@[A-Za-z0-9._/-]+)?$`)

// resolve is what a plan says of a model: a known name or a name on the hub as it is, a folder by its absolute path.
func resolve(model string) (string, error) {
	if _, known := Find(model); known {
		return model, nil
	}
	abs, err := filepath.Abs(model)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"config.json", "modules.json", "model_index.json"} {
		if _, err := os.Stat(filepath.Join(abs, name)); err == nil {
			return abs, nil
		}
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		if hubName.MatchString(model) {
			return model, nil
		}
		return "", fmt.Errorf("no model %q: it is no name that `antipode models` lists, no name on the hub (OWNER/NAME) "+
			"and no folder with a config.json%s", model, Nearest(model))
	}
	return "", fmt.Errorf("no model in the folder %q: it holds no config.json, modules.json or model_index.json", model)
}

package gomlxmodels

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"antipode/datasets/table"
)

// Model is a model that is known by name.
type Model struct {
	Name         string
	Hub          string // OWNER/NAME on the Hugging Face hub; "" = part of Antipode
	Architecture string // the class of transformers, diffusers, timm or sentence-transformers that saves it
	Parameters   string // their number, for display
	License      string // as its card says; "" = not stated there
	About        string // what it does, and the audits that use it
	Columns      string // the columns it adds to a table
}

// ArchipelagoViT is the built-in image encoder, trained on the Archipelago.
const ArchipelagoViT = "archipelago-vit"

// Known lists the models known by name: those that are part of Antipode, then those of the published audits, which
// `antipode models pull NAME` downloads.
func Known() []Model {
	return []Model{
		{ArchipelagoViT, "", "ViTModel", "1.3 M", "Apache-2.0", "image encoder of the built-in world, small",
			"full object_only background_only"},
		{"archipelago-blip", "", "BlipForConditionalGeneration", "2.1 M", "Apache-2.0",
			"English captions of the built-in world's images, small", "caption"},
		{"archipelago-clip", "", "CLIPModel", "1.8 M", "Apache-2.0",
			"images of the built-in world and texts in five languages in one space, small", "clip_image clip_text"},
		{"archipelago-clipseg", "", "CLIPSegForImageSegmentation", "2.3 M", "Apache-2.0",
			"masks from words in images of the built-in world, small", "mask mask_score mask_area mask_components"},
		{"archipelago-diffusion", "", "StableDiffusionPipeline", "3.4 M", "Apache-2.0",
			"images of the built-in world, small; trained with injected disparities", "image"},
		{"archipelago-diffusion-fair", "", "StableDiffusionPipeline", "3.4 M", "Apache-2.0",
			"the same, trained without injected disparities", "image"},
		{"vit-base-patch16-224", "google/vit-base-patch16-224", "ViTForImageClassification", "86 M", "Apache-2.0",
			"image encoder of Decomposed-DIG", "full object_only background_only"},
		{"clip-vit-base-patch32", "openai/clip-vit-base-patch32", "CLIPModel", "151 M", "",
			"images and English texts in one space: CoCo-CroLa, ENTIGEN's judge", "clip_image clip_text"},
		{"clip-vit-large-patch14", "openai/clip-vit-large-patch14", "CLIPModel", "428 M", "", "the same, larger",
			"clip_image clip_text"},
		{"altclip-m9", "BAAI/AltCLIP-m9", "AltCLIPModel", "864 M", "", "images and texts in nine languages",
			"clip_image clip_text"},
		{"clipseg", "CIDAS/clipseg-rd64-refined", "CLIPSegForImageSegmentation", "151 M", "Apache-2.0",
			"masks from words", "mask mask_score mask_area mask_components"},
		{"grounding-dino-tiny", "IDEA-Research/grounding-dino-tiny", "GroundingDinoForObjectDetection", "172 M",
			"Apache-2.0", "boxes from words, for a SAM", "boxes"},
		{"grounding-dino-base", "IDEA-Research/grounding-dino-base", "GroundingDinoForObjectDetection", "232 M",
			"Apache-2.0", "the same, larger: Decomposed-DIG", "boxes"},
		{"sam-vit-base", "facebook/sam-vit-base", "SamModel", "94 M", "Apache-2.0", "masks from boxes",
			"mask mask_score"},
		{"sam-vit-large", "facebook/sam-vit-large", "SamModel", "312 M", "Apache-2.0", "the same, larger",
			"mask mask_score"},
		{"sam-vit-huge", "facebook/sam-vit-huge", "SamModel", "641 M", "Apache-2.0",
			"the same, largest: Decomposed-DIG", "mask mask_score"},
		{"sam2.1-hiera-tiny", "facebook/sam2.1-hiera-tiny", "Sam2Model", "31 M", "Apache-2.0",
			"masks from boxes, SAM 2.1", "mask mask_score"},
		{"sam2.1-hiera-small", "facebook/sam2.1-hiera-small", "Sam2Model", "38 M", "Apache-2.0", "the same, larger",
			"mask mask_score"},
		{"sam2.1-hiera-base-plus", "facebook/sam2.1-hiera-base-plus", "Sam2Model", "73 M", "Apache-2.0",
			"the same, larger", "mask mask_score"},
		{"sam2.1-hiera-large", "facebook/sam2.1-hiera-large", "Sam2Model", "217 M", "Apache-2.0", "the same, largest",
			"mask mask_score"},
		{"owlv2-base-patch16-ensemble", "google/owlv2-base-patch16-ensemble", "Owlv2ForObjectDetection", "155 M",
			"Apache-2.0", "boxes from words, for a SAM; shares nothing with GroundingDINO", "boxes"},
		{"blip-image-captioning-base", "Salesforce/blip-image-captioning-base", "BlipForConditionalGeneration",
			"247 M",
			"BSD-3-Clause", "English captions of images", "caption"},
		{"blip2-opt-2.7b", "Salesforce/blip2-opt-2.7b", "Blip2ForConditionalGeneration", "3.7 G", "MIT",
			"English captions, and vectors of images: IndicTTI's CLGC and IGC", "caption blip2_image"},
		{"blip2-itm-vit-g", "Salesforce/blip2-itm-vit-g", "Blip2ForImageTextRetrieval", "1.2 G", "",
			"images and English texts in one space: IndicTTI's LGC", "blip2_image blip2_text"},
		{"stable-diffusion-v1-5", "stable-diffusion-v1-5/stable-diffusion-v1-5", "StableDiffusionPipeline", "1.1 G",
			"CreativeML OpenRAIL-M", "images from English prompts: Decomposed-DIG, IndicTTI", "image"},
		{"all-minilm-l6-v2", "sentence-transformers/all-MiniLM-L6-v2", "SentenceTransformer (BertModel)", "23 M",
			"Apache-2.0", "small sentence encoder, English", "text"},
		{"all-mpnet-base-v2", "sentence-transformers/all-mpnet-base-v2", "SentenceTransformer (MPNetModel)", "109 M",
			"Apache-2.0", "sentence encoder, English: IndicTTI's CLGC", "text"},
		{"paraphrase-multilingual-mpnet-base-v2", "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
			"SentenceTransformer (XLMRobertaModel)", "278 M", "Apache-2.0",
			"sentence encoder, about fifty languages", "text"},
	}
}

// Pair is a detector and a segmenter with one name.
type Pair struct{ Name, Segmenter, Detector, Profile, About string }

// Pairs lists the pairs.
func Pairs() []Pair {
	return []Pair{
		{"langsam", "sam-vit-huge", "grounding-dino-base", ProfileLangSAM2024, "LangSAM: Decomposed-DIG"},
		{"langsam-small", "sam-vit-base", "grounding-dino-tiny", ProfileLangSAM2024,
			"the same with the smallest models"},
		{"langsam2", "sam2.1-hiera-small", "grounding-dino-base", ProfileTransformers, "GroundingDINO and SAM 2.1"},
		{"owlsam2", "sam2.1-hiera-small", "owlv2-base-patch16-ensemble", ProfileTransformers,
			"OWLv2 and SAM 2.1, a second opinion with another detector"},
	}
}

// FindPair returns the pair of a name.
func FindPair(name string) (Pair, bool) {
	pairs := Pairs()
	i := slices.IndexFunc(pairs, func(p Pair) bool { return p.Name == name })
	if i < 0 {
		return Pair{}, false
	}
	return pairs[i], true
}

// Find returns the model known under a name.
func Find(name string) (Model, bool) {
	known := Known()
	i := slices.IndexFunc(known, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return known[i], true
}

// Nearest returns the end of a message about an unknown model: `; did you mean "NAME"?` where a known name is
// similar, or "".
func Nearest(name string) string {
	var names []string
	for _, m := range Known() {
		names = append(names, m.Name)
	}
	return table.Hint(name, append(names, pairNames()...))
}

func pairNames() (names []string) {
	for _, p := range Pairs() {
		names = append(names, p.Name)
	}
	return names
}

// hubName matches a model on the hub, OWNER/NAME or OWNER/NAME@REVISION.
var hubName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*(@[A-Za-z0-9._/-]+)?$`)

// resolve returns a model as a plan names it: a known name or a name on the hub unchanged, a folder by its absolute
// path.
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
		return "", fmt.Errorf("no model %q: give a name that `antipode models` lists, a name on the hub "+
			"(OWNER/NAME), or "+
			"a folder with a config.json%s", model, Nearest(model))
	}
	return "", fmt.Errorf("no model in the folder %q: it has no config.json, modules.json or model_index.json", model)
}

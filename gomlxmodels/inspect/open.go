package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/blip2"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/dallemini"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/groundingdino"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/inception"
	"antipode/gomlxmodels/mindalle"
	"antipode/gomlxmodels/owlv2"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/sam2"
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/vqgan"
)

// The kinds of folders that no model_type names.
const (
	pipeline = "pipeline" // model_index.json
	sentence = "sentence" // modules.json
	timm     = "timm"     // config.json with an architecture
	gpt      = "minDALL-E"
	decoder  = "VQGAN" // config.json with ch_mult

	inceptionV3 = "Inception v3"
)

// openers are the networks, by the model_type of config.json or the kind of folder.
var openers = map[string]func(dir string) ([]opened, error){
	pipeline: one(func(dir string) (*diffusion.Model, error) {
		return diffusion.Open(dir, diffusion.OpenOptions{})
	}),
	sentence: one(openTexts),
	timm:     one(vit.Open),
	"vit":    one(vit.Open),
	"dinov2": one(vit.Open), "dinov2_with_registers": one(vit.Open),
	"clip": one(openCLIP), "siglip": one(openCLIP),
	"altclip": func(dir string) ([]opened, error) { // two towers of two packages
		images, err := clip.Open(dir)
		if err != nil {
			return nil, err
		}
		texts, err := openTexts(dir)
		return []opened{images, texts}, err
	},
	"clipseg":        one(openCLIPSeg),
	"grounding-dino": one(groundingdino.Open),
	"owlv2":          one(owlv2.Open),
	"sam":            one(sam.Open),
	"sam2":           one(sam2.Open),
	"sam2_video":     one(sam2.Open),
	"blip":           one(openBLIP),
	"blip-2":         openBLIP2,

	inceptionV3: one(inception.Open),

	dallemini.ModelType: one(dallemini.Open),
	gpt:                 one(mindalle.Open),
	decoder:             one(vqgan.Open),
}

// one is an opener of folders that one package reads.
func one[M opened](open func(dir string) (M, error)) func(string) ([]opened, error) {
	return func(dir string) ([]opened, error) {
		m, err := open(dir)
		return []opened{m}, err
	}
}

// Reads returns an error if no network reads folders of the class that the configurations of this one state. The
// folder needs no weights.
func Reads(dir string) error {
	kind, class := classOf(dir)
	if known := diffusion.Pipelines(); kind == pipeline && !slices.Contains(known, class) {
		return fmt.Errorf("a %s is not read; pipelines that are: %s", cmp.Or(class, "pipeline without a class"),
			strings.Join(known, ", "))
	}
	_, err := opener(kind, dir)
	return err
}

// opener returns what opens folders of a kind.
func opener(kind, dir string) (func(dir string) ([]opened, error), error) {
	if f := openers[kind]; f != nil {
		return f, nil
	}
	if _, err := hub.Architecture(dir); err != nil {
		return nil, err
	}
	if c := (textenc.Config{ModelType: kind}); c.Family() != "" {
		return one(openTexts), nil
	}
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(openers)), func(name string) bool {
		return name == pipeline || name == sentence || name == timm || name == gpt || name == decoder ||
			name == inceptionV3
	})
	return nil, fmt.Errorf("%s: %w", dir, hub.WrongType(kind, "one that is read ("+strings.Join(known, ", ")+
		", text encoders)"))
}

func openTexts(dir string) (*textenc.Model, error) { return textenc.Open(dir, textenc.OpenOptions{}) }

func openCLIP(dir string) (*clip.Model, error) {
	m, err := clip.Open(dir)
	if err != nil {
		return nil, err
	}
	return m, m.OpenTokenizer(m.Config().Text.VocabSize, 0)
}

func openCLIPSeg(dir string) (*clipseg.Model, error) {
	m, err := clipseg.Open(dir)
	if err != nil {
		return nil, err
	}
	return m, m.OpenTokenizer(m.Config().Text.VocabSize, 0)
}

func openBLIP(dir string) (*blip.Model, error) {
	if _, class := classOf(dir); class != "" && class != blip.CaptionClass {
		return blip.OpenQuestions(dir)
	}
	return blip.Open(dir)
}

// openBLIP2 opens a BLIP-2 for its vectors, and for captions where it has a language model.
func openBLIP2(dir string) ([]opened, error) {
	m, err := blip2.Open(dir)
	if err != nil {
		return nil, err
	}
	if !m.Weights.Has("language_projection.weight") {
		return []opened{m}, nil
	}
	captioner, err := blip2.OpenCaptioner(dir)
	return []opened{m, captioner}, err
}

// classOf returns the kind of a folder, a key of openers or another model_type, and the class that its configuration
// states. Files that cannot be read state none; opening the folder reports them.
func classOf(dir string) (kind, class string) {
	read := func(name string, to any) bool {
		text, err := os.ReadFile(filepath.Join(dir, name))
		return err == nil && json.Unmarshal(text, to) == nil
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	var config struct {
		ModelType     string   `json:"model_type"`
		Architectures []string `json:"architectures"`
		Architecture  string   `json:"architecture"`
		Levels        []int    `json:"ch_mult"`
	}
	switch {
	case exists("model_index.json"):
		var index struct {
			Class string `json:"_class_name"`
		}
		read("model_index.json", &index)
		return pipeline, index.Class
	case clip.IsOpenCLIP(dir) && !exists("config.json"):
		return "clip", "open_clip"
	case inception.Is(dir):
		return inceptionV3, inceptionV3
	case exists(mindalle.GPTFile):
		return gpt, gpt
	case exists("modules.json"):
		var list []struct{ Path string }
		if read("modules.json", &list); len(list) > 0 {
			read(filepath.Join(filepath.FromSlash(list[0].Path), "config.json"), &config)
		}
		return sentence, fmt.Sprintf("SentenceTransformer (%s)", strings.Join(config.Architectures, ", "))
	}
	read("config.json", &config)
	switch {
	case len(config.Levels) > 0:
		return decoder, decoder
	case config.Architecture != "":
		return timm, config.Architecture
	case len(config.Architectures) > 0:
		return config.ModelType, config.Architectures[0]
	}
	return config.ModelType, config.ModelType
}

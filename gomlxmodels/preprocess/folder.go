package preprocess

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// ReadFolder reads what a model folder says about preparing images: the image_processor of processor_config.json, else
// preprocessor_config.json, for [ParseHuggingFace]. path is the file that was read. Where there is
// neither, text is nil. Errors name the file.
func ReadFolder(dir string) (text []byte, path string, err error) {
	for _, name := range []string{"processor_config.json", "preprocessor_config.json"} {
		path = filepath.Join(dir, name)
		text, err = os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if name == "preprocessor_config.json" {
			return text, path, nil
		}
		var f struct {
			Image json.RawMessage `json:"image_processor"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, "", fmt.Errorf("%s: not readable: %w", path, err)
		}
		if len(f.Image) > 0 && string(f.Image) != "null" {
			return f.Image, path, nil
		}
	}
	return nil, "", nil
}

// Processor is a class of transformers that prepares images, and what it takes for keys that its file lacks.
type Processor struct {
	Class string // for messages
	Side  int    // size, where there is a file and it has none
	// a square of that size is cut out of the middle, and a size that is one number is the shortest edge before
	Crops bool
	Pads  bool              // the size is that of the longest edge, and of a square that the image is padded to
	Keys  map[string]string // other keys → JSON
}

// OpenFolder reads how a model folder wants images of side × side pixels prepared, completed by what the class
// takes where the file is silent. Without a file it is the class's own preprocessing at the model's size. path is the
// file that was read, "" = none. Errors name the file.
func (p Processor) OpenFolder(dir string, side int) (pre *Config, path string, err error) {
	text, path, err := ReadFolder(dir)
	if err != nil {
		return nil, "", err
	}
	size, source, where := p.Side, filepath.Base(path), path
	if text == nil {
		text, size, source = []byte("{}"), side, "default of "+p.Class
		where = filepath.Join(dir, source)
	}
	if text, err = p.complete(text, size); err != nil {
		return nil, "", fmt.Errorf("%s: not readable: %w", where, err)
	}
	if pre, err = ParseHuggingFace(text); err == nil {
		pre.Source = source
		err = pre.Validate(side, side)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", where, err)
	}
	return pre, path, nil
}

// complete adds the keys of a preprocessor_config.json that are missing or null.
func (p Processor) complete(text []byte, size int) ([]byte, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, err
	}
	if keys == nil {
		keys = map[string]json.RawMessage{}
	}
	usual := map[string]string{"size": fmt.Sprint(size)}
	maps.Copy(usual, p.Keys)
	if p.Crops {
		usual["crop_size"], usual["do_center_crop"] = fmt.Sprint(size), "true"
	}
	if p.Pads {
		usual["size"] = fmt.Sprintf(`{"longest_edge": %d}`, size)
		usual["pad_size"], usual["do_pad"] = fmt.Sprintf(`{"height": %d, "width": %d}`, size, size), "true"
	}
	for key, value := range usual {
		if raw := keys[key]; len(raw) == 0 || string(raw) == "null" {
			keys[key] = json.RawMessage(value)
		}
	}
	var edge int
	if p.Crops && json.Unmarshal(keys["size"], &edge) == nil {
		keys["size"] = json.RawMessage(fmt.Sprintf(`{"shortest_edge": %d}`, edge))
	}
	return json.Marshal(keys)
}

// The processors of CLIP, BLIP, BLIP-2, SAM and SAM 2.
var (
	Blip = Processor{Class: "BlipImageProcessor", Side: 384, Keys: clipKeys} // of BLIP-2 too
	CLIP = Processor{Class: "CLIPImageProcessor", Side: 224, Crops: true, Keys: clipKeys}
	// of SigLIP
	SigLIP = Processor{Class: "SiglipImageProcessor", Side: 224, Keys: map[string]string{"resample": "3"}}

	SAM = Processor{Class: "SamImageProcessor", Side: 1024, Pads: true, Keys: map[string]string{
		"image_mean": "[0.485, 0.456, 0.406]", "image_std": "[0.229, 0.224, 0.225]"}}

	SAM2 = Processor{Class: "Sam2ImageProcessor", Side: 1024, Keys: map[string]string{
		"image_mean": "[0.485, 0.456, 0.406]", "image_std": "[0.229, 0.224, 0.225]"}}

	// of GroundingDINO, for images of any size
	GroundingDINO = Processor{Class: "GroundingDinoImageProcessor", Keys: map[string]string{
		"size": `{"shortest_edge": 800, "longest_edge": 1333}`, "image_mean": "[0.485, 0.456, 0.406]",
		"image_std": "[0.229, 0.224, 0.225]"}}

	// of OWLv2: see [PadSquare]
	Owlv2 = Processor{Class: owlv2, Side: 960, Keys: map[string]string{
		"image_processor_type": `"` + owlv2 + `"`, "do_pad": "true", "image_mean": clipKeys["image_mean"],
		"image_std": clipKeys["image_std"]}}

	clipKeys = map[string]string{"resample": "3", "image_mean": "[0.48145466, 0.4578275, 0.40821073]",
		"image_std": "[0.26862954, 0.26130258, 0.27577711]"}
)

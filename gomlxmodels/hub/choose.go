package hub

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/go-huggingface/hub"

	"antipode/internal/plaintext"
)

// FP16 is the variant of weights in half precision.
const FP16 = "fp16"

// SentenceConfigs are the names of the file of options of a sentence encoder's transformer, the first that holds any.
var SentenceConfigs = []string{"sentence_bert_config.json", "sentence_roberta_config.json",
	"sentence_distilbert_config.json", "sentence_camembert_config.json", "sentence_albert_config.json",
	"sentence_xlm-roberta_config.json", "sentence_xlnet_config.json"}

// configs are the configurations that the networks read.
var configs = append([]string{"config.json", "preprocessor_config.json", "processor_config.json",
	"scheduler_config.json", "config_sentence_transformers.json", "tokenizer_config.json",
	"special_tokens_map.json", "added_tokens.json", "enwiki-words-frequency.txt"}, SentenceConfigs...)

// vocabularies are the files of a tokenizer by preference, as package tokenizers reads them: the first that exists.
var vocabularies = [][]string{{"tokenizer.json"}, {"vocab.txt"}, {"vocab.json", "merges.txt"},
	{"sentencepiece.bpe.model"}, {"spiece.model"}, {"tokenizer.model"}}

// flaxFile is the file of weights that transformers writes for Flax.
const flaxFile = "flax_model.msgpack"

// OpenCLIPConfig is the configuration of a folder of open_clip.
const OpenCLIPConfig = "open_clip_config.json"

// OpenCLIPWeights are the files of its weights by preference.
var OpenCLIPWeights = []string{"open_clip_model.safetensors", "open_clip_pytorch_model.safetensors",
	"open_clip_pytorch_model.bin"}

// others are the suffixes of weights in other formats, for errors.
var others = []string{".safetensors", ".bin", ".h5", ".msgpack", ".ckpt", ".pt", ".pth", ".onnx", ".ot", ".gguf",
	".tflite", ".mlmodel"}

// weightFiles lists the names of a folder's weights of a variant ("" = none) by preference: a file, or the index of
// shards. [weights.Open] reads them in the same order.
func weightFiles(variant string) (names []string) {
	if variant != "" {
		variant = "." + variant
	}
	for _, name := range [][2]string{{"model", ".safetensors"}, {"diffusion_pytorch_model", ".safetensors"},
		{"pytorch_model", ".bin"}, {"diffusion_pytorch_model", ".bin"}} {
		names = append(names, name[0]+variant+name[1], name[0]+name[1]+".index"+variant+".json")
	}
	return names
}

// chooser selects the files of a repository that are read: see [Pull].
type chooser struct {
	files   map[string]*hub.FileInfo // by name
	variant string
	read    func(*hub.FileInfo) ([]byte, error) // the contents of a small file

	small, weights []*hub.FileInfo // selected
}

// choose selects the files of a model that are read: small ones (configurations and tokenizers) and weights. read
// returns the contents of a file on which the choice depends.
func choose(files []*hub.FileInfo, variant string, read func(*hub.FileInfo) ([]byte, error)) (*chooser, error) {
	c := &chooser{files: map[string]*hub.FileInfo{}, variant: variant, read: read}
	for _, f := range files {
		clean := path.Clean(f.Name)
		if clean != f.Name || path.IsAbs(clean) || strings.HasPrefix(clean, "..") || strings.Contains(clean, `\`) {
			return nil, fmt.Errorf("the repository has a file with the name %q", f.Name)
		}
		c.files[f.Name] = f
	}
	if variant != "" && variant != FP16 {
		return nil, fmt.Errorf("variant %q: the only one that is read is %s", variant, FP16)
	}
	switch {
	case c.files["model_index.json"] != nil:
		return c, c.components()
	case c.files["modules.json"] != nil:
		return c, c.modules()
	}
	c.folder("")
	return c, c.weightsOf("", true)
}

// components selects the folders of a pipeline's components.
func (c *chooser) components() error {
	var index map[string]json.RawMessage
	if err := c.json("model_index.json", &index); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(index)) {
		var component [2]*string // library and class; null where the pipeline has none
		if json.Unmarshal(index[name], &component) != nil || component[0] == nil || component[1] == nil {
			continue
		}
		if len(c.below(name)) == 0 {
			return fmt.Errorf("model_index.json names the component %s, which the repository lacks",
				plaintext.OneLine(name))
		}
		c.folder(name)
		network := c.files[path.Join(name, "config.json")] != nil && !strings.HasSuffix(*component[1], "Scheduler")
		if err := c.weightsOf(name, network); err != nil {
			return err
		}
	}
	return nil
}

// modules selects the folders of a sentence encoder's modules.
func (c *chooser) modules() error {
	var list []struct{ Path string }
	if err := c.json("modules.json", &list); err != nil {
		return err
	}
	if f := c.files["config_sentence_transformers.json"]; f != nil {
		c.small = append(c.small, f)
	}
	for i, m := range list {
		c.folder(m.Path)
		if err := c.weightsOf(m.Path, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// maxList bounds the files on which the choice depends.
const maxList = 64 << 20

// json reads a file on which the choice depends, and selects it.
func (c *chooser) json(name string, to any) error {
	f := c.files[name]
	if sizeOf(f) > maxList {
		return fmt.Errorf("%s has %d bytes, more than %d", name, sizeOf(f), maxList)
	}
	c.small = append(c.small, f)
	text, err := c.read(f)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: not readable: %w", name, err)
	}
	return nil
}

// folder selects the configurations and the tokenizer of a folder.
func (c *chooser) folder(dir string) {
	add := func(names ...string) {
		for _, name := range names {
			if f := c.files[path.Join(dir, name)]; f != nil && !slices.Contains(c.small, f) {
				c.small = append(c.small, f)
			}
		}
	}
	add(configs...)
	i := slices.IndexFunc(vocabularies, func(names []string) bool { return c.files[path.Join(dir, names[0])] != nil })
	if i >= 0 {
		add(vocabularies[i]...)
	}
}

// weightsOf selects the weights of a folder. Of a folder that needs none, none is no error.
func (c *chooser) weightsOf(dir string, needed bool) error {
	variants := []string{"", FP16}
	if c.variant != "" {
		variants = []string{c.variant}
	}
	for _, variant := range variants {
		for _, name := range weightFiles(variant) {
			f := c.files[path.Join(dir, name)]
			switch {
			case f == nil:
			case path.Ext(name) == ".json":
				return c.shards(dir, f.Name)
			default:
				c.weights = append(c.weights, f)
				return nil
			}
		}
	}
	if !needed {
		return nil
	}
	if f := c.files[flaxFile]; f != nil && dir == "" && c.variant == "" && c.flax() {
		c.weights = append(c.weights, f)
		return nil
	}
	for _, name := range OpenCLIPWeights {
		config, f := c.files[OpenCLIPConfig], c.files[name]
		if dir == "" && c.variant == "" && config != nil && f != nil {
			c.small, c.weights = append(c.small, config), append(c.weights, f)
			return nil
		}
	}
	return c.unreadable(dir)
}

// flax reports whether the network reads the format of Flax: DALL·E mini and its VQGAN do.
func (c *chooser) flax() bool {
	f := c.files["config.json"]
	if f == nil || sizeOf(f) > maxList {
		return false
	}
	text, err := c.read(f)
	var config struct {
		ModelType string `json:"model_type"`
		Levels    []int  `json:"ch_mult"`
	}
	return err == nil && json.Unmarshal(text, &config) == nil && (config.ModelType == "dallebart" ||
		len(config.Levels) > 0)
}

// shards selects the files that an index lists.
func (c *chooser) shards(dir, index string) error {
	var list struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := c.json(index, &list); err != nil {
		return err
	}
	names := slices.Collect(maps.Values(list.Map))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		f := c.files[path.Join(dir, name)]
		if f == nil {
			return fmt.Errorf("%s lists %s, which the repository lacks", index, plaintext.OneLine(name))
		}
		c.weights = append(c.weights, f)
	}
	return nil
}

// preferred reports weights that are in the model's folder already and would be read in place of the variant, where no
// option selects it.
func (c *chooser) preferred(dir string) error {
	if c.variant == "" || c.files["model_index.json"] != nil {
		return nil
	}
	for _, f := range c.weights {
		for _, name := range weightFiles("") {
			name = path.Join(path.Dir(f.Name), name)
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
				return fmt.Errorf("%s is in %s already and would be read in place of %s. Fix: remove it, or set "+
					"HF_HUB_CACHE to another folder", name, dir, f.Name)
			}
		}
	}
	return nil
}

// unreadable is the error of a folder without weights that are read.
func (c *chooser) unreadable(dir string) error {
	what, where, found := "readable weights", "its root", "no weights at all"
	fix := "choose a revision that has *.safetensors or *.bin (--revision), or convert the weights in Python: " +
		"AutoModel.from_pretrained(…).save_pretrained(DIR)"
	if c.variant != "" {
		what, fix = "weights of the variant "+c.variant, "leave out the variant"
	}
	if dir != "" {
		where = dir
	}
	var names []string
	for _, name := range c.below(dir) {
		if slices.Contains(others, path.Ext(name)) {
			names = append(names, strings.TrimPrefix(name, dir+"/"))
		}
	}
	if len(names) > 0 {
		found = strings.Join(names, ", ")
	}
	return fmt.Errorf("no %s in %s: found %s. Fix: %s", what, plaintext.OneLine(where), plaintext.OneLine(found), fix)
}

// below lists the files of a folder and its folders, sorted.
func (c *chooser) below(dir string) (names []string) {
	for name := range c.files {
		if dir == "" || strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sizeOf is the size of a file in bytes.
func sizeOf(f *hub.FileInfo) int64 {
	if f.LFS != nil {
		return f.LFS.Size
	}
	return f.Size
}

package captioner

import (
	"errors"
	"fmt"
	"image"
	"slices"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
)

// Folder is what the folder of a BLIP or BLIP-2 holds besides configuration and weights: its preprocessing and its tokenizer. It lists the
// files that were read.
type Folder struct {
	Dir string

	name        string // of the package, for errors
	side        int
	pre         preprocess.Config
	files       []string
	tokenizer   *tokenizers.Tokenizer
	noTokenizer error
}

// processor is BlipImageProcessor, which BLIP-2 uses too.
var processor = preprocess.Processor{Class: "BlipImageProcessor", Side: 384, Keys: map[string]string{
	"resample":   "3",
	"image_mean": "[0.48145466, 0.4578275, 0.40821073]", "image_std": "[0.26862954, 0.26130258, 0.27577711]",
}}

// OpenFolder reads how a folder wants pictures of side × side pixels prepared: preprocessor_config.json, else the image_processor of
// processor_config.json, else BlipImageProcessor's own preprocessing at that size. config is the file that was read before; name is the
// package's, for errors.
func OpenFolder(name, dir, config string, side int) (f Folder, err error) {
	f = Folder{Dir: dir, name: name, side: side, files: []string{config}}
	pre, path, err := processor.OpenFolder(dir, side)
	if err != nil {
		return f, err
	}
	if path != "" {
		f.files = append(f.files, path)
	}
	f.pre = *pre
	return f, nil
}

// Read adds files that were read.
func (f *Folder) Read(files ...string) {
	for _, file := range files {
		if !slices.Contains(f.files, file) {
			f.files = append(f.files, file)
		}
	}
}

// OpenTokenizer reads the tokenizer, of a model that knows so many tokens by its vocab_size; more, up to spare, are never in a text. The
// error of a folder without one is kept for [Folder.Tokenizer].
func (f *Folder) OpenTokenizer(words, spare int) error {
	if f.tokenizer, f.noTokenizer = tokenizers.Open(f.Dir); f.noTokenizer != nil {
		return nil
	}
	if n := f.tokenizer.Size(); n > words+spare {
		return fmt.Errorf("%s: the tokenizer has %d tokens, config.json's vocab_size is %d: they are of two models", f.Dir, n, words)
	}
	f.Read(f.tokenizer.Files()...)
	return nil
}

// Preprocess is how the model's pictures are prepared.
func (f *Folder) Preprocess() preprocess.Config { return f.pre }

// Files lists the files that were read: what a digest of the model must cover.
func (f *Folder) Files() []string { return slices.Clone(f.files) }

// Tokenizer is the tokenizer of the model's folder; the error of a folder without one names the files that are looked for.
func (f *Folder) Tokenizer() (*tokenizers.Tokenizer, error) { return f.tokenizer, f.noTokenizer }

// Prepare does the host's part for one picture: resize and normalise. It gives the [3·H·W] values of [Request]. It is safe on several
// goroutines at once.
func (f *Folder) Prepare(img image.Image) (pixels []float32, err error) {
	defer runner.Recovered(f.name, &err)
	if img == nil {
		return nil, errors.New(f.name + ": no picture")
	}
	return f.pre.Apply(preprocess.FromImage(img), f.side, f.side)
}

// Encode turns a prefix into tokens. One with something the vocabulary lacks is an error.
func (f *Folder) Encode(prefix string) (e tokenizers.Encoding, err error) {
	if f.noTokenizer != nil {
		return e, f.noTokenizer
	}
	e, err = f.tokenizer.Encode(prefix, -1)
	if err == nil && e.Unknown > 0 {
		return tokenizers.Encoding{}, fmt.Errorf("prefix %q: the model's vocabulary lacks part of it", prefix)
	}
	return e, err
}

// Text is a caption in words: prompt and tokens, special tokens left out.
func (f *Folder) Text(prompt, tokens []int32) (string, error) {
	if f.noTokenizer != nil {
		return "", f.noTokenizer
	}
	return f.tokenizer.Decode(slices.Concat(prompt, tokens), true), nil
}

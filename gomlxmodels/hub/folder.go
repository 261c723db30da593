package hub

import (
	"errors"
	"fmt"
	"image"
	"slices"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// Folder is an opened model folder: the part that is the same for all networks. The Model of a network embeds it. It
// opens the files it needs, in this order: config.json ([OpenFolder]), the preprocessing, the weights' headers, the
// tokenizer. It has no weights in memory and no device.
//
//	func Open(dir string) (*Model, error) {
//		folder, config, err := hub.OpenFolder("clip", dir, ParseConfig)
//		…
//		err = folder.OpenPreprocessing(processor, config.Vision.ImageSize)
//		err = folder.OpenWeights()
//		err = folder.Match(table(config))
//
// The order of the files is part of the digest of stored results.
type Folder struct {
	Dir     string
	Weights *weights.Set // nil before OpenWeights

	network       string // for errors
	height, width int
	pre           preprocess.Config
	rules         []weights.Rule
	files         []string
	tokenizer     *tokenizers.Tokenizer
	noTokenizer   error
}

// OpenFolder reads a folder's config.json. network is the package's name, for errors; before are files that were read
// already.
func OpenFolder[C any](network, dir string, parse func(text []byte) (C, error), before ...string) (f Folder, config C,
	err error) {
	config, path, err := ReadConfig(dir, parse)
	return Folder{Dir: dir, network: network, files: append(before, path)}, config, err
}

// Bare is the folder of a network that has no config.json.
func Bare(network, dir string) Folder { return Folder{Dir: dir, network: network} }

// OpenPreprocessing reads how images of side × side pixels are prepared: the image_processor of
// processor_config.json, else preprocessor_config.json, else the processor's defaults at that size.
func (f *Folder) OpenPreprocessing(p preprocess.Processor, side int) error {
	pre, path, err := p.OpenFolder(f.Dir, side)
	if err != nil {
		return err
	}
	if path != "" {
		f.Read(path)
	}
	f.UsePreprocessing(*pre, side, side)
	return nil
}

// UsePreprocessing sets how images are prepared, and their size in pixels.
func (f *Folder) UsePreprocessing(pre preprocess.Config, height, width int) {
	f.pre, f.height, f.width = pre, height, width
}

// OpenWeights reads the headers of the weights, as [weights.Open] finds them.
func (f *Folder) OpenWeights() (err error) {
	if f.Weights, err = weights.Open(f.Dir); err == nil {
		f.Read(f.Weights.Files()...)
	}
	return err
}

// OpenTokenizer reads the tokenizer of a model with a vocabulary of so many tokens; up to spare more in the tokenizer
// are never in a text. A folder without a tokenizer opens; [Folder.Tokenizer] then returns the error.
func (f *Folder) OpenTokenizer(vocabulary, spare int) error {
	if f.tokenizer, f.noTokenizer = tokenizers.Open(f.Dir); f.noTokenizer != nil {
		return nil
	}
	if n := f.tokenizer.Size(); n > vocabulary+spare {
		return fmt.Errorf("%s: the tokenizer has %d tokens, config.json's vocab_size is %d: they are of two models",
			f.Dir, n, vocabulary)
	}
	for _, file := range f.tokenizer.Files() {
		if !slices.Contains(f.files, file) {
			f.Read(file)
		}
	}
	return nil
}

// Read adds files to those that were read.
func (f *Folder) Read(files ...string) { f.files = append(f.files, files...) }

// Files lists the files that were read: those that a digest of the model must cover.
func (f *Folder) Files() []string { return slices.Clone(f.files) }

// Preprocess returns how images are prepared.
func (f *Folder) Preprocess() preprocess.Config { return f.pre }

// Tokenizer returns the tokenizer; the error of a folder without one names the files it should have.
func (f *Folder) Tokenizer() (*tokenizers.Tokenizer, error) { return f.tokenizer, f.noTokenizer }

// Prepare does the host's part for one image: resize, crop and normalize. It may run on several goroutines at once.
//
// Shapes: → [3·height·width].
func (f *Folder) Prepare(img image.Image) (pixels []float32, err error) {
	defer runner.Recovered(f.network, &err)
	if img == nil {
		return nil, errors.New(f.network + ": no image")
	}
	return f.pre.Apply(preprocess.FromImage(img), f.height, f.width)
}

// EncodePrefix returns the tokens of a caption's prefix. A prefix that the vocabulary lacks part of is an error.
func (f *Folder) EncodePrefix(prefix string) (e tokenizers.Encoding, err error) {
	if f.noTokenizer != nil {
		return e, f.noTokenizer
	}
	e, err = f.tokenizer.Encode(prefix, -1)
	if err == nil && e.Unknown > 0 {
		return tokenizers.Encoding{}, fmt.Errorf("prefix %q: the model's vocabulary lacks part of it", prefix)
	}
	return e, err
}

// Text returns the text of a caption: prompt and tokens, without special tokens.
func (f *Folder) Text(prompt, tokens []int32) (string, error) {
	if f.noTokenizer != nil {
		return "", f.noTokenizer
	}
	return f.tokenizer.Decode(slices.Concat(prompt, tokens), true), nil
}

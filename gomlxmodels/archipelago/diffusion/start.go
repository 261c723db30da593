package diffusion

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/vae"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/weights"
)

// Files of a pipeline's parts.
const (
	bigFile    = "diffusion_pytorch_model.safetensors"
	configFile = "config.json"
)

// origin is what a run starts from: an autoencoder's folder and a CLIP's, or the folder of the phase before.
type origin struct{ vae, text, base string }

// digest names the weights that a run starts from.
func (o origin) digest() (string, error) {
	files := []string{filepath.Join(o.vae, bigFile), filepath.Join(o.text, weights.SingleFile)}
	if o.base != "" {
		files = []string{filepath.Join(o.base, "vae", bigFile), filepath.Join(o.base, "text_encoder", weights.SingleFile), filepath.Join(o.base, "unet", bigFile)}
	} else if o.text == "" {
		files = files[:1]
	}
	var parts []string
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("what the run starts from: %w", err)
		}
		defer f.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return "", err
		}
		parts = append(parts, hex.EncodeToString(sum.Sum(nil))[:12])
	}
	return strings.Join(parts, " "), nil
}

// shapes reads the shapes of what a run starts from.
func (o origin) shapes() (*networks, error) {
	n := &networks{text: textShape()}
	vaeDir, textDir := o.vae, o.text
	if o.base != "" {
		vaeDir, textDir = filepath.Join(o.base, "vae"), filepath.Join(o.base, "text_encoder")
	}
	if vaeDir == "" {
		return nil, errors.New(`give -vae: the folder that "train vae" wrote`)
	}
	if err := parse(vaeDir, func(text []byte) error {
		c, err := diffusion.ParseVAEConfig(text)
		if err == nil {
			n.vae = *c
		}
		return err
	}); err != nil {
		return nil, err
	}
	if n.vae.Factor() != 8 || n.vae.LatentChannels != channels {
		return nil, fmt.Errorf("%s: an autoencoder of factor %d with %d channels, want 8 and %d", vaeDir, n.vae.Factor(), n.vae.LatentChannels, channels)
	}
	if textDir != "" {
		if err := parse(textDir, func(text []byte) (err error) {
			var c *clip.Config
			if o.base != "" {
				c, err = diffusion.ParseTextConfig(text)
			} else {
				c, err = clip.ParseConfig(text)
			}
			if err == nil {
				n.text.Text = c.Text
			}
			return err
		}); err != nil {
			return nil, err
		}
		if n.text.Text.VocabSize != tokens.Size() || n.text.Text.Context != tokens.Context {
			return nil, fmt.Errorf("%s: a text tower of %d words and %d places, the tokenizer's are %d and %d", textDir, n.text.Text.VocabSize, n.text.Text.Context, tokens.Size(), tokens.Context)
		}
	}
	n.unet = unetShape(n.text.Text.HiddenSize)
	if o.base == "" {
		return n, nil
	}
	return n, parse(filepath.Join(o.base, "unet"), func(text []byte) error {
		c, err := diffusion.ParseUNetConfig(text)
		if err == nil {
			n.unet = *c
		}
		return err
	})
}

func parse(dir string, use func([]byte) error) error {
	path := filepath.Join(dir, configFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := use(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// start puts the weights into a store: the autoencoder's, which stay as they are, the text tower's and the UNet's.
func (o origin) start(store *model.Store, n *networks, seed uint64) error {
	root, r := store.RootScope(), rand.New(rand.NewPCG(seed, 0))
	vaeDir, textDir := o.vae, o.text
	if o.base != "" {
		vaeDir, textDir = filepath.Join(o.base, "vae"), filepath.Join(o.base, "text_encoder")
	}
	if _, err := vae.Restore(root.At("vae"), vaeDir); err != nil {
		return err
	}
	// The graph of package clip names the projection; nothing reads it.
	if _, err := root.At("text").At("projection").CreateVariable("weights", tensors.FromFlatDataAndDimensions(make([]float32, n.text.Text.HiddenSize), 1, n.text.Text.HiddenSize)); err != nil {
		return err
	}
	for v := range store.IterVariables() {
		v.SetTrainable(false)
	}
	if err := startText(root, n, textDir, r); err != nil {
		return err
	}
	table := diffusion.UNetRules(&n.unet)
	if o.base == "" {
		return diffusion.Begin(root.At("unet"), table, r)
	}
	set, err := weights.OpenFiles(filepath.Join(o.base, "unet", bigFile))
	if err != nil {
		return err
	}
	return diffusion.Restore(root.At("unet"), set, table)
}

// textRules is the text tower without its projection.
func (n *networks) textRules() []weights.Rule {
	rules := clip.TextRules(&n.text, "")
	return rules[:len(rules)-1]
}

// startText begins the text tower, or reads it from a folder that may hold the rest of a CLIP too.
func startText(root *model.Scope, n *networks, dir string, r *rand.Rand) error {
	table := weights.Table(n.textRules())
	if dir == "" {
		return diffusion.Begin(root, table, r)
	}
	set, err := weights.OpenFiles(filepath.Join(dir, weights.SingleFile))
	if err != nil {
		return err
	}
	table.SkipOthers(set)
	return diffusion.Restore(root, set, table)
}

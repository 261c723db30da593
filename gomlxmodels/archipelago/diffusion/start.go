package diffusion

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/vae"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/weights"
)

// bigFile is the weights file of the UNet and of the autoencoder.
const bigFile = "diffusion_pytorch_model.safetensors"

// origin is what a run starts from: the folders of an autoencoder and of a CLIP, or the folder of the phase before.
type origin struct{ vae, text, base string }

// folders returns the folders of the parts; "" for a part with random initial weights.
func (o origin) folders() (vae, text, unet string) {
	if o.base == "" {
		return o.vae, o.text, ""
	}
	return filepath.Join(o.base, "vae"), filepath.Join(o.base, "text_encoder"), filepath.Join(o.base, "unet")
}

// digest returns the digests of the initial weights.
func (o origin) digest() (string, error) {
	vae, text, unet := o.folders()
	var parts []string
	for _, part := range [][2]string{{vae, bigFile}, {text, weights.SingleFile}, {unet, bigFile}} {
		if part[0] == "" {
			continue
		}
		sum, err := trainer.Digest(filepath.Join(part[0], part[1]), 6)
		if err != nil {
			return "", fmt.Errorf("initial weights: %w", err)
		}
		parts = append(parts, sum)
	}
	return strings.Join(parts, " "), nil
}

// shapes reads the configurations of the parts.
func (o origin) shapes() (*networks, error) {
	n := &networks{text: textShape()}
	vae, text, unet := o.folders()
	if vae == "" {
		return nil, errors.New("set -vae to the exported folder of the model vae")
	}
	c, _, err := hub.ReadConfig(vae, diffusion.ParseVAEConfig)
	if err != nil {
		return nil, err
	}
	if n.vae = *c; c.Factor() != 8 || c.LatentChannels != channels {
		return nil, fmt.Errorf("%s: an autoencoder of factor %d with %d channels, want 8 and %d", vae, c.Factor(),
			c.LatentChannels, channels)
	}
	if text != "" {
		parse := clip.ParseConfig
		if o.base != "" {
			parse = diffusion.ParseTextConfig
		}
		c, _, err := hub.ReadConfig(text, parse)
		if err != nil {
			return nil, err
		}
		if n.text.Text = c.Text; c.Text.VocabSize != tokens.Size() || c.Text.Context != tokens.Context {
			return nil, fmt.Errorf("%s: a text tower with %d tokens and context length %d, the tokenizer has %d and %d",
				text, c.Text.VocabSize, c.Text.Context, tokens.Size(), tokens.Context)
		}
	}
	n.unet = unetShape(n.text.Text.HiddenSize)
	if unet != "" {
		c, _, err := hub.ReadConfig(unet, diffusion.ParseUNetConfig)
		if err != nil {
			return nil, err
		}
		n.unet = *c
	}
	return n, nil
}

// start sets the initial weights of the autoencoder, which is frozen, of the text tower and of the UNet.
func (o origin) start(store *model.Store, n *networks, seed uint64) error {
	root, r := store.RootScope(), rand.New(rand.NewPCG(seed, 0))
	vaeDir, text, unet := o.folders()
	if _, err := vae.Restore(root.At("vae"), vaeDir); err != nil {
		return err
	}
	// The graph of package clip has the projection, but nothing reads its output.
	if _, err := root.At("text").At("projection").CreateVariable("weights",
		tensors.FromFlatDataAndDimensions(make([]float32, n.text.Text.HiddenSize), 1,
			n.text.Text.HiddenSize)); err != nil {
		return err
	}
	for v := range store.IterVariables() {
		v.SetTrainable(false)
	}
	if err := restore(root, text, weights.SingleFile, n.textRules(), r); err != nil {
		return err
	}
	return restore(root.At("unet"), unet, bigFile, diffusion.UNetRules(&n.unet), r)
}

// restore reads the weights of a part from its folder, or initializes them if dir is "". The file of a text tower may
// contain the rest of a CLIP.
func restore(scope *model.Scope, dir, file string, table weights.Table, r *rand.Rand) error {
	if dir == "" {
		return diffusion.Begin(scope, table, r)
	}
	set, err := weights.OpenFiles(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	if file == weights.SingleFile {
		table.SkipOthers(set)
	}
	return diffusion.Restore(scope, set, table)
}

// textRules returns the weights of the text tower without its projection.
func (n *networks) textRules() []weights.Rule {
	rules := clip.TextRules(&n.text, "")
	return rules[:len(rules)-1]
}

package clip

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	shipped "antipode/gomlxmodels/archipelago/weights"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/weights"
)

// tokenDeviation is about the deviation of the patch tokens of archipelago-vit, which has no norm before its first block: the gain with which
// CLIP's norm there changes them least.
const tokenDeviation = 1.4

// vitFile reads the weights of archipelago-vit.
func vitFile() ([]byte, error) { return fs.ReadFile(shipped.FS(), shipped.ViT+"/"+weights.SingleFile) }

// from is the digest of what a run starts from.
func from() (string, error) {
	text, err := vitFile()
	sum := sha256.Sum256(text)
	return shipped.ViT + " " + hex.EncodeToString(sum[:8]), err
}

// start puts the weights of archipelago-vit into the image tower. The bias of its patches, which CLIP's lack, goes into their positions.
func start(store *model.Store, cfg *clip.Config) error {
	text, err := vitFile()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "antipode-clip")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, weights.SingleFile)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	set, err := weights.OpenFiles(path)
	if err != nil {
		return err
	}
	c := &cfg.Vision
	d, p, n := c.HiddenSize, c.PatchSize, 1+(c.ImageSize/c.PatchSize)*(c.ImageSize/c.PatchSize)
	const embeddings = "vit.embeddings."
	t := weights.Table{}
	t.As(embeddings+"cls_token", "tokens/class", nil, 1, 1, d)
	t.As(embeddings+"patch_embeddings.projection.weight", "patch/weights", []int{d, 3 * p * p}, d, 3, p, p)
	t.Skip(embeddings+"patch_embeddings.projection.bias", embeddings+"position_embeddings", "classifier.weight", "classifier.bias")
	for i := range c.Layers {
		f, to := fmt.Sprintf("vit.encoder.layer.%d.", i), fmt.Sprintf("block_%d/", i)
		t.Fused([]string{f + "attention.attention.query", f + "attention.attention.key", f + "attention.attention.value"}, to+"attention/qkv", d, d, true)
		t.Dense(f+"attention.output.dense", to+"attention/out", d, d)
		t.Dense(f+"intermediate.dense", to+"mlp/fc1", c.IntermediateSize, d)
		t.Dense(f+"output.dense", to+"mlp/fc2", d, c.IntermediateSize)
		t.Norm(f+"layernorm_before", to+"norm1", d)
		t.Norm(f+"layernorm_after", to+"norm2", d)
	}
	t.Norm("vit.layernorm", "norm", d)
	at := store.Scope("/clip/vision")
	if err := weights.Load(at, set, t, dtypes.Float32); err != nil {
		return err
	}
	positions, err := set.Float32(embeddings + "position_embeddings")
	if err != nil {
		return err
	}
	bias, err := set.Float32(embeddings + "patch_embeddings.projection.bias")
	if err != nil {
		return err
	}
	if len(positions) != n*d || len(bias) != d {
		return fmt.Errorf("%s has %d position values and %d biases, want %d and %d", shipped.ViT, len(positions), len(bias), n*d, d)
	}
	for i := d; i < len(positions); i++ { // the class token has none
		positions[i] += bias[i%d]
	}
	gain := make([]float32, d)
	for i := range gain {
		gain[i] = tokenDeviation
	}
	if _, err := at.At("tokens").CreateVariable("positions", tensors.FromFlatDataAndDimensions(positions, 1, n, d)); err != nil {
		return err
	}
	_, err = at.At("prenorm").CreateVariable("gain", tensors.FromFlatDataAndDimensions(gain, d))
	return err
}

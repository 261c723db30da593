package clip

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// tokenDeviation is about the deviation of the patch tokens of archipelago-blip's tower, which has no norm before its first block: the gain with
// which CLIP's norm there changes them least.
const tokenDeviation = 1.4

// tower is the folder of a captioner, from whose tower a run starts; it knows figures and things already, see package readout.
type tower string

// digest names the weights that a run starts from.
func (dir tower) digest() (string, error) {
	text, err := os.ReadFile(filepath.Join(string(dir), weights.SingleFile))
	if err != nil {
		return "", fmt.Errorf("what the run starts from (flag -tower): %w", err)
	}
	sum := sha256.Sum256(text)
	return "archipelago-blip " + hex.EncodeToString(sum[:8]), nil
}

// start puts the captioner's tower into the image tower. The bias of its patches, which CLIP's lack, goes into their positions.
func (dir tower) start(store *model.Store, cfg *clip.Config) error {
	set, err := weights.Open(string(dir))
	if err != nil {
		return err
	}
	c := vit.DefaultConfig()
	v := &cfg.Vision
	c.HiddenSize, c.Layers, c.Heads, c.IntermediateSize = v.HiddenSize, v.Layers, v.Heads, v.IntermediateSize
	c.ImageSize, c.PatchSize = vit.Pair{v.ImageSize, v.ImageSize}, vit.Pair{v.PatchSize, v.PatchSize}
	var t weights.Table
	blip.TowerRules(&t, &c)
	var apart [2]string
	for i := range t {
		for k, variable := range []string{"vision/tokens/positions", "vision/patch/bias"} {
			if t[i].Variable == variable {
				apart[k], t[i].Variable = t[i].Tensor, ""
			}
		}
	}
	t.SkipOthers(set)
	if err := weights.Load(store.Scope("/clip"), set, t, dtypes.Float32); err != nil {
		return err
	}
	positions, err := set.Float32(apart[0])
	if err != nil {
		return err
	}
	bias, err := set.Float32(apart[1])
	if err != nil {
		return err
	}
	d := c.HiddenSize
	for i := d; i < len(positions); i++ { // the class token has none
		positions[i] += bias[i%d]
	}
	gain := make([]float32, d)
	for i := range gain {
		gain[i] = tokenDeviation
	}
	at := store.Scope("/clip/vision")
	if _, err := at.At("tokens").CreateVariable("positions", tensors.FromFlatDataAndDimensions(positions, 1, 1+c.Patches(), d)); err != nil {
		return err
	}
	_, err = at.At("prenorm").CreateVariable("gain", tensors.FromFlatDataAndDimensions(gain, d))
	return err
}

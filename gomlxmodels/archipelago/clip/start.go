package clip

import (
	"fmt"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// tokenDeviation is the approximate standard deviation of the patch tokens of archipelago-blip's tower, which has no
// norm before its first block. As initial gain of CLIP's norm there it preserves their scale.
const tokenDeviation = 1.4

// digest returns the value of Settings.From for a run that starts from the captioner in dir.
func digest(dir string) (string, error) {
	sum, err := trainer.Digest(filepath.Join(dir, weights.SingleFile), 8)
	if err != nil {
		return "", fmt.Errorf("initial weights (flag -tower): %w", err)
	}
	return "archipelago-blip " + sum, nil
}

// start loads the image tower of the captioner in dir. CLIP's patch embedding has no bias; the captioner's is added to
// the position embeddings.
func start(store *model.Store, cfg *clip.Config, dir string) error {
	set, err := weights.Open(dir)
	if err != nil {
		return err
	}
	c := vit.DefaultConfig()
	v := &cfg.Vision
	c.HiddenSize, c.Layers, c.Heads, c.IntermediateSize = v.HiddenSize, v.Layers, v.Heads, v.IntermediateSize
	c.ImageSize, c.PatchSize = vit.Pair{v.ImageSize, v.ImageSize}, vit.Pair{v.PatchSize, v.PatchSize}
	var t weights.Table
	blip.TowerRules(&t, &c)
	var separate [2]string // tensors of the two variables that are not loaded as they are
	for i := range t {
		for k, variable := range []string{"vision/tokens/positions", "vision/patch/bias"} {
			if t[i].Variable == variable {
				separate[k], t[i].Variable = t[i].Tensor, ""
			}
		}
	}
	t.SkipOthers(set)
	if err := weights.Load(store.Scope("/clip"), set, t, dtypes.Float32); err != nil {
		return err
	}
	positions, err := set.Float32(separate[0])
	if err != nil {
		return err
	}
	bias, err := set.Float32(separate[1])
	if err != nil {
		return err
	}
	d := c.HiddenSize
	for i := d; i < len(positions); i++ { // not to the class token
		positions[i] += bias[i%d]
	}
	gain := make([]float32, d)
	for i := range gain {
		gain[i] = tokenDeviation
	}
	at := store.Scope("/clip/vision")
	if _, err := at.At("tokens").CreateVariable("positions", tensors.FromFlatDataAndDimensions(positions, 1,
		1+c.Patches(), d)); err != nil {
		return err
	}
	_, err = at.At("prenorm").CreateVariable("gain", tensors.FromFlatDataAndDimensions(gain, d))
	return err
}

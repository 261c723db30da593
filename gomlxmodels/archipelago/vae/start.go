package vae

import (
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
)

// startLogVariance is what the latents' noise begins at, so that it does not drown what is learned first.
const startLogVariance = -5

// open changes the weights that PyTorch's layers begin with so that a blurred picture goes through the network from the first step on: branches of residual blocks are
// small, layers that change the number of channels copy them, those that change the size take means or repeat. Half the channels of the stream begin at 1, half at −1: so
// groups' means and deviations hang little on the picture, and norms do not take its brightness away.
func open(store *model.Store) error {
	for _, rule := range diffusion.VAERules(&shape) {
		v := store.GetVariable("/" + rule.Variable)
		value, err := v.Value()
		if err != nil {
			return err
		}
		flat, err := tensors.CopyFlatData[float32](value)
		if err != nil {
			return err
		}
		dims := v.Shape().Dimensions
		rewrite(rule.Variable, dims, flat)
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(flat, dims...)); err != nil {
			return err
		}
	}
	return nil
}

// rewrite changes one variable; kernels are [3,3,in,out], other layers' weights [out,in].
func rewrite(path string, dims []int, flat []float32) {
	scale := func(f float32) {
		for i := range flat {
			flat[i] *= f
		}
	}
	kernel := func(y, x, in, out int) *float32 { return &flat[((y*dims[1]+x)*dims[2]+in)*dims[3]+out] }
	switch {
	case strings.HasSuffix(path, "conv2/weights"), strings.HasSuffix(path, "/out/weights"):
		scale(0.1)
	case strings.HasSuffix(path, "conv_shortcut/weights"):
		scale(0)
		for o := range dims[0] {
			flat[o*dims[1]+o%dims[1]] = 1
		}
	case strings.Contains(path, "downsamplers") && len(dims) == 4:
		scale(0.1)
		for c := range dims[3] {
			for i := range 4 {
				*kernel(i/2, i%2, c, c) += 0.25
			}
		}
	case strings.Contains(path, "upsamplers") && len(dims) == 4:
		scale(0.1)
		for c := range dims[3] {
			*kernel(1, 1, c, c)++
		}
	case strings.HasSuffix(path, "conv_in/bias"):
		for c := range flat {
			flat[c] = float32(1 - 2*(c%2))
		}
	case path == "quant_conv/weights", path == "post_quant_conv/weights":
		scale(0)
		for c := range dims[0] {
			if flat[c*dims[1]+c] = 1; c >= shape.LatentChannels {
				flat[c*dims[1]+c] = 0.1
			}
		}
	case path == "quant_conv/bias":
		for c := shape.LatentChannels; c < len(flat); c++ {
			flat[c] = startLogVariance
		}
	}
}

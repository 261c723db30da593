package vae

import (
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/diffusion"
)

// startLogVariance is the initial log-variance of the latents: small enough not to hide the signal in the first steps.
const startLogVariance = -5

// adjust changes the default initial weights so that the network passes a blurred image from the first step: residual
// branches are small, layers that change the number of channels copy them, and layers that change the size average or
// repeat pixels. Half of the first channels have bias 1 and half −1, so that group norms, whose statistics then hardly
// depend on the image, preserve its brightness.
func adjust(store *model.Store) error {
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

// rewrite changes one variable. Kernels are [3,3,in,out], other weights [out,in].
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

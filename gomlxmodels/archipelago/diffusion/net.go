package diffusion

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	aclip "antipode/gomlxmodels/archipelago/clip"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/diffusion"
)

// Width and height, and number of channels, of the latents.
const (
	latents  = examples.Size / 8
	channels = 4
)

// schedulerConfig configures the sampler: DDIM with the cosine schedule, starting from pure noise, with v-prediction
// (Salimans and Ho 2022, arXiv 2202.00512).
const schedulerConfig = `{
  "_class_name": "DDIMScheduler",
  "_diffusers_version": "0.42.1",
  "num_train_timesteps": 1000,
  "beta_start": 0.0001,
  "beta_end": 0.02,
  "beta_schedule": "squaredcos_cap_v2",
  "prediction_type": "v_prediction",
  "timestep_spacing": "trailing",
  "clip_sample": false,
  "set_alpha_to_one": true,
  "steps_offset": 1,
  "rescale_betas_zero_snr": false
}
`

// networks are the configurations of a generator's parts.
type networks struct {
	unet diffusion.UNetConfig
	text clip.Config // only its text tower is used
	vae  diffusion.VAEConfig
}

// unetShape returns the configuration of the UNet, which has attention at 8×8.
func unetShape(context int) diffusion.UNetConfig {
	c := diffusion.DefaultUNetConfig()
	c.SampleSize, c.Widths, c.Groups, c.ContextDim = diffusion.Ints{latents}, []int{48, 96}, 16, context
	c.DownBlocks, c.UpBlocks = []string{"DownBlock2D", "CrossAttnDownBlock2D"},
		[]string{"CrossAttnUpBlock2D", "UpBlock2D"}
	c.Layers, c.TransformerLayers, c.Heads = diffusion.Ints{1, 1}, diffusion.Ints{1, 1}, diffusion.Ints{4, 4}
	c.UseLinearProjection = true
	return c
}

// textShape returns the configuration of a text tower that is trained from scratch: that of archipelago-clip.
func textShape() clip.Config {
	c := clip.DefaultConfig()
	c.Text, c.ProjectionDim = aclip.Shape().Text, 1
	return c
}

// losses are the weighted mean squared errors of the velocity by thirds of the timesteps, from little to much noise.
var losses = []string{"clear", "middle", "noisy"}

// lossGraph returns the weighted mean squared error of the velocity √ᾱ·noise − √(1−ᾱ)·latents that the UNet predicts
// from √ᾱ·latents + √(1−ᾱ)·noise.
//
// Shapes: in = pixels [B,H,W,3]; ids [B,S] int32; noise [B,h,w,C]; times [B,3] and counts [B,h,w,1], see [batch] → []
// and [3].
func (n *networks) lossGraph(scope *model.Scope, in []*Node) (total, terms *Node) {
	pixels, ids, noise, times, counts := in[0], in[1], in[2], in[3], in[4]
	b := pixels.Shape().Dim(0)
	code := diffusion.ForwardEncoder(scope.At("vae"), &n.vae, pixels, diffusion.GraphOptions{}).Mean
	code = StopGradient(MulScalar(code, n.vae.ScalingFactor))
	context := diffusion.ForwardText(scope, &n.text, ids, diffusion.GraphOptions{}).Tokens
	column := func(i int) *Node { return Slice(times, AxisRange(), AxisElem(i)) }
	signal, spread := Reshape(column(1), b, 1, 1, 1), Reshape(column(2), b, 1, 1, 1)
	sample := Add(Mul(code, signal), Mul(noise, spread))
	velocity := Sub(Mul(noise, signal), Mul(code, spread))
	t := Reshape(column(0), b)
	got := diffusion.ForwardUNet(scope.At("unet"), &n.unet, sample, t, context, diffusion.GraphOptions{}).Out
	squares := ReduceMean(Mul(Square(Sub(got, velocity)), counts), 1, 2, 3) // [B]
	total = ReduceAllMean(squares)
	var byTime []*Node
	for i := range losses {
		width := 1000.0 / float64(len(losses))
		third := ConvertDType(LogicalAnd(GreaterOrEqual(t, MulScalar(OnesLike(t), width*float64(i))),
			LessThan(t, MulScalar(OnesLike(t), width*float64(i+1)))), dtypes.Float32)
		byTime = append(byTime, Div(ReduceAllSum(Mul(squares, third)), MaxScalar(ReduceAllSum(third), float32(1))))
	}
	return total, Stack(byTime, 0)
}

package diffusion

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// guided is the UNet's answer to one step under classifier-free guidance: u + g·(c − u) of its answers c to the
// prompt and u to the negative prompt. Without guidance it is the answer to the prompt.
//
// Shapes: in[0] latents [B,H,W,C]; in[1] [2] the step's timestep and the scale of the UNet's input; in[2] context
// [B,S,D], or with guidance [2B,S,D], negative prompts first; then in[3] guidance [B] → [B,H,W,C].
func guided(scope *model.Scope, c *UNetConfig, in []*Node, o GraphOptions) *Node {
	x, b := in[0], in[0].Shape().Dim(0)
	step := func(i int) *Node { return Reshape(Slice(in[1], AxisElem(i))) }
	sample := Mul(x, step(1))
	if len(in) < 4 {
		return ForwardUNet(scope, c, sample, BroadcastToDims(step(0), b), in[2], o).Out
	}
	both := ForwardUNet(scope, c, Concatenate([]*Node{sample, sample}, 0), BroadcastToDims(step(0), 2*b), in[2], o).Out
	u, answer := Slice(both, AxisRange(0, b)), Slice(both, AxisRange(b))
	return Add(u, Mul(Reshape(in[3], b, 1, 1, 1), Sub(answer, u)))
}

// mix is one step of a sampler, as package schedule describes it: weighted sums of available tensors. K tensors are
// kept from step to step.
//
// Shapes: in[0] latents [B,H,W,C]; in[1] the UNet's answer, alike; in[2] fresh noise, alike; in[3] [3] the weights of
// the predicted image (latents, answer) and the bound it is clipped to; in[4] [1+K,4+K] the weights of the sums;
// in[5:] K stored tensor → the next latents and the tensors to keep, all [B,H,W,C].
func mix(in []*Node) []*Node {
	x, answer, numbers, table := in[0], in[1], in[3], in[4]
	number := func(i int) *Node { return Reshape(Slice(numbers, AxisElem(i))) }
	bound := number(2)
	predicted := Add(Mul(number(0), x), Mul(number(1), answer))
	predicted = Max(Min(predicted, bound), Neg(bound))
	terms := append([]*Node{x, answer, predicted, in[2]}, in[5:]...)
	table.AssertDims(len(in)-4, len(terms))
	out := make([]*Node, len(in)-4)
	for i := range out {
		for k, term := range terms {
			weighed := Mul(Reshape(Slice(table, AxisElem(i), AxisElem(k))), term)
			if k > 0 {
				weighed = Add(out[i], weighed)
			}
			out[i] = weighed
		}
	}
	return out
}

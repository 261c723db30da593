package vae

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/vit"
	"antipode/gomlxmodels/diffusion"
)

// scores are the held-out scores of a model folder.
type scores struct {
	Images int     `json:"pictures"`
	Error  float64 `json:"mean_absolute_error"` // of a channel value from 0 to 255
	PSNR   float64 `json:"psnr"`                // in dB, mean over images
	// Sharpness of the drawn and of the decoded images, mean over images; see [Sharpness].
	DrawnSharpness   float64 `json:"drawn_sharpness"`
	DecodedSharpness float64 `json:"decoded_sharpness"`
	Things           int     `json:"things"` // images of objects in forms of reference images
	// Accuracy of archipelago-vit on the drawn images of objects and on the decoded ones.
	Drawn   seen `json:"seen_in_drawn"`
	Decoded seen `json:"seen_in_decoded"`
	// Deviation is the standard deviation of the scaled latents, the input of the UNet; the target is 1.
	Deviation float64 `json:"latent_deviation"`
}

type seen struct {
	Object float64 `json:"object"`
	Form   float64 `json:"form"`
	Scene  float64 `json:"scene"`
	Island float64 `json:"island"`
}

func (s *scores) String() string {
	return fmt.Sprintf("%d held-out images: mean absolute error %.2f of 255, PSNR %.1f dB, sharpness %.1f "+
		"(drawn %.1f); standard deviation of scaled latents %.3f\n"+
		"accuracy of archipelago-vit on %d decoded (drawn) images: object %.3f (%.3f), form %.3f (%.3f), scene %.3f "+
		"(%.3f), island %.3f (%.3f)",
		s.Images, s.Error, s.PSNR, s.DecodedSharpness, s.DrawnSharpness, s.Deviation, s.Things,
		s.Decoded.Object, s.Drawn.Object, s.Decoded.Form, s.Drawn.Form, s.Decoded.Scene, s.Drawn.Scene,
		s.Decoded.Island, s.Drawn.Island)
}

// score encodes and decodes held-out images, in the proportions of training. Latents are the means.
func score(ctx context.Context, backend compute.Backend, dir string, size int) (fmt.Stringer, error) {
	var described []archipelago.Image
	var drawn []*image.RGBA
	for i := range size {
		p := describe(examples.Stream(examples.HeldOut, 0, i))
		img, _ := examples.World.Paint(p)
		described, drawn = append(described, p), append(drawn, img)
	}
	decoded, deviation, err := roundtrip(ctx, backend, dir, drawn)
	if err != nil {
		return nil, err
	}
	s := &scores{Images: size, Deviation: deviation}
	var before, after []image.Image
	var things []archipelago.Image
	for i, p := range described {
		absolute, square := 0.0, 0.0
		for k, v := range drawn[i].Pix {
			d := float64(v) - float64(decoded[i].Pix[k])
			absolute, square = absolute+math.Abs(d), square+d*d
		}
		n := float64(len(drawn[i].Pix)) * 3 / 4 // alpha is equal
		s.Error += absolute / n / float64(size)
		s.PSNR += 10 * math.Log10(255*255/max(square/n, 1e-9)) / float64(size)
		s.DrawnSharpness += Sharpness(drawn[i]) / float64(size)
		s.DecodedSharpness += Sharpness(decoded[i]) / float64(size)
		if known, _ := archipelago.Variants(p.Object); p.Object != "" && slices.Contains(known, p.Variant) {
			before, after, things = append(before, drawn[i]), append(after, decoded[i]), append(things, p)
		}
	}
	s.Things = len(things)
	for _, one := range []struct {
		images []image.Image
		into   *seen
	}{{before, &s.Drawn}, {after, &s.Decoded}} {
		if len(things) == 0 {
			break
		}
		answers, err := vit.Classify(ctx, backend, vit.Model.Out, one.images)
		if err != nil {
			return nil, err
		}
		share := 1 / float64(len(things))
		for i, a := range answers {
			p := things[i]
			add := func(to *float64, right bool) {
				if right {
					*to += share
				}
			}
			add(&one.into.Object, a.Object == p.Object)
			add(&one.into.Form, a.Form == p.Variant+" "+p.Object)
			add(&one.into.Scene, a.Scene == p.Scene)
			add(&one.into.Island, a.Island == p.Island)
		}
	}
	return s, nil
}

// Sharpness returns how steep the edges of an image are: the 95th percentile, over its pixels, of the length of the
// gradient of the luminance, in levels from 0 to 255 per pixel. A blurred image has a smaller one.
func Sharpness(img image.Image) float64 {
	b := img.Bounds()
	light := func(x, y int) float64 { return float64(color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y) }
	var lengths []float64
	for y := b.Min.Y; y < b.Max.Y-1; y++ {
		for x := b.Min.X; x < b.Max.X-1; x++ {
			lengths = append(lengths, math.Hypot(light(x+1, y)-light(x, y), light(x, y+1)-light(x, y)))
		}
	}
	slices.Sort(lengths)
	if len(lengths) == 0 {
		return 0
	}
	return lengths[len(lengths)*95/100]
}

// roundtrip encodes and decodes images of 128×128 pixels with the autoencoder in a folder. deviation is the standard
// deviation of the scaled latents.
func roundtrip(ctx context.Context, backend compute.Backend, dir string, images []*image.RGBA) (out []*image.RGBA,
	deviation float64, err error) {
	store := model.NewStore()
	defer store.Finalize()
	c, err := Restore(store.RootScope(), dir)
	if err != nil {
		return nil, 0, err
	}
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, in []*Node) []*Node {
		z := diffusion.ForwardEncoder(scope, c, in[0], diffusion.GraphOptions{}).Mean
		return []*Node{diffusion.ForwardDecoder(scope, c, z, diffusion.GraphOptions{}).Image,
			ReduceAllMean(Square(MulScalar(z, c.ScalingFactor)))}
	})
	if err != nil {
		return nil, 0, err
	}
	defer exec.Finalize()
	for i, img := range images {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		in := tensors.FromFlatDataAndDimensions(AppendPixels(nil, img, img.Rect), 1, examples.Size,
			examples.Size, 3)
		answer, err := exec.Exec(in)
		if err != nil {
			return nil, 0, fmt.Errorf("image %d: %w", i+1, err)
		}
		flat, err := tensors.CopyFlatData[float32](answer[0])
		if err != nil {
			return nil, 0, err
		}
		out = append(out, toImage(flat))
		deviation += float64(tensors.ToScalar[float32](answer[1])) / float64(len(images))
		for _, t := range append(answer, in) {
			_ = t.FinalizeAll()
		}
	}
	return out, math.Sqrt(deviation), nil
}

// toImage returns the image of pixels [H,W,3] in [-1,1].
func toImage(flat []float32) *image.RGBA {
	im := image.NewRGBA(image.Rect(0, 0, examples.Size, examples.Size))
	for i := range len(flat) / 3 {
		for c := range 3 {
			im.Pix[4*i+c] = uint8(math.RoundToEven(float64(min(max(flat[3*i+c]/2+0.5, 0), 1) * 255)))
		}
		im.Pix[4*i+3] = 255
	}
	return im
}

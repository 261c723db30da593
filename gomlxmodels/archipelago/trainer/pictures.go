package trainer

import "image"

// AppendPlanes appends a picture's channels as planes, [3,H,W], scaled by mean 0.5 and deviation 0.5 to [-1,1].
func AppendPlanes(out []float32, im *image.RGBA) []float32 {
	for c := range 3 {
		for i := c; i < len(im.Pix); i += 4 {
			out = append(out, float32(im.Pix[i])/127.5-1)
		}
	}
	return out
}

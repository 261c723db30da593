package main

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"time"

	"antipode/gomlxmodels/preprocess"
)

// decodeBenchmark measures decoding a JPEG file of 1024×768 pixels and resizing it to 224×224.
var decodeBenchmark = benchmark{
	about: "decoding a JPEG image of 1024×768 pixels and bicubic resizing to 224×224, against Pillow, on one thread",
	ints:  map[string]int{"n": 20, "repeat": 5, "seed": 1},
	run: func(s *session) error {
		n := s.int("n")
		var file bytes.Buffer
		if err := jpeg.Encode(&file, pattern(1024, 768), &jpeg.Options{Quality: 90}); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.dir, "image.jpg"), file.Bytes(), 0o600); err != nil {
			return err
		}
		if err := s.start(n); err != nil {
			return err
		}
		var small *preprocess.RGB
		ours := func() ([]float64, error) {
			begin := time.Now()
			var decoded *preprocess.RGB
			for range n {
				var err error
				if decoded, err = preprocess.Decode(file.Bytes()); err != nil {
					return nil, err
				}
			}
			middle := time.Now()
			for range n {
				small = preprocess.Resize(decoded, 224, 224, preprocess.Bicubic)
			}
			return []float64{middle.Sub(begin).Seconds(), time.Since(middle).Seconds()}, nil
		}
		err := s.parts([]part{{"decoding JPEG, 1024×768", "images", n}, {"bicubic resize to 224×224", "images", n}},
			side{"antipode", ours})
		if err != nil {
			return err
		}
		got := make([]float32, len(small.Pix))
		for i, v := range small.Pix {
			got[i] = float32(v)
		}
		if err := s.same([][]float32{got}, 3./128); err != nil { // decoders differ by up to 2 levels of 255
			return fmt.Errorf("resized image: %w", err)
		}
		return nil
	},
}

// pattern is an image with smooth areas and detail.
func pattern(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			for c := range 3 {
				v := 127 + 60*math.Sin(float64(x*(c+1))/97) + 60*math.Sin(float64(x*y)/(9000*float64(c+1)))
				img.Pix[img.PixOffset(x, y)+c] = uint8(v)
			}
			img.Pix[img.PixOffset(x, y)+3] = 255
		}
	}
	return img
}

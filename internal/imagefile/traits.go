package imagefile

import (
	"encoding/binary"
	"image"
	"image/color"
	"slices"

	"antipode/internal/exif"
	"antipode/internal/icc"
)

// Traits are what is special about an image file: what is lost or guessed when it is read as 8-bit RGB.
type Traits int

// The traits. A store's index remembers them: a bit keeps its meaning.
const (
	Read        Traits = 1 << iota // they were read; the file may be no image
	Profile                        // a color profile other than sRGB
	Foreign                        // of Profile: one that package icc does not convert
	Transparent                    // pixels that are not opaque
	Deep                           // 16 bits a channel
	CMYK
	Frames // an animation, or several pages
	Turned // by EXIF
	Gray
)

// TraitsOf returns the traits of a file. A file that is no image has none.
func TraitsOf(data []byte) Traits {
	t := Read
	f, c, err := open(data)
	if err != nil {
		return t
	}
	set := func(trait Traits, is bool) {
		if is {
			t |= trait
		}
	}
	clear := false // it may have transparent pixels
	switch f.name {
	case "PNG": // the header's bits and color type
		set(Deep, data[24] == 16)
		set(Gray, data[25]&^4 == 0)
		frames := exif.PNGChunk(data, "acTL")
		set(Frames, len(frames) >= 4 && binary.BigEndian.Uint32(frames) > 1)
		clear = data[25] >= 4 || exif.PNGChunk(data, "tRNS") != nil
	case "GIF":
		set(Frames, gifFrames(data) > 1)
		clear = true
	case "WebP":
		clear = c.ColorModel != color.YCbCrModel
	case "TIFF":
		set(Frames, exif.MorePages(data))
		_, clear = exif.Tag(data, 338) // more channels than colors
	case "BMP":
		clear = c.ColorModel == color.NRGBAModel || c.ColorModel == color.RGBAModel
	}
	set(Deep, slices.Contains([]color.Model{color.Gray16Model, color.RGBA64Model, color.NRGBA64Model}, c.ColorModel))
	set(Gray, c.ColorModel == color.GrayModel || c.ColorModel == color.Gray16Model)
	set(CMYK, c.ColorModel == color.CMYKModel)
	set(Turned, exif.Orientation(data) > 1)
	if b := icc.Embedded(data); b != nil {
		p, err := icc.Parse(b)
		gray := t&Gray != 0
		other := err != nil || !p.IsSRGB(gray) // a gray image may have a profile of RGB
		set(Foreign, other && (err != nil || p.Gray != gray))
		set(Profile, other)
	}
	if clear {
		seen, err := Decode(data, func(img image.Image, _ string, _ image.Config) (bool, error) {
			o, known := img.(interface{ Opaque() bool })
			return known && !o.Opaque(), nil
		})
		set(Transparent, err == nil && seen)
	}
	return t
}

// gifFrames returns the number of images in a GIF, up to 2.
func gifFrames(b []byte) (n int) {
	table := func(flags byte) int { // the size of a color table
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	if len(b) < 13 {
		return 0
	}
	for at := 13 + table(b[10]); n < 2 && at < len(b); {
		switch {
		case b[at] == 0x21: // an extension
			at += 2
		case b[at] == 0x2c && at+10 < len(b): // an image
			n++
			at += 11 + table(b[at+9])
		default:
			return n
		}
		for at < len(b) && b[at] != 0 { // blocks of data
			at += 1 + int(b[at])
		}
		at++
	}
	return n
}

// Package jpeg decodes JPEG files to the pixels of libjpeg-turbo, the decoder of Pillow and torchvision, bit for bit:
// its inverse cosine transform (ISLOW), its triangle filters for subsampled colors, its conversion of colors.
//
// It reads baseline, extended sequential and progressive files with Huffman coding and 8 bits, of one, three or four
// components. Arithmetic coding, lossless and hierarchical files are refused. A file that ends early or holds damaged
// data is an error, where libjpeg fills the missing pixels with gray and warns.
//
// # Limitations
//
// Of a progressive file that lacks scans but is not cut off, libjpeg smooths the blocks whose coefficients are
// missing; this package does not. Products of coefficients and quantization values beyond 16 bits, which no encoder
// writes, are computed as libjpeg-turbo does on amd64.
package jpeg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
)

// Version names the decoder in digests of results that depend on its pixels. It changes with them.
const Version = "jpeg/1"

// ErrTruncated is wrapped by the error about a file that ends before its image does.
var ErrTruncated = errors.New("the file is cut off")

// Image is a decoded image: Pix holds Height rows of Width red-green-blue triples. It is an [image.Image] too.
type Image struct {
	Width, Height int
	Pix           []uint8 // [Height·Width·3]
}

// ColorModel is part of [image.Image].
func (m *Image) ColorModel() color.Model { return color.RGBAModel }

// Bounds is part of [image.Image].
func (m *Image) Bounds() image.Rectangle { return image.Rect(0, 0, m.Width, m.Height) }

// At is part of [image.Image].
func (m *Image) At(x, y int) color.Color { return m.RGBA64At(x, y) }

// RGBA64At is part of [image.RGBA64Image].
func (m *Image) RGBA64At(x, y int) color.RGBA64 {
	if !image.Pt(x, y).In(m.Bounds()) {
		return color.RGBA64{}
	}
	p := m.Pix[3*(y*m.Width+x):][:3]
	return color.RGBA64{uint16(p[0]) * 0x101, uint16(p[1]) * 0x101, uint16(p[2]) * 0x101, 0xffff}
}

// markers.
const (
	markerSOF0  = 0xc0 // baseline
	markerSOF1  = 0xc1 // extended sequential
	markerSOF2  = 0xc2 // progressive
	markerDHT   = 0xc4
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDRI   = 0xdd
	markerAPP0  = 0xe0
	markerAPP14 = 0xee
)

// decoder is the state of one call of Decode.
type decoder struct {
	data []byte // of the file
	pos  int    // of the next byte to read

	width, height int
	progressive   bool
	comps         []component
	maxH, maxV    int // largest sampling factors
	mcusX, mcusY  int // interleaved MCUs of the image

	jfif           bool
	adobe          bool
	adobeTransform byte

	quant    [4]*[64]int16 // in natural order; a value of 16 bits wraps
	huff     [2][4]*huffman
	interval int // MCUs between restart markers, 0 = none

	bits  bitReader
	out   *Image
	shown int      // rows of out that are done
	wide  [4]sides // rows of color at full width
}

// Decode decodes a file.
func Decode(data []byte) (*Image, error) {
	d := &decoder{data: data}
	if err := d.read(false); err != nil {
		return nil, err
	}
	return d.out, nil
}

// DecodeConfig returns the size of a file's image, from its header.
func DecodeConfig(data []byte) (image.Config, error) {
	d := &decoder{data: data}
	err := d.read(true)
	model := color.RGBAModel
	switch len(d.comps) {
	case 1:
		model = color.GrayModel
	case 4:
		model = color.CMYKModel
	}
	return image.Config{ColorModel: model, Width: d.width, Height: d.height}, err
}

// Quality returns the quality from 1 to 100 for which libjpeg would have made a file's first quantization table; NaN if
// it has none. Encoders with tables of their own have no such quality, and get that of a table with the same sum.
func Quality(data []byte) float64 {
	d := &decoder{data: data}
	if _ = d.read(true); d.quant[0] == nil {
		return math.NaN()
	}
	sum := 0.0
	for _, q := range d.quant[0] {
		sum += float64(q)
	}
	scale := 100 * sum / 3688 // the sum of the table of luminance in Annex K
	if scale > 100 {
		return math.Round(max(1, 5000/scale))
	}
	return math.Round(min(100, (200-scale)/2))
}

// read reads the file to its end, or to the size of the image.
func (d *decoder) read(header bool) error {
	if len(d.data) < 2 || d.data[0] != 0xff || d.data[1] != markerSOI {
		return errors.New("the file does not start with a JPEG marker")
	}
	d.pos = 2
	for {
		marker, err := d.marker()
		if err != nil {
			return err
		}
		if marker == markerEOI {
			return d.finish()
		}
		if marker >= markerRST0 && marker <= markerSOI || marker == 0x01 { // without a body
			continue
		}
		body, err := d.body()
		if err != nil {
			return err
		}
		switch {
		case marker == markerDQT:
			err = d.quantization(body)
		case marker == markerDHT:
			err = d.huffmanTables(body)
		case marker == markerDRI:
			if len(body) != 2 {
				return fmt.Errorf("a restart interval of %d bytes", len(body))
			}
			d.interval = int(binary.BigEndian.Uint16(body))
		case marker == markerAPP0:
			d.jfif = d.jfif || len(body) >= 12 && string(body[:5]) == "JFIF\x00"
		case marker == markerAPP14:
			if len(body) >= 12 && string(body[:5]) == "Adobe" {
				d.adobe, d.adobeTransform = true, body[11]
			}
		case marker == markerSOS:
			err = d.scan(body)
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc8:
			if err = d.frame(marker, body); err == nil && header {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// marker returns the next marker and skips what is in front of it.
func (d *decoder) marker() (byte, error) {
	for d.pos < len(d.data)-1 {
		if d.data[d.pos] == 0xff && d.data[d.pos+1] != 0 && d.data[d.pos+1] != 0xff {
			d.pos += 2
			return d.data[d.pos-1], nil
		}
		d.pos++
	}
	return 0, ErrTruncated
}

// body returns the bytes of a marker's segment.
func (d *decoder) body() ([]byte, error) {
	if len(d.data)-d.pos < 2 {
		return nil, ErrTruncated
	}
	n := int(binary.BigEndian.Uint16(d.data[d.pos:]))
	if n < 2 {
		return nil, fmt.Errorf("a segment of %d bytes at offset %d", n, d.pos)
	}
	if len(d.data)-d.pos < n {
		return nil, ErrTruncated
	}
	body := d.data[d.pos+2 : d.pos+n]
	d.pos += n
	return body, nil
}

func (d *decoder) quantization(b []byte) error {
	for len(b) > 0 {
		precision, slot := b[0]>>4, b[0]&15
		size := 64 * (1 + int(precision))
		if precision > 1 || slot > 3 || len(b) < 1+size {
			return errors.New("a damaged quantization table")
		}
		b = b[1:]
		var q [64]int16
		for i := range 64 {
			if precision == 0 {
				q[zigzag[i]] = int16(b[i])
			} else {
				q[zigzag[i]] = int16(binary.BigEndian.Uint16(b[2*i:]))
			}
		}
		d.quant[slot] = &q
		b = b[size:]
	}
	return nil
}

func (d *decoder) huffmanTables(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 || b[0]>>4 > 1 || b[0]&15 > 3 {
			return errors.New("a damaged Huffman table")
		}
		h, n, err := newHuffman(b[1:], b[0]>>4 == 0)
		if err != nil {
			return err
		}
		d.huff[b[0]>>4][b[0]&15] = h
		b = b[1+n:]
	}
	return nil
}

// finish is called at the end of the file.
func (d *decoder) finish() error {
	if d.out == nil {
		if len(d.comps) == 0 {
			return errors.New("the file has no image")
		}
		return errors.New("the file has a header and no image data")
	}
	for i := range d.comps {
		if d.comps[i].quant == nil {
			return fmt.Errorf("the file has no image data of component %d of %d", i+1, len(d.comps))
		}
	}
	d.transform()
	return nil
}

// zigzag is the position in an 8×8 block, row by row, of the coefficient with a number in the file. 16 more entries
// take the coefficients of damaged files.
var zigzag = [64 + 16]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
	63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
}

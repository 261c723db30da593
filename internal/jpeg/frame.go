package jpeg

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// component is one of the planes of an image: luma, a color, an ink.
type component struct {
	id    byte
	h, v  int // sampling factors
	table int // of quantization

	width, height int          // in samples
	blocksX       int          // blocks in a row that hold samples
	blocksY       int          // as above, in a column
	quant         *[64]int16   // the table at the component's first scan
	coefs         [][64]int16  // of all blocks, where the file has several scans; rows of mcusX·h blocks
	set           []uint64     // of each block: the numbers of coefficients after the first that are not 0
	known         [64]int8     // by coefficient: 0 = not read, else 1 + the bits that are missing
	dc, ac        *huffman     // of the current scan
	pred          int32        // DC of the block before
	stride        int          // of pix
	pix           []uint8      // the last two rows of MCUs: a ring of 16·v rows
	upsample      upsampleKind // how the plane gets the image's size
}

// frame reads the image's size and components.
func (d *decoder) frame(marker byte, b []byte) error {
	switch {
	case marker >= 0xc9:
		return errors.New("arithmetic coding is not supported; save the image as a baseline JPEG")
	case marker == 0xc3 || marker == 0xc7:
		return errors.New("lossless JPEG is not supported; save the image as a baseline JPEG")
	case marker > markerSOF2:
		return errors.New("hierarchical JPEG is not supported; save the image as a baseline JPEG")
	case d.comps != nil:
		return errors.New("the file has two image headers")
	case len(b) < 6 || len(b) != 6+3*int(b[5]):
		return errors.New("a damaged image header")
	case b[0] != 8:
		return fmt.Errorf("%d bits a sample are not supported; save the image with 8 bits", b[0])
	}
	d.progressive = marker == markerSOF2
	d.height, d.width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	n := int(b[5])
	if d.width == 0 || d.height == 0 {
		return fmt.Errorf("the image has no pixels (%d×%d)", d.width, d.height)
	}
	if n != 1 && n != 3 && n != 4 {
		return fmt.Errorf("%d color components are not supported; save the image as RGB", n)
	}
	d.comps, d.maxH, d.maxV = make([]component, n), 1, 1
	for i := range d.comps {
		c, b := &d.comps[i], b[6+3*i:]
		*c = component{id: b[0], h: int(b[1] >> 4), v: int(b[1] & 15), table: int(b[2])}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.table > 3 {
			return errors.New("damaged sampling factors")
		}
		d.maxH, d.maxV = max(d.maxH, c.h), max(d.maxV, c.v)
	}
	d.mcusX, d.mcusY = ceil(d.width, 8*d.maxH), ceil(d.height, 8*d.maxV)
	for i := range d.comps {
		c := &d.comps[i]
		c.width, c.height = ceil(d.width*c.h, d.maxH), ceil(d.height*c.v, d.maxV)
		c.blocksX, c.blocksY = ceil(d.width*c.h, 8*d.maxH), ceil(d.height*c.v, 8*d.maxV)
		c.stride = 8 * d.mcusX * c.h
		var ok bool
		if c.upsample, ok = upsampling(d.maxH, c.h, d.maxV, c.v, c.width); !ok {
			return fmt.Errorf("a subsampling of %d×%d in %d×%d is not supported; save the image as 4:4:4", c.h, c.v,
				d.maxH, d.maxV)
		}
	}
	return nil
}

func ceil(a, b int) int { return (a + b - 1) / b }

// allocate makes the buffers, at the first scan. A file too short for its size is found before.
func (d *decoder) allocate(several bool) error {
	blocks := 0
	for i := range d.comps {
		blocks += d.comps[i].blocksX * d.comps[i].blocksY
	}
	if blocks > 8*(len(d.data)-d.pos) { // each block takes at least one bit
		return ErrTruncated
	}
	for i := range d.comps {
		c := &d.comps[i]
		c.pix = make([]uint8, c.stride*16*c.v)
		if several {
			n := d.mcusX * c.h * d.mcusY * c.v
			c.coefs, c.set = make([][64]int16, n), make([]uint64, n)
		}
	}
	d.out = &Image{d.width, d.height, make([]uint8, 3*d.width*d.height)}
	return nil
}

// band is a part of the coefficients and their bits, as the header of a scan describes it.
type band struct {
	first, last int  // coefficients
	high, low   uint // bits: high was the low of the scan before
}

// scan reads a scan: its header and its data.
func (d *decoder) scan(b []byte) error {
	if d.comps == nil {
		return errors.New("image data without an image header")
	}
	if len(b) < 1 || b[0] < 1 || b[0] > 4 || len(b) != 4+2*int(b[0]) {
		return errors.New("a damaged scan header")
	}
	var comps []*component
	blocks := 0
	for i := range int(b[0]) {
		var c *component
		for j := range d.comps {
			if d.comps[j].id == b[1+2*i] {
				c = &d.comps[j]
				break
			}
		}
		if c == nil {
			return errors.New("a scan of a component that the image does not have")
		}
		for _, other := range comps {
			if other == c {
				return errors.New("a scan with a component twice")
			}
		}
		if c.quant == nil {
			if c.quant = d.quant[c.table]; c.quant == nil {
				return fmt.Errorf("quantization table %d is missing", c.table)
			}
		}
		c.pred = 0
		if b[2+2*i]>>4 > 3 || b[2+2*i]&15 > 3 {
			return errors.New("a damaged scan header")
		}
		c.dc, c.ac = d.huff[0][b[2+2*i]>>4], d.huff[1][b[2+2*i]&15]
		comps = append(comps, c)
		blocks += c.h * c.v
	}
	if len(comps) > 1 && blocks > 10 {
		return errors.New("an MCU of more than 10 blocks")
	}
	b = b[1+2*len(comps):]
	s := band{int(b[0]), int(b[1]), uint(b[2] >> 4), uint(b[2] & 15)}
	if !d.progressive {
		s = band{0, 63, 0, 0}
	}
	several := d.progressive || len(comps) < len(d.comps)
	if d.out == nil {
		if err := d.allocate(several); err != nil {
			return err
		}
	} else if d.comps[0].coefs == nil {
		return errors.New("image data after the end of the image")
	}
	if err := s.begin(comps, d.progressive); err != nil {
		return err
	}
	return d.entropy(comps, s)
}

// begin checks a scan against the scans before it, and that it has its Huffman tables.
func (s band) begin(comps []*component, progressive bool) error {
	if progressive && (s.first > s.last || s.last > 63 || s.first == 0 && s.last > 0 || s.low > 13 ||
		s.first > 0 && len(comps) > 1) {
		return errors.New("a damaged scan header")
	}
	for _, c := range comps {
		needsDC, needsAC := s.first == 0 && s.high == 0, s.last > 0
		if needsDC && c.dc == nil || needsAC && c.ac == nil {
			return errors.New("a Huffman table is missing")
		}
		want := int8(0)
		if s.high > 0 {
			want = int8(s.high) + 1
		}
		for k := s.first; k <= s.last; k++ {
			if c.known[k] != want || s.high > 0 && s.low+1 != s.high || s.first > 0 && c.known[0] == 0 {
				return errors.New("scans in a wrong order")
			}
			c.known[k] = int8(s.low) + 1
		}
	}
	return nil
}

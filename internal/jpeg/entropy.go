package jpeg

import (
	"errors"
	"fmt"
	"math/bits"
)

var errBlock = errors.New("damaged image data: a block of more than 64 coefficients")

// entropy reads the data of a scan of the components.
func (d *decoder) entropy(comps []*component, s band) error {
	width, height := d.mcusX, d.mcusY
	if len(comps) == 1 {
		width, height = comps[0].blocksX, comps[0].blocksY
	}
	d.segment()
	var run uint32 // blocks to come that have no coefficients in this band
	left, restart := d.interval, 0
	for y := range height {
		for x := 0; x < width; x++ {
			if d.interval > 0 {
				if left == 0 {
					if err := d.restart(restart); err != nil {
						return err
					}
					for _, c := range comps {
						c.pred = 0
					}
					run, left, restart = 0, d.interval, (restart+1)&7
				}
				left--
			}
			var err error
			switch {
			case len(comps) == 1 && comps[0].coefs == nil:
				err = d.single(comps[0], x, y)
			case run > 0 && s.high == 0 && d.interval == 0:
				skip := min(run, uint32(width-x))
				run -= skip
				x += int(skip) - 1
			case len(comps) == 1:
				c := comps[0]
				run, err = d.coefficients(c, y*d.mcusX*c.h+x, s, run)
			case comps[0].coefs == nil:
				err = d.mcu(comps, x, y)
			default:
				err = d.stored(comps, x, y, s)
			}
			if err != nil {
				return d.damaged(err)
			}
		}
		if d.bits.over() {
			return d.damaged(nil)
		}
		if d.comps[0].coefs == nil {
			d.emitAfter(y, len(comps) == 1)
		}
	}
	return nil
}

// segment makes the data up to the next marker the one to read bits of.
func (d *decoder) segment() {
	rest := d.bits.segment(d.data[d.pos:])
	d.pos = len(d.data) - len(rest)
}

// damaged is the error of bits that cannot be read. Those after the end of the data are zeros, so that they may be no
// code: then the error says that there is no more data.
func (d *decoder) damaged(err error) error {
	if !d.bits.over() {
		return err
	}
	if d.pos >= len(d.data)-1 {
		return ErrTruncated
	}
	return fmt.Errorf("damaged image data: a marker %#x inside, at offset %d", d.data[d.pos+1], d.pos)
}

// restart reads a restart marker and starts on the data after it.
func (d *decoder) restart(number int) error {
	if d.bits.over() {
		return d.damaged(nil)
	}
	marker, err := d.marker()
	if err != nil {
		return err
	}
	if int(marker) != markerRST0+number {
		return fmt.Errorf("damaged image data: a marker %#x instead of restart marker %d", marker, number)
	}
	d.segment()
	return nil
}

// single reads the block of a file of one component and transforms it.
func (d *decoder) single(c *component, x, y int) error {
	var b [64]int16
	last, err := d.bits.block(c, &b)
	if err == nil {
		// Blocks of one component are in rows of blocks, not of MCUs, whatever its sampling factors are.
		c.inverse(&b, last, x, y)
	}
	return err
}

// mcu reads the blocks of an MCU and transforms them.
func (d *decoder) mcu(comps []*component, x, y int) error {
	var b [64]int16
	for _, c := range comps {
		for v := range c.v {
			for h := range c.h {
				last, err := d.bits.block(c, &b)
				if err != nil {
					return err
				}
				c.inverse(&b, last, x*c.h+h, y*c.v+v)
				clear(b[:])
			}
		}
	}
	return nil
}

// stored reads the blocks of an MCU and stores them.
func (d *decoder) stored(comps []*component, x, y int, s band) error {
	for _, c := range comps {
		for v := range c.v {
			for h := range c.h {
				at := (y*c.v+v)*d.mcusX*c.h + x*c.h + h
				if _, err := d.coefficients(c, at, s, 0); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// coefficients reads what a scan holds of block at. run is the number of blocks to skip, before and after.
func (d *decoder) coefficients(c *component, at int, s band, run uint32) (uint32, error) {
	b, set := &c.coefs[at], &c.set[at]
	switch {
	case !d.progressive:
		last, err := d.bits.block(c, b)
		*set |= 1 << last
		return 0, err
	case s.first == 0 && s.high == 0:
		v, err := d.bits.difference(c)
		b[0] = int16(v << s.low)
		return 0, err
	case s.first == 0:
		b[0] |= int16(d.bits.take(1) << s.low)
		return 0, nil
	case s.high == 0:
		if run > 0 {
			return run - 1, nil
		}
		return d.bits.band(c.ac, b, set, s)
	}
	return d.bits.refine(c.ac, b, set, s, run)
}

// difference reads a DC coefficient, which is stored as the difference to the one before.
func (r *bitReader) difference(c *component) (int32, error) {
	if r.n < 32 {
		r.fill()
	}
	e := c.dc.find(r.acc)
	if e == 0 {
		return 0, errHuffman
	}
	r.acc <<= e & 0xff
	r.n -= uint(e & 0xff)
	if value := int32(e) >> 16; value != 0 {
		c.pred += value
	} else if size := uint(e >> 8 & 15); size > 0 {
		c.pred += extend(r.take(size), uint32(size))
	}
	return c.pred, nil
}

// block reads a block into b, which holds zeros, and returns the number of the last coefficient that is not 0.
func (r *bitReader) block(c *component, b *[64]int16) (last int, err error) {
	if r.n < 32 {
		r.fill()
	}
	acc, n := r.acc, r.n
	e := c.dc.fast[acc>>(64-lookahead)]
	if e == 0 {
		if e = c.dc.long(acc); e == 0 {
			return 0, errHuffman
		}
	}
	acc <<= e & 0xff
	n -= uint(e & 0xff)
	if value := int32(e) >> 16; value != 0 {
		c.pred += value
	} else if size := e >> 8 & 15; size > 0 {
		c.pred += extend(uint32(acc>>(64-size)), size)
		acc <<= size
		n -= uint(size)
	}
	b[0] = int16(c.pred)
	ac := c.ac
	for k := 1; k < 64; k++ {
		if n < 32 {
			r.acc, r.n = acc, n
			r.fill()
			acc, n = r.acc, r.n
		}
		e := ac.fast[acc>>(64-lookahead)]
		if e == 0 {
			if e = ac.long(acc); e == 0 {
				return 0, errHuffman
			}
		}
		acc <<= e & 0xff
		n -= uint(e & 0xff)
		k += int(e >> 12 & 15)
		value := int16(e >> 16)
		if value == 0 {
			size := e >> 8 & 15
			if size == 0 {
				if e>>12&15 == 15 {
					continue
				}
				break
			}
			value = int16(extend(uint32(acc>>(64-size)), size))
			acc <<= size
			n -= uint(size)
		}
		b[zigzag[k]&63] = value
		last = k
	}
	r.acc, r.n = acc, n
	if last > 63 {
		return 0, errBlock
	}
	return last, nil
}

// band reads the coefficients of a band for the first time and adds their numbers to set. It returns the number of
// blocks that follow without any.
func (r *bitReader) band(ac *huffman, b *[64]int16, set *uint64, s band) (run uint32, err error) {
	acc, n := r.acc, r.n
	for k := s.first; k <= s.last; k++ {
		if n < 32 {
			r.acc, r.n = acc, n
			r.fill()
			acc, n = r.acc, r.n
		}
		e := ac.fast[acc>>(64-lookahead)]
		if e == 0 {
			if e = ac.long(acc); e == 0 {
				r.n = n
				return 0, errHuffman
			}
		}
		acc <<= e & 0xff
		n -= uint(e & 0xff)
		zeros, size, value := e>>12&15, e>>8&15, int32(e)>>16
		k += int(zeros)
		if size == 0 {
			if zeros == 15 {
				continue
			}
			run = 1<<zeros + uint32(acc>>1>>(63-zeros)) - 1
			acc <<= zeros
			n -= uint(zeros)
			break
		}
		if value == 0 {
			value = extend(uint32(acc>>(64-size)), size)
			acc <<= size
			n -= uint(size)
		}
		if k > 63 {
			r.n = n
			return 0, errBlock
		}
		if v := int16(value << s.low); v != 0 {
			b[zigzag[k]&63] = v
			*set |= 1 << k
		}
	}
	r.acc, r.n = acc, n
	return run, nil
}

// refine reads the next bit of the coefficients of a band that are not 0, which set has, and those that become 1 or -1
// at this bit. run is the number of blocks, from this one, without new coefficients; refine returns that after this
// block.
func (r *bitReader) refine(ac *huffman, b *[64]int16, set *uint64, s band, run uint32) (uint32, error) {
	inBand := uint64(2)<<s.last - 1<<s.first
	old := *set & inBand
	rest := inBand // from the next coefficient on
	for run == 0 && rest != 0 {
		if r.n < 32 {
			r.fill()
		}
		e := ac.find(r.acc)
		if e == 0 {
			return 0, errHuffman
		}
		r.acc <<= e & 0xff
		r.n -= uint(e & 0xff)
		zeros, size, value := e>>12&15, e>>8&15, int32(e)>>16
		switch {
		case size > 1:
			return 0, errHuffman
		case size == 0 && zeros < 15:
			run = 1<<zeros + r.take(uint(zeros))
			continue
		case size == 1 && value == 0:
			value = extend(r.take(1), 1)
		}
		free := rest &^ old
		for ; zeros > 0; zeros-- {
			free &= free - 1
		}
		free &= -free // the next one, after so many that stay 0
		r.correct(b, old&rest&(free-1), s.low)
		if size == 1 {
			if free == 0 {
				return 0, errBlock
			}
			b[zigzag[bits.TrailingZeros64(free)&63]] = int16(value << s.low)
			*set |= free
		}
		rest &= -free << 1 // 0 if none is free
	}
	if run == 0 {
		return 0, nil
	}
	r.correct(b, old&rest, s.low)
	return run - 1, nil
}

// correct reads a bit for each of the coefficients with these numbers and adds it to them.
func (r *bitReader) correct(b *[64]int16, numbers uint64, low uint) {
	acc, n := r.acc, r.n
	for ; numbers != 0; numbers &= numbers - 1 {
		if n == 0 {
			r.acc, r.n = acc, n
			r.fill()
			acc, n = r.acc, r.n
		}
		p := &b[zigzag[bits.TrailingZeros64(numbers)&63]&63]
		bit, sign := int16(acc>>63)<<low, *p>>15
		*p += bit ^ sign - sign
		acc <<= 1
		n--
	}
	r.acc, r.n = acc, n
}

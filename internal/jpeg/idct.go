package jpeg

import "encoding/binary"

// inverse dequantizes and transforms a block, whose coefficients after number last are 0, into the ring of pixels.
func (c *component) inverse(b *[64]int16, last, x, y int) {
	dst := c.pix[8*(y%(2*c.v))*c.stride+8*x:]
	if last == 0 {
		v := clamp((int32(b[0]*c.quant[0]<<2)+16)>>5 + 128)
		for r := range 8 {
			binary.NativeEndian.PutUint64(dst[r*c.stride:], uint64(v)*0x0101010101010101)
		}
		return
	}
	inverseBlock(dst, c.stride, b, c.quant)
}

func clamp(v int32) uint8 { return uint8(min(255, max(0, v))) }

// Constants of the transform, in 13 bits of fraction: sums and differences of √2·cos(k·π/16).
const (
	fix0298, fix0390, fix0541, fix0765 = 2446, 3196, 4433, 6270
	fix0899, fix1175, fix1501, fix1847 = 7373, 9633, 12299, 15137
	fix1961, fix2053, fix2562, fix3072 = 16069, 16819, 20995, 25172
)

// inverseGo is the accurate integer transform of libjpeg: the algorithm of Loeffler, Ligtenberg and Moschytz, first on
// columns, with two more bits of fraction, then on rows. Values out of range wrap or saturate where libjpeg-turbo's
// vector code for amd64 does.
func inverseGo(dst []uint8, stride int, b, quant *[64]int16) {
	var mid [64]int32
	var rest int16 // below the first row
	for _, v := range b[8:] {
		rest |= v
	}
	for x := range 8 {
		at := func(i int) int32 { return int32(b[8*i+x] * quant[8*i+x]) }
		if rest == 0 {
			v := int32(int16(at(0) << 2))
			for i := range 8 {
				mid[8*i+x] = v
			}
			continue
		}
		r0, r1, r2, r3, r4, r5, r6, r7 := inverse8(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), 1<<10)
		mid[x], mid[8+x], mid[16+x], mid[24+x] = narrow(r0>>11), narrow(r1>>11), narrow(r2>>11), narrow(r3>>11)
		mid[32+x], mid[40+x], mid[48+x], mid[56+x] = narrow(r4>>11), narrow(r5>>11), narrow(r6>>11), narrow(r7>>11)
	}
	for y := range 8 {
		m := mid[8*y:][:8]
		r0, r1, r2, r3, r4, r5, r6, r7 := inverse8(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], 128<<18+1<<17)
		row := dst[y*stride:][:8]
		row[0], row[1], row[2], row[3] = clamp(r0>>18), clamp(r1>>18), clamp(r2>>18), clamp(r3>>18)
		row[4], row[5], row[6], row[7] = clamp(r4>>18), clamp(r5>>18), clamp(r6>>18), clamp(r7>>18)
	}
}

// narrow saturates to 16 bits.
func narrow(v int32) int32 { return min(1<<15-1, max(-1<<15, v)) }

// add16 adds in 16 bits.
func add16(a, b int32) int32 { return int32(int16(a + b)) }

// inverse8 transforms eight values of 16 bits. round is added to the results.
func inverse8(a0, a1, a2, a3, a4, a5, a6, a7, round int32) (r0, r1, r2, r3, r4, r5, r6, r7 int32) {
	z3, z4 := add16(a7, a3), add16(a5, a1)
	z3, z4 = z3*(fix1175-fix1961)+z4*fix1175, z3*fix1175+z4*(fix1175-fix0390)
	odd0, odd3 := a7*(fix0298-fix0899)-a1*fix0899+z3, -a7*fix0899+a1*(fix1501-fix0899)+z4
	odd1, odd2 := a5*(fix2053-fix2562)-a3*fix2562+z4, -a5*fix2562+a3*(fix3072-fix2562)+z3

	even2, even3 := a2*fix0541+a6*(fix0541-fix1847), a2*(fix0541+fix0765)+a6*fix0541
	even0, even1 := add16(a0, a4)<<13+round, add16(a0, -a4)<<13+round
	s0, s3, s1, s2 := even0+even3, even0-even3, even1+even2, even1-even2
	return s0 + odd3, s1 + odd2, s2 + odd1, s3 + odd0, s3 - odd0, s2 - odd1, s1 - odd2, s0 - odd3
}

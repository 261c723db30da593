package preprocess

import "golang.org/x/sys/cpu"

// vectors is whether the CPU has the instructions of kernels_amd64.s. Tests compare both ways.
var vectors = cpu.X86.HasAVX2

// acrossAVX2 resizes four rows to n pixels each. Pixel i of a row is made of the 4·groups pixels of the source from
// byte first[i] on, with the weights of weights[i·groups:]; a half is added, and bits fraction bits are removed. Of
// each group 16 bytes are read, 4 more than its pixels have.
//
//go:noescape
func acrossAVX2(dst *uint8, dstStride int, src *uint8, srcStride int, first *int, weights *group, n, groups int,
	half int32, bits uint)

// downAVX2 is downRow for n bytes, a multiple of 32, and as many rows as taps.
//
//go:noescape
func downAVX2(dst, src *uint8, stride int, weights *pair, taps, n int, half int32, bits uint)

// pair is two weights, of which the vector code multiplies the low and the high half separately: low is signed, high
// what is missing.
type pair struct{ low, high [2]int16 }

// group is four weights in the order of the vector code: the low halves, the high halves.
type group struct{ low, high [4]int16 }

// halves splits a weight: it is low + high<<16.
func halves(w int32) (low, high int16) { return int16(w), int16((w - int32(int16(w))) >> 16) }

func acrossRows(out, v view, columns *plan) {
	groups := (columns.most + 3) / 4
	if !vectors || v.height < 4 || v.width < max(2, 4*groups) {
		acrossGo(out, v, columns)
		return
	}
	first, weights := make([]int, len(columns.taps)), make([]group, groups*len(columns.taps))
	for i, t := range columns.taps {
		start := min(t.first, v.width-4*groups)
		first[i] = 3 * start
		for k, w := range t.weights {
			k += t.first - start
			g := &weights[i*groups+k/4]
			g.low[k%4], g.high[k%4] = halves(w)
		}
	}
	four := func(y int, src []uint8) {
		_, _ = out.row(y+3), src[3*v.stride+3*v.width+3] // bytes after the last pixel are read
		acrossAVX2(&out.row(y)[0], out.stride, &src[0], v.stride, &first[0], &weights[0], len(first), groups,
			1<<columns.bits>>1, columns.bits)
	}
	for y := 0; y < v.height-4; y += 4 {
		four(y, v.pix[y*v.stride:])
	}
	last := v.height - 4 // the last four rows, some of them again
	four(last, append(v.pix[last*v.stride:len(v.pix):len(v.pix)], 0, 0, 0, 0))
}

func downRows(out, v view, rows *plan) {
	n := 3 * v.width
	if !vectors || n < 32 {
		downGo(out, v, rows)
		return
	}
	pairs := make([]pair, (rows.most+1)/2)
	for y, t := range rows.taps {
		clear(pairs)
		for k, w := range t.weights {
			pairs[k/2].low[k%2], pairs[k/2].high[k%2] = halves(w)
		}
		dst, src := out.row(y), v.pix[t.first*v.stride:]
		_, _ = dst[n-1], src[(len(t.weights)-1)*v.stride+n-1]
		downAVX2(&dst[0], &src[0], v.stride, &pairs[0], len(t.weights), n&^31, 1<<rows.bits>>1, rows.bits)
		last := n - 32 // the last 32, some of them again
		downAVX2(&dst[last], &src[last], v.stride, &pairs[0], len(t.weights), 32, 1<<rows.bits>>1, rows.bits)
	}
}

package jpeg

import "golang.org/x/sys/cpu"

// vectors is whether the CPU has the instructions of kernels_amd64.s. Tests compare both ways.
var vectors = cpu.X86.HasAVX2

// inverseAVX2 is inverseGo. dst has 8 rows of 8 bytes, stride bytes apart.
//
//go:noescape
func inverseAVX2(dst *uint8, stride int, b, quant *[64]int16)

// widenAVX2 is widenGo for n samples, a multiple of 16, that have neighbors on both sides.
//
//go:noescape
func widenAVX2(out, near, far *uint8, n int, even, odd uint16)

// convertAVX2 is convertGo for n pixels, a multiple of 16.
//
//go:noescape
func convertAVX2(out, luma, blue, red *uint8, n int)

func inverseBlock(dst []uint8, stride int, b, quant *[64]int16) {
	if !vectors {
		inverseGo(dst, stride, b, quant)
		return
	}
	_ = dst[7*stride+7]
	inverseAVX2(&dst[0], stride, b, quant)
}

func widen(out, near, far []uint8, even, odd uint16) {
	n := len(near)
	if !vectors || n < 18 {
		widenGo(out, near, far, even, odd, 0, n)
		return
	}
	_, _ = out[2*n-1], far[n-1]
	widenGo(out, near, far, even, odd, 0, 1)
	widenAVX2(&out[2], &near[1], &far[1], (n-2)&^15, even, odd)
	last := n - 17 // the last 16, some of them again
	widenAVX2(&out[2*last], &near[last], &far[last], 16, even, odd)
	widenGo(out, near, far, even, odd, n-1, n)
}

func convert(out, luma, blue, red []uint8) {
	n := len(luma)
	if !vectors || n < 16 {
		convertGo(out, luma, blue, red)
		return
	}
	_, _, _ = out[3*n-1], blue[n-1], red[n-1]
	convertAVX2(&out[0], &luma[0], &blue[0], &red[0], n&^15)
	last := n - 16 // the last 16, some of them again
	convertAVX2(&out[3*last], &luma[last], &blue[last], &red[last], 16)
}

//go:build !amd64

package jpeg

var vectors = false

func inverseBlock(dst []uint8, stride int, b, quant *[64]int16) { inverseGo(dst, stride, b, quant) }

func widen(out, near, far []uint8, even, odd uint16) {
	widenGo(out, near, far, even, odd, 0, len(near))
}

func convert(out, luma, blue, red []uint8) { convertGo(out, luma, blue, red) }

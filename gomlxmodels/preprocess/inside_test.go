//go:build unix

package preprocess

import (
	"image"
	"math/rand/v2"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"antipode/internal/must"
	"antipode/internal/near"
)

// fenced returns an image whose pixels are between pages that may not be read: at the start of what may be read, or
// at its end.
func fenced(t *testing.T, width, height int, atEnd bool) *RGB {
	page := syscall.Getpagesize()
	inside := (3*width*height + page - 1) / page * page
	memory := must.Get(syscall.Mmap(-1, 0, inside+2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE))(t)
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	for _, fence := range [][]byte{memory[:page], memory[page+inside:]} {
		must.Do(t, syscall.Mprotect(fence, syscall.PROT_NONE))
	}
	pixels := memory[page:][:3*width*height]
	if atEnd {
		pixels = memory[page+inside-3*width*height:][:3*width*height]
	}
	return &RGB{width, height, pixels}
}

// TestResizeStaysInside resizes images next to memory that may not be read.
func TestResizeStaysInside(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(near.Seed(t), 3))
	for i := range 200 {
		width, height := 1+r.IntN(80), 1+r.IntN(40)
		p := fenced(t, width, height, i%2 == 0)
		copy(p.Pix, noise(r, width, height).Pix)
		for range 5 {
			w, h := 1+r.IntN(60), 1+r.IntN(60)
			p.view().resize(w, h, image.Rect(r.IntN(w), r.IntN(h), w, h), Filter(1+r.IntN(5)), false)
		}
	}
}

// TestFenceHolds: reading after the image fails, so that TestResizeStaysInside would see it.
func TestFenceHolds(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("a byte after the image can be read")
		}
	}()
	p := fenced(t, 5, 5, true)
	sink = *(*byte)(unsafe.Add(unsafe.Pointer(&p.Pix[0]), len(p.Pix)))
}

var sink byte

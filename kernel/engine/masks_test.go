package engine

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/kernel/client"
)

// TestDamagedMask: mask files that claim more than they hold are bad rows, at once, and the engine goes on.
func TestDamagedMask(t *testing.T) {
	header := []byte("IHDR\x00\x00\x40\x00\x00\x00\x40\x00\x10\x06\x00\x00\x00") // 16384 × 16384, 16 bits, transparency
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	png = binary.BigEndian.AppendUint32(png, crc32.ChecksumIEEE(header))
	png = append(png, "\x00\x00\x00\x02IDAT\x78\x9c\x00\x00\x00\x00"...)
	webp, err := os.ReadFile("../../gomlxmodels/preprocess/testdata/files/lossy.webp")
	if err != nil {
		t.Fatal(err)
	}
	webp = append([]byte("RIFF\x00\x00\x01\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00"+
		"ALPH\x02\x00\x00\x00\x00\xff"), webp[12:]...) // the canvas and its transparency have one pixel
	for name, want := range map[string]string{string(png): "more than 100 million", string(webp): "cannot be read"} {
		e := newEngine(t)
		dir, tab := images(t, 2)
		write(t, filepath.Join(dir, "masks", "i0.png"), name)
		write(t, filepath.Join(dir, "masks", "i1.png"), "")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := run1(t, e, datasets.CSV(tab).MasksFrom(filepath.Join(dir, "masks")), client.Request{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `id "i0"`) {
			t.Errorf("error %v, want %q of row i0", err, want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d MiB", want, n>>20)
		}
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"antipode/gomlxmodels/preprocess"
)

// decodeCases are the files that the peer makes: widths, heights, and how they are encoded.
var decodeCases = []struct {
	width, height int
	kind          string
	n             int // images of a run, times -n; 0 = one image
}{
	{256, 192, "4:4:4", 8}, {256, 192, "4:2:2", 8}, {256, 192, "4:2:0", 8}, {256, 192, "progressive", 8},
	{1024, 768, "4:4:4", 1}, {1024, 768, "4:2:2", 1}, {1024, 768, "4:2:0", 1}, {1024, 768, "progressive", 1},
	{4032, 3024, "4:4:4", 0}, {4032, 3024, "4:2:2", 0}, {4032, 3024, "4:2:0", 0}, {4032, 3024, "progressive", 0},
}

// decodeBenchmark measures decoding of JPEG files of several sizes and kinds, and resizing to 224×224.
var decodeBenchmark = benchmark{
	about: "decoding JPEG images of three sizes and four kinds, and bicubic resizing of 1024×768 to 224×224, against " +
		"Pillow and torchvision, on one thread",
	ints: map[string]int{"n": 20, "repeat": 5, "seed": 1},
	run: func(s *session) error {
		runtime.GOMAXPROCS(1)
		var parts []part
		var counts []any
		for _, c := range decodeCases {
			n := max(1, c.n*s.int("n"))
			counts = append(counts, fmt.Sprintf("%dx%d %s %d", c.width, c.height, c.kind, n))
			parts = append(parts, part{fmt.Sprintf("%d×%d, %s", c.width, c.height, c.kind), "images", n})
		}
		parts = append(parts, part{"bicubic resize, 1024×768 to 224×224", "images", s.int("n")})
		check(s.start(counts...))
		var files [][]byte
		for i := range decodeCases {
			data := must(os.ReadFile(filepath.Join(s.dir, fmt.Sprintf("%d.jpg", i))))
			files = append(files, data)
			parts[i].title += fmt.Sprintf(", %d kB", len(data)/1000)
		}
		var results []*preprocess.RGB
		ours := func() ([]float64, error) {
			var seconds []float64
			var last *preprocess.RGB
			results = nil
			for i, data := range files {
				begin := time.Now()
				for range parts[i].n {
					last = must(preprocess.Decode(data))
				}
				seconds, results = append(seconds, time.Since(begin).Seconds()), append(results, last)
			}
			begin := time.Now()
			for range s.int("n") {
				last = preprocess.Resize(results[4], 224, 224, preprocess.Bicubic)
			}
			results = append(results, last)
			return append(seconds, time.Since(begin).Seconds()), nil
		}
		fmt.Println(s.peer.name)
		check(s.warmed(parts, side{"antipode", ours}, s.command("torchvision"), s.command("pillow")))
		var got []float32
		for _, r := range results {
			if r.Width > 1024 { // too many to store
				continue
			}
			for _, v := range r.Pix {
				got = append(got, float32(v))
			}
		}
		return s.same([][]float32{got}, 0)
	},
}

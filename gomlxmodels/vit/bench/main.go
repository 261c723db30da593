// Command bench times decomposed embedding (full, object only, background only) with ViT-B/16 against timm's three
// masked passes, side by side on the processor in float32.
//
//	go run ./gomlxmodels/vit/bench [-n 16] [-repeat 5] [-batch 8]
//
// It needs a Python with torch and timm: python3, or the one that PYTHON names. Both sides hold the same random network
// and the same random pictures and masks, use the same number of threads and take turns (A B A B …). Timed is the way
// from prepared pixels to vectors of n pictures; loading, compiling and decoding are not, and are reported apart. The peer runs
// under inference_mode with the best of batch 4, 8 and 16, found before. The vectors of both are compared in the end.
package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/vit"
	"antipode/internal/bench/peer"
)

//go:embed peer.py
var peerSource string

var (
	n      = flag.Int("n", 16, "pictures a run embeds; multiples of 16 suit every batch")
	repeat = flag.Int("repeat", 5, "runs of each side")
	batch  = flag.Int("batch", vit.DefaultBatch, "pictures in a call of this project's encoder")
	seed   = flag.Uint64("seed", 1, "seed of network, pictures and masks")
	drop   = flag.Bool("drop", false, "the peer drops tokens, picture by picture, instead of masking in batches")
)

func main() { peer.Main(run) }

func run(dir string) error {
	if *n < 4 || *repeat < 1 {
		return fmt.Errorf("-n %d, -repeat %d: n must be at least 4, repeat at least 1", *n, *repeat)
	}
	pictures, err := write(dir)
	if err != nil {
		return err
	}
	b, err := peer.Start(dir, peerSource, strconv.FormatUint(*seed, 10), strconv.Itoa(*n))
	if err != nil {
		return err
	}
	defer b.Stop()
	a, err := startOurs(dir, pictures)
	if err != nil {
		return err
	}
	defer a.encoder.Close()

	mode, sizes := "masked", []int{4, 8, 16}
	if *drop {
		mode = "drop"
	}
	sizes = slices.DeleteFunc(sizes, func(size int) bool { return size > *n })
	best, err := b.Best(sizes, mode)
	if err != nil {
		return err
	}
	if _, err := a.once(); err != nil { // warms up
		return err
	}
	err = peer.Turns("decomposed embedding, ViT-B/16, peer "+mode, "pictures", *n, *repeat,
		a.once, fmt.Sprintf("antipode, %s, batch %d (loading %.1f s, compiling %.1f s)", a.device, *batch, a.loading.Seconds(), a.encoder.CompileTime().Seconds()),
		func() (float64, error) { return b.Once(mode, best) }, fmt.Sprintf("%s, best batch %d", b.Name, best))
	if err != nil {
		return err
	}
	return a.compare(dir)
}

// write makes the pictures and masks and saves them for the peer.
func write(dir string) ([]*vit.Prepared, error) {
	r := rand.New(rand.NewPCG(*seed, 1))
	var list []*vit.Prepared
	var pixels, objects []byte
	for range *n {
		p := &vit.Prepared{Pixels: make([]float32, 3*224*224), Object: make([]bool, 196)}
		for i := range p.Pixels {
			p.Pixels[i] = float32(r.NormFloat64())
			pixels = binary.LittleEndian.AppendUint32(pixels, math.Float32bits(p.Pixels[i]))
		}
		// An ellipse that covers at least a quarter of most pictures, as GeoDE's objects do.
		cx, cy, rx, ry := 4+6*r.Float64(), 4+6*r.Float64(), 3+3*r.Float64(), 3+3*r.Float64()
		for i := range p.Object {
			dx, dy := (float64(i%14)-cx)/rx, (float64(i/14)-cy)/ry
			p.Object[i] = dx*dx+dy*dy < 1
			objects = append(objects, map[bool]byte{true: 1}[p.Object[i]])
		}
		list = append(list, p)
	}
	if err := os.WriteFile(filepath.Join(dir, "pixels.f32"), pixels, 0o600); err != nil {
		return nil, err
	}
	return list, os.WriteFile(filepath.Join(dir, "objects.u8"), objects, 0o600)
}

// ours is side A.
type ours struct {
	encoder  *vit.Encoder
	device   string
	loading  time.Duration
	pictures []*vit.Prepared
	last     []vit.Embedding
}

func startOurs(dir string, pictures []*vit.Prepared) (*ours, error) {
	start := time.Now()
	d, err := device.Open(device.XLACPU, "")
	if err != nil {
		return nil, err
	}
	m, err := vit.Open(dir)
	if err != nil {
		return nil, err
	}
	e, err := vit.NewEncoder(d.Backend, m, vit.Options{Batch: *batch})
	if err != nil {
		return nil, err
	}
	a := &ours{encoder: e, device: d.Kind, loading: time.Since(start), pictures: pictures}
	return a, e.Compile(true)
}

func (a *ours) once() (seconds float64, err error) {
	start := time.Now()
	a.last, err = a.encoder.Encode(context.Background(), a.pictures)
	return time.Since(start).Seconds(), err
}

// compare looks whether both sides computed the same.
func (a *ours) compare(dir string) error {
	var got []float32
	for _, of := range []func(vit.Embedding) []float32{
		func(e vit.Embedding) []float32 { return e.Full },
		func(e vit.Embedding) []float32 { return e.ObjectOnly },
		func(e vit.Embedding) []float32 { return e.BackgroundOnly },
	} {
		for _, e := range a.last {
			got = append(got, of(e)...)
		}
	}
	return peer.Same("vectors", got, filepath.Join(dir, "peer.f32"))
}

package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// painter is a stage that takes its time to make wide images, two at a time.
type painter struct {
	slow
	env stage.Env
}

func (painter) Batch() int { return 2 }
func (painter) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("image:image")
}

func (p painter) Compute(ctx context.Context, in []string) ([][]table.Value, error) {
	time.Sleep(p.wait)
	out := make([][]table.Value, len(in))
	for i, id := range in {
		data, err := pngOf(400, 200, len(id))
		if err != nil {
			return nil, err
		}
		blob, err := p.env.PutBlob(append(data, id...), ".png")
		if err != nil {
			return nil, err
		}
		out[i] = []table.Value{{Image: blob}}
	}
	return out, nil
}

// image is a noisy PNG: what a thumbnail is largest of.
func pngOf(width, height, seed int) ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	state := uint32(seed) + 1
	for i := range img.Pix {
		state = state*1664525 + 1013904223
		img.Pix[i] = byte(state>>24) | byte(255*(i%4/3))
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

func init() {
	stage.Register(stage.Stage{Name: "painter", Version: 1,
		Open: func(_ context.Context, env stage.Env, args json.RawMessage) (*stage.Opened, error) {
			p := painter{env: env}
			err := json.Unmarshal(args, &p.wait)
			return stage.Of(p), err
		}})
}

// TestSamples: a client that requests them gets small images after a second, then newer ones, none twice; one that
// does not request them gets none.
func TestSamples(t *testing.T) {
	f := table.NewFrame(datasets.Columns("id:text"))
	for i := range 14 {
		f.Add([]string{fmt.Sprintf("row%d", i)})
	}
	painted := datasets.Extend(datasets.FromFrame(f)).Derive("painter", 300*time.Millisecond,
		datasets.Columns("image:image")...).Table
	plan := must.Get(painted.Plan())(t)
	for _, asked := range []bool{false, true} {
		b := connect(t)
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			t.Parallel()
			sampled(t, b, client.Request{Plan: plan, Samples: asked, Counts: true})
		})
	}
}

// sampled checks the samples that the reports of a run bring.
func sampled(t *testing.T, b *client.Backend, request client.Request) {
	var strips [][]table.Sample
	start, largest := time.Now(), 0
	_ = must.Get(b.Run(t.Context(), request, func(p table.Progress) {
		if p.Samples != nil {
			strips = append(strips, p.Samples)
			since := time.Since(start)
			must.True(t, since >= sampleStart, "images after %v", since)
		}
	}))(t)
	most := int((time.Since(start)-sampleStart)/sampleInterval) + 1
	if asked := request.Samples; !asked && len(strips) > 0 || asked && (len(strips) < 2 || len(strips) > most) {
		t.Errorf("%d strips, not 2 to %d", len(strips), most)
	}
	last := map[string]int{} // a strip's last caption → strips that end with it
	for _, s := range strips {
		if last[s[len(s)-1].Caption]++; last[s[len(s)-1].Caption] > 1 || len(s) > table.MaxSamples {
			t.Errorf("a strip of %d, sent %d times", len(s), last[s[len(s)-1].Caption])
		}
		for _, sample := range s {
			img := must.Get(jpeg.Decode(bytes.NewReader(sample.Thumb)))(t)
			must.Equal(t, img.Bounds().Dx(), sampleSide, sample.Caption)
			must.Equal(t, img.Bounds().Dy(), sampleSide/2, sample.Caption)
			must.Equal(t, sample.Image.Path, "", sample.Caption)
			largest = max(largest, len(sample.Thumb))
		}
	}
	if request.Samples && (largest == 0 || largest > 16<<10) {
		t.Errorf("a thumbnail of %d bytes", largest)
	}
}

// TestThumbnail: small images keep their size, and what is no image, or gone, has none.
func TestThumbnail(t *testing.T) {
	dir := t.TempDir()
	data := must.Get(pngOf(20, 3, 1))(t)
	thin := must.Get(pngOf(1000, 2, 1))(t)
	for _, test := range []struct {
		name string
		data []byte
		want image.Point
	}{{"small.png", data, image.Pt(20, 3)}, {"thin.png", thin, image.Pt(sampleSide, 1)},
		{"cut.png", data[:len(data)/2], image.Point{}}, {"text.png", []byte("text"), image.Point{}},
		{"none.png", nil, image.Point{}}} {
		path := filepath.Join(dir, test.name)
		if test.data != nil {
			must.Do(t, os.WriteFile(path, test.data, 0o644))
		}
		var got image.Point
		if small := thumbnail(path); small != nil {
			c, err := jpeg.DecodeConfig(bytes.NewReader(small))
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			got = image.Pt(c.Width, c.Height)
		}
		must.Equal(t, got, test.want, test.name)
	}
}

// TestStrip: what was sent is not sent again, nor made again; an image that cannot be shown is not in the way of the
// others.
func TestStrip(t *testing.T) {
	dir := t.TempDir()
	var samples []table.Sample
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprint(i))
		data := must.Get(pngOf(9, 9, i))(t)
		if i > 0 { // the first is gone
			must.Do(t, os.WriteFile(path, data, 0o644))
		}
		samples = append(samples, table.Sample{Caption: fmt.Sprint(i), Image: table.Image{Path: path}})
	}
	s := newStrip(true)
	must.True(t, s.next(samples, false) == nil, "images in the first second")
	s.start = s.start.Add(-sampleStart)
	must.True(t, s.next(samples[:2], true) == nil && s.next(nil, false) == nil,
		"images though newer ones wait or none exist")
	if got := s.next(samples[:2], false); len(got) != 2 || got[0].Thumb != nil || got[1].Thumb == nil {
		t.Errorf("%+v", got)
	}
	must.True(t, s.next(samples, false) == nil, "more images at once")
	s.at = time.Time{}
	must.True(t, s.next(samples[:2], false) == nil, "the same images again")
	must.Do(t, os.Remove(samples[1].Image.Path))
	if got := s.next(samples, false); len(got) != 3 || got[1].Thumb == nil || got[2].Thumb == nil {
		t.Error("an image that was sent is read again")
	}
	if s := newStrip(false); s.wanted || s.next(samples, false) != nil {
		t.Error("images that nobody requested")
	}
}

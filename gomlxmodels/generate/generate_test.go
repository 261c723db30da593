package generate_test

import (
	"context"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/all"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/generate"
	"antipode/internal/near"
	"antipode/kernel/client"
)

// evaluator makes this process evaluate plans with the pure Go backend in an empty store of its own.
func evaluator(t *testing.T) {
	t.Helper()
	t.Setenv("ANTIPODE_PLUGIN", "none")
	if err := all.Use(t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

// folder is a golden of package diffusion.
func folder(name string) string { return filepath.Join("..", "diffusion", "testdata", name) }

// rows evaluates a table.
func rows(t *testing.T, table datasets.Table) *client.Frame {
	t.Helper()
	f, err := table.Rows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// pixels are the values of a stored picture.
func pixels(t *testing.T, img client.Image) []uint32 {
	t.Helper()
	file, err := os.Open(img.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []uint32
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			r, g, b, _ := p.At(x, y).RGBA()
			out = append(out, r>>8, g>>8, b>>8)
		}
	}
	return out
}

func apart(a, b []uint32) (worst int) {
	for i := range a {
		worst = max(worst, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return worst
}

// asked are prompts with a seed a row, some of them equal.
var asked = []map[string]any{
	{"id": "a", "prompt": "a small house by the sea", "seed": 7}, {"id": "b", "prompt": "a boat", "seed": 8}, {"id": "c", "prompt": "", "seed": 7},
	{"id": "d", "prompt": "a boat", "seed": 9}, {"id": "e", "prompt": "<|endoftext|> \x00\u202e\uffff", "seed": 1 << 40}, {"id": "f", "prompt": strings.Repeat("sea ", 200), "seed": 0},
	{"id": "g", "prompt": "海边的小房子", "seed": 8}, {"id": "h", "prompt": "a small house by the sea", "seed": 8}, {"id": "i", "prompt": "boat", "seed": 3}, {"id": "j", "prompt": "boat", "seed": 4},
}

// TestSameSeedSamePicture samples by 1, 3 and 8, in other orders and among other neighbours: a picture hangs on its prompt and seed alone.
func TestSameSeedSamePicture(t *testing.T) {
	for _, name := range []string{"bare", "alt2"} {
		t.Run(name, func(t *testing.T) {
			want := map[string][]uint32{}
			worst := 0
			for _, batch := range []int{1, 3, 8} {
				generate.Together(t, device.Go, batch)
				list := slices.Clone(asked)
				if batch > 1 {
					r := near.Rand(t, uint64(batch))
					r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
					list = list[:len(list)-batch/3]
				}
				evaluator(t) // a store that holds no picture yet
				f := rows(t, gomlxmodels.Generate(folder(name), datasets.FromRows(list), gomlxmodels.Steps(3), gomlxmodels.PictureSize(16, 16), gomlxmodels.Scheduler("euler-ancestral")))
				for i, id := range f.Texts("prompt_id") {
					if cut := strings.Contains(f.Texts("reason")[i], "its end was left out"); cut != (id == "f") {
						t.Errorf("%s has the reason %q", id, f.Texts("reason")[i])
					}
					got := pixels(t, f.Images("image")[i])
					if want[id] == nil {
						want[id] = got
					}
					worst = max(worst, apart(got, want[id]))
				}
			}
			if worst > 1 {
				t.Errorf("a picture differs by %d/255 between batches", worst)
			}
			if apart(want["a"], want["h"]) < 3 || apart(want["a"], want["c"]) == 0 {
				t.Error("another seed, or prompt, gives the same picture")
			}
		})
	}
}

// TestInterrupted stops a run after each of its pictures and runs it again: what was finished is found, and the table that is written
// is that of a run at one go, byte by byte.
func TestInterrupted(t *testing.T) {
	const n = 4
	table := gomlxmodels.Generate(folder("bare"), datasets.FromRows(asked[:n]), gomlxmodels.Steps(4), gomlxmodels.PictureSize(16, 16))
	plan, err := table.Plan()
	if err != nil {
		t.Fatal(err)
	}
	written := func() string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "t.csv")
		if _, err := table.SaveE(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	evaluator(t)
	want := written()
	if strings.Count(want, ".png") != n {
		t.Fatalf("the table is %s", want)
	}
	for finished := 1; finished < n; finished++ {
		t.Setenv("ANTIPODE_PLUGIN", "none")
		e, err := all.NewEngine(t.TempDir(), "test")
		if err != nil {
			t.Fatal(err)
		}
		client.Register(e)
		ctx, cancel := context.WithCancel(t.Context())
		_, err = e.Run(ctx, client.Request{Plan: plan}, func(p client.Progress) {
			if p.Done == finished {
				cancel()
			}
		})
		if cancel(); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: %v", finished, err)
		}
		res, err := table.RunE(t.Context())
		if err != nil || res.Found != finished || res.Computed != n-finished {
			t.Errorf("stopped after %d of %d: then found and computed %+v, %v", finished, n, res, err)
		}
		if got := written(); got != want {
			t.Errorf("stopped after %d the table is\n%s\nat one go\n%s", finished, got, want)
		}
	}
}

// TestSafety runs the pictures of internal/pyref/altdiffusion.py: the first is blocked, the second is not.
func TestSafety(t *testing.T) {
	evaluator(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a small house by the sea", "negative": "blurry", "seed": 7}, {"id": "b", "prompt": "a small house by the sea", "negative": "blurry", "seed": 1<<40 + 3}})
	options := []gomlxmodels.GenerateOption{gomlxmodels.Steps(20), gomlxmodels.Guidance(50), gomlxmodels.PictureSize(16, 24)}
	table := gomlxmodels.Generate(folder("alt9"), prompts, options...)
	on := rows(t, table)
	off := rows(t, gomlxmodels.Generate(folder("alt9"), prompts, append(options, gomlxmodels.Safety(gomlxmodels.SafetyOff))...))
	absent := rows(t, gomlxmodels.Generate(folder("alt2"), prompts.Head(1), gomlxmodels.Steps(1), gomlxmodels.PictureSize(16, 16)))
	if !slices.Equal(on.Texts("outcome"), []string{"refused", "ok"}) || !slices.Equal(off.Texts("outcome"), []string{"ok", "ok"}) {
		t.Errorf("outcomes %v with the checker, %v without", on.Texts("outcome"), off.Texts("outcome"))
	}
	if reason := on.Texts("reason")[0]; !strings.HasPrefix(reason, "the safety checker blocked the picture: too near its concept") || on.Texts("reason")[1] != "" {
		t.Errorf("reasons %q", on.Texts("reason"))
	}
	if img := on.Images("image"); img[0] != (client.Image{}) || img[1].SHA256 != off.Images("image")[1].SHA256 || off.Images("image")[0].Path == "" {
		t.Errorf("images %v with the checker, %v without", img, off.Images("image"))
	}
	for state, f := range map[string]*client.Frame{"on": on, "off": off, "absent": absent} {
		for _, got := range f.Texts("safety_checker") {
			if got != state {
				t.Errorf("safety_checker is %q, not %q", got, state)
			}
		}
	}
	again, err := table.RunE(context.Background())
	if err != nil || again.Computed != 0 {
		t.Errorf("a refused picture is made again: %+v, %v", again, err)
	}
}

func TestRefuses(t *testing.T) {
	evaluator(t)
	damaged := t.TempDir()
	if err := os.CopyFS(damaged, os.DirFS(folder("alt9"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(damaged, "safety_checker", "model.safetensors"), 9000); err != nil {
		t.Fatal(err)
	}
	one := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "x"}})
	seeded := func(seed float64) datasets.Table {
		return datasets.FromRows([]map[string]any{{"id": "a", "prompt": "x", "seed": seed}})
	}
	for want, table := range map[string]datasets.Table{
		"generating with the safety checker off does without it": gomlxmodels.Generate(damaged, one, gomlxmodels.Steps(1)),
		`safety "perhaps": it is on or off`:                      gomlxmodels.Generate(folder("bare"), one, gomlxmodels.Safety("perhaps")),
		"has a safety check of its own":                          gomlxmodels.Generate("api:dall-e-3", one, gomlxmodels.Safety(gomlxmodels.SafetyOff)),
		"model_index.json":                                       gomlxmodels.Generate(t.TempDir(), one),
		"-1 is no whole number":                                  gomlxmodels.Generate(folder("bare"), seeded(-1), gomlxmodels.Steps(1)),
		"0.5 is no whole number":                                 gomlxmodels.Generate(folder("bare"), seeded(0.5), gomlxmodels.Steps(1)),
	} {
		_, err := table.Rows(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
	}
	if f := rows(t, gomlxmodels.Generate(damaged, one, gomlxmodels.Steps(1), gomlxmodels.PictureSize(16, 16), gomlxmodels.Safety(gomlxmodels.SafetyOff))); f.Texts("safety_checker")[0] != "off" {
		t.Errorf("safety_checker %v", f.Texts("safety_checker"))
	}
}

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
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage/generate"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/kernel/backend/all"
)

// evaluator makes this process evaluate plans with the pure Go backend in an empty store of its own.
func evaluator(t *testing.T) {
	t.Helper()
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, all.Use(t.TempDir()))
}

// folder is a golden of package diffusion.
func folder(name string) string { return filepath.Join("..", "..", "diffusion", "testdata", name) }

// rows evaluates a table.
func rows(t *testing.T, tab datasets.Table) *table.Frame {
	t.Helper()
	return must.Get(tab.Rows(context.Background()))(t)
}

// pixels are the values of a stored image.
func pixels(t *testing.T, img table.Image) []uint32 {
	t.Helper()
	file := must.Get(os.Open(img.Path))(t)
	defer file.Close()
	p := must.Get(png.Decode(file))(t)
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
	{"id": "a", "prompt": "a small house by the sea", "seed": 7}, {"id": "b", "prompt": "a boat", "seed": 8},
	{"id": "c", "prompt": "", "seed": 7},
	{"id": "d", "prompt": "a boat", "seed": 9}, {"id": "e", "prompt": "<|endoftext|> \x00\u202e\uffff",
		"seed": 1 << 40}, {"id": "f", "prompt": strings.Repeat("sea ", 200), "seed": 0},
	{"id": "g", "prompt": "海边的小房子", "seed": 8}, {"id": "h", "prompt": "a small house by the sea", "seed": 8},
	{"id": "i", "prompt": "boat", "seed": 3}, {"id": "j", "prompt": "boat", "seed": 4},
}

// TestSameSeedSameImage generates in batches of 1, 3 and 8 and in different orders: an image depends only on its prompt
// and seed.
func TestSameSeedSameImage(t *testing.T) {
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
				evaluator(t) // a store that holds no image yet
				f := rows(t, gomlxmodels.Generate(folder(name), datasets.FromRows(list),
					gomlxmodels.GenerateOptions{Steps: 3,
						Width: 16, Height: 16, Scheduler: "euler-ancestral"}))
				for i, id := range f.Texts("prompt_id") {
					if cut := strings.Contains(f.Texts("reason")[i], "its end was truncated"); cut != (id == "f") {
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
				t.Errorf("an image differs by %d/255 between batches", worst)
			}
			if apart(want["a"], want["h"]) < 3 || apart(want["a"], want["c"]) == 0 {
				t.Error("another seed, or prompt, gives the same image")
			}
		})
	}
}

// TestInterrupted stops a run after each of its images and runs it again: what was finished is found, and the table
// that is written is that of a run at one go, byte by byte.
func TestInterrupted(t *testing.T) {
	t.Run("diffusion", func(t *testing.T) {
		checkInterrupted(t, folder("bare"), gomlxmodels.GenerateOptions{Steps: 4, Width: 16, Height: 16})
	})
	t.Run("tokens", func(t *testing.T) { checkInterrupted(t, tokenFolder(t), asGiven) })
}

func checkInterrupted(t *testing.T, model string, options gomlxmodels.GenerateOptions) {
	const n = 4
	generate.Together(t, device.Go, 1)
	tab := gomlxmodels.Generate(model, datasets.FromRows(asked[:n]), options)
	plan := must.Get(tab.Plan())(t)
	written := func() string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "t.csv")
		_ = must.Get(tab.SaveE(t.Context(), path))(t)
		return string(must.Get(os.ReadFile(path))(t))
	}
	evaluator(t)
	want := written()
	must.Equal(t, strings.Count(want, ".png"), n, "images in the table", want)
	for finished := 1; finished < n; finished++ {
		t.Setenv("ANTIPODE_PLUGIN", "none")
		e := must.Get(all.NewEngine(t.TempDir(), "test"))(t)
		client.Register(e)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := e.Run(ctx, client.Request{Plan: plan}, func(p table.Progress) {
			if p.Done == finished {
				cancel()
			}
		})
		if cancel(); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: %v", finished, err)
		}
		res := must.Get(tab.RunE(t.Context()))(t)
		must.Equal(t, res.Found, finished, n)
		must.Equal(t, res.Computed, n-finished, n)
		must.Equal(t, written(), want, "stopped after", finished, "the table")
	}
}

// TestSafety runs the images of tools/pyref/altdiffusion.py: the first is blocked, the second is not.
func TestSafety(t *testing.T) {
	evaluator(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a small house by the sea",
		"negative": "blurry", "seed": 7}, {"id": "b", "prompt": "a small house by the sea", "negative": "blurry",
		"seed": 1<<40 + 3}})
	options := gomlxmodels.GenerateOptions{Steps: 20, Guidance: 50, Width: 16, Height: 24}
	tab := gomlxmodels.Generate(folder("alt9"), prompts, options)
	on := rows(t, tab)
	options.Safety = "off"
	off := rows(t, gomlxmodels.Generate(folder("alt9"), prompts, options))
	absent := rows(t, gomlxmodels.Generate(folder("alt2"), prompts.Head(1), gomlxmodels.GenerateOptions{Steps: 1,
		Width: 16, Height: 16}))
	must.EqualSlices(t, on.Texts("outcome"), []string{"refused", "ok"})
	must.EqualSlices(t, off.Texts("outcome"), []string{"ok", "ok"})
	if reason := on.Texts("reason")[0]; !strings.HasPrefix(reason,
		"the safety checker blocked the image: too close to its concept") || on.Texts("reason")[1] != "" {
		t.Errorf("reasons %q", on.Texts("reason"))
	}
	if img := on.Images("image"); img[0] != (table.Image{}) || img[1].SHA256 != off.Images("image")[1].SHA256 ||
		off.Images("image")[0].Path == "" {
		t.Errorf("images %v with the checker, %v without", img, off.Images("image"))
	}
	for state, f := range map[string]*table.Frame{"on": on, "off": off, "absent": absent} {
		for _, got := range f.Texts("safety_checker") {
			must.Equal(t, got, state, "safety_checker")
		}
	}
	must.Equal(t, must.Get(tab.RunE(context.Background()))(t).Computed, 0, "a refused image is generated again")
}

func TestRefuses(t *testing.T) {
	evaluator(t)
	damaged := t.TempDir()
	must.Do(t, os.CopyFS(damaged, os.DirFS(folder("alt9"))))
	must.Do(t, os.Truncate(filepath.Join(damaged, "safety_checker", "model.safetensors"), 9000))
	one := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "x"}})
	seeded := func(seed float64) datasets.Table {
		return datasets.FromRows([]map[string]any{{"id": "a", "prompt": "x", "seed": seed}})
	}
	for want, tab := range map[string]datasets.Table{
		"generating with the safety checker off does without it": gomlxmodels.Generate(damaged, one,
			gomlxmodels.GenerateOptions{Steps: 1}),
		`Safety is "perhaps"; it must be one of on, off`: gomlxmodels.Generate(folder("bare"), one,
			gomlxmodels.GenerateOptions{Safety: "perhaps"}),
		"(.safetensors, .ckpt), not for an image API": gomlxmodels.Generate("api:gpt-image-2", one,
			gomlxmodels.GenerateOptions{Safety: "off"}),
		"model_index.json": gomlxmodels.Generate(t.TempDir(), one),
		"-1 is no whole number": gomlxmodels.Generate(folder("bare"), seeded(-1),
			gomlxmodels.GenerateOptions{Steps: 1}),
		"0.5 is no whole number": gomlxmodels.Generate(folder("bare"), seeded(0.5),
			gomlxmodels.GenerateOptions{Steps: 1}),
	} {
		must.Fail(tab.Rows(context.Background()))(t, want)
	}
	must.Equal(t, rows(t, gomlxmodels.Generate(damaged, one, gomlxmodels.GenerateOptions{Steps: 1, Width: 16,
		Height: 16, Safety: "off"})).Texts("safety_checker")[0], "off", "safety_checker")
}

// TestMaskedPromptRefused: a prompt with masked text ends a run before any image is made, with any generator.
func TestMaskedPromptRefused(t *testing.T) {
	t.Setenv(gomlxmodels.APIKey, "key")
	for _, c := range map[string]struct {
		model   string
		options gomlxmodels.GenerateOptions
	}{"diffusion": {folder("bare"), gomlxmodels.GenerateOptions{Steps: 1, Width: 16, Height: 16}},
		"tokens": {tokenFolder(t), asGiven},
		"api": {"api:x", gomlxmodels.GenerateOptions{
			API: gomlxmodels.APIOptions{BaseURL: "http://127.0.0.1:1/v1", Price: 1}}},
	} {
		evaluator(t)
		for column, text := range map[string]string{"prompt": "a masked 12 (rated offensive) person",
			"negative": "masked 1 (not rated)"} {
			masked := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a boat", "negative": ""},
				{"id": "b", "prompt": "a boat", "negative": "", column: text}})
			_, err := gomlxmodels.Generate(c.model, masked, c.options).Rows(t.Context())
			must.Fail(err)(t, `row 2 (id "b#1"): the column `+column, `"masked 1`)
		}
	}
}

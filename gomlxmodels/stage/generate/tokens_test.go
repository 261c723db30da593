package generate_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/dallemini"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/mindalle"
	"antipode/gomlxmodels/stage/generate"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/stagetest"
)

// tokenFolder is a golden of package dallemini with its weights.
func tokenFolder(t testing.TB) string {
	t.Helper()
	return modeltest.Computed(t, filepath.Join("..", "..", "dallemini", "testdata", "mini"), dallemini.VQGANFolder)
}

// gptFolder is a golden of package mindalle with its weights.
func gptFolder(t testing.TB) string {
	t.Helper()
	dir := modeltest.Computed(t, filepath.Join("..", "..", "mindalle", "testdata", "tiny"), "stage1")
	for from, to := range map[string]string{"model.safetensors": mindalle.GPTFile,
		"stage1/model.safetensors": mindalle.VQGANFile} {
		must.Do(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
	return dir
}

// asGiven are the options that read prompts as they are.
var asGiven = gomlxmodels.GenerateOptions{Tokens: gomlxmodels.TokenOptions{TextNormalize: "off"}}

// TestTokensSameSeed generates image tokens in batches of 1 and 3 and in another order: an image depends on its prompt
// and seed alone.
func TestTokensSameSeed(t *testing.T) {
	t.Run("dallemini", func(t *testing.T) { checkSameSeed(t, tokenFolder(t), asGiven) })
	t.Run("mindalle", func(t *testing.T) { checkSameSeed(t, gptFolder(t), gomlxmodels.GenerateOptions{}) })
}

func checkSameSeed(t *testing.T, model string, options gomlxmodels.GenerateOptions) {
	want := map[string][]uint32{}
	for _, batch := range []int{1, 3} {
		generate.Together(t, device.Go, batch)
		list := slices.Clone(asked)
		if batch > 1 {
			slices.Reverse(list)
		}
		evaluator(t)
		f := rows(t, gomlxmodels.Generate(model, datasets.FromRows(list), options))
		if f.Len() != len(asked) {
			t.Fatalf("%d images", f.Len())
		}
		for i, id := range f.Texts("prompt_id") {
			if cut := strings.Contains(f.Texts("reason")[i], "its end was truncated"); !cut && id == "f" ||
				cut && slices.Contains([]string{"b", "c", "d", "i", "j"}, id) {
				t.Errorf("%s has the reason %q", id, f.Texts("reason")[i])
			}
			must.Equal(t, f.Texts("outcome")[i], "ok", id, "safety checker")
			must.Equal(t, f.Texts("safety_checker")[i], "absent", id, "safety checker")
			got := pixels(t, f.Images("image")[i])
			if want[id] == nil {
				want[id] = got
			}
			if apart(got, want[id]) > 1 {
				t.Errorf("%s differs by %d/255 between batches", id, apart(got, want[id]))
			}
		}
	}
	if apart(want["b"], want["d"]) < 3 || apart(want["a"], want["b"]) == 0 || len(want["a"]) != 8*8*3 {
		t.Error("another seed, or prompt, gives the same image")
	}
}

// TestTokensNormalized: prompts that are normalized to the same text give the same image, unless that is turned off.
func TestTokensNormalized(t *testing.T) {
	model := tokenFolder(t)
	list := []map[string]any{{"id": "a", "prompt": "A Chef!"}, {"id": "b", "prompt": " a chef"},
		{"id": "c", "prompt": "a chef"}}
	evaluator(t)
	for want, o := range map[int]gomlxmodels.GenerateOptions{1: {}, 3: asGiven} {
		var seen []string
		for _, img := range rows(t, gomlxmodels.Generate(model, datasets.FromRows(list), o)).Images("image") {
			seen = append(seen, img.SHA256)
		}
		slices.Sort(seen)
		must.Equal(t, len(slices.Compact(seen)), want, "different images")
	}
}

// TestTokensTransliterated generates from prompts in other scripts; the row says which words the model does not see.
func TestTokensTransliterated(t *testing.T) {
	evaluator(t)
	f := rows(t, gomlxmodels.Generate(tokenFolder(t), datasets.FromRows([]map[string]any{
		{"id": "a", "prompt": "海"}, {"id": "b", "prompt": "Hai"}, {"id": "c", "prompt": "a ᱥᱮᱛᱟ"},
	})))
	images, reasons := f.Images("image"), f.Texts("reason")
	must.Equal(t, images[0].SHA256, images[1].SHA256)
	must.Equal(t, reasons[0], "")
	if f.Texts("outcome")[2] != "ok" || !strings.Contains(reasons[2], "leaves out ᱥᱮᱛᱟ") {
		t.Errorf("outcome %s, reason %q", f.Texts("outcome")[2], reasons[2])
	}
}

// TestTokensDigest: every option is part of the digest, and an option at its default is that default.
func TestTokensDigest(t *testing.T) {
	model := tokenFolder(t)
	digest := func(o gomlxmodels.TokenOptions) string {
		o.TextNormalize = "off"
		return stagetest.Start(t, stagetest.NewEnv(t, nil), gomlxmodels.GenerateOp,
			gomlxmodels.GenerateArgs{Model: model, GenerateOptions: gomlxmodels.GenerateOptions{Tokens: o}}).Digest()
	}
	base := digest(gomlxmodels.TokenOptions{})
	must.Equal(t, base, digest(gomlxmodels.TokenOptions{TopK: 50, TopP: 1, Temperature: 1, ConditionScale: 10}),
		"the defaults are not top-k 50, top-p 1, temperature 1, condition scale 10")
	seen := map[string]bool{base: true}
	for _, o := range []gomlxmodels.TokenOptions{{TopK: 5}, {TopP: 0.5}, {Temperature: 2}, {ConditionScale: 3}} {
		d := digest(o)
		if seen[d] {
			t.Errorf("%+v has the digest of other options", o)
		}
		seen[d] = true
	}
}

func TestTokensRefuse(t *testing.T) {
	evaluator(t)
	model := tokenFolder(t)
	one := []map[string]any{{"id": "a", "prompt": "x"}}
	with := func(change func(*gomlxmodels.GenerateOptions)) gomlxmodels.GenerateOptions {
		o := asGiven
		change(&o)
		return o
	}
	for want, tab := range map[string]datasets.Table{
		"was decoded with the wrong encoding": gomlxmodels.Generate(model,
			datasets.FromRows([]map[string]any{{"id": "a", "prompt": "cafÃ©"}})),
		"(API.Extra, --api-extra), not for a DALL·E mini. Fix: leave it out": gomlxmodels.Generate(model,
			datasets.FromRows(one),
			with(func(o *gomlxmodels.GenerateOptions) { o.Steps = 3 })),
		"Width is for": gomlxmodels.Generate(model, datasets.FromRows(one),
			with(func(o *gomlxmodels.GenerateOptions) { o.Width, o.Height = 256, 256 })),
		"Safety is for": gomlxmodels.Generate(model, datasets.FromRows(one),
			with(func(o *gomlxmodels.GenerateOptions) { o.Safety = "off" })),
		"takes no negative prompt": gomlxmodels.Generate(model, datasets.FromRows([]map[string]any{{"id": "a",
			"prompt": "x", "negative": "y"}}), asGiven),
		"Tokens.ConditionScale is for a DALL·E mini, not for a minDALL-E": gomlxmodels.Generate(gptFolder(t),
			datasets.FromRows(one),
			gomlxmodels.GenerateOptions{Tokens: gomlxmodels.TokenOptions{ConditionScale: 3}}),
		"Tokens.TextNormalize is for a DALL·E mini, not for a pipeline": gomlxmodels.Generate(folder("bare"),
			datasets.FromRows(one), asGiven),
		"Tokens.TopP is 2; it must be above 0 and at most 1": gomlxmodels.Generate(model, datasets.FromRows(one),
			with(func(o *gomlxmodels.GenerateOptions) { o.Tokens.TopP = 2 })),
		"Tokens.ConditionScale is 0.5; it must be at least 1 and at most 1000": gomlxmodels.Generate(model,
			datasets.FromRows(one),
			with(func(o *gomlxmodels.GenerateOptions) { o.Tokens.ConditionScale = 0.5 })),
	} {
		must.Fail(tab.Rows(context.Background()))(t, want)
	}
}

package all

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
)

// evaluator makes this process evaluate plans with the pure Go backend in a store of its own.
func evaluator(t *testing.T) {
	t.Helper()
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, Use(t.TempDir()))
}

const encoders = "testdata/encoders"

// The stage's vectors are those that transformers and sentence-transformers made; testdata/encoders is the work of
// test/checks/reference_encoders.py.
func TestEmbedAsTheLibraries(t *testing.T) {
	evaluator(t)
	reference := must.Get(weights.Open(filepath.Join(encoders, "reference")))(t)
	images, texts := datasets.CSV(filepath.Join(encoders, "images.csv")),
		datasets.CSV(filepath.Join(encoders, "texts.csv"))
	for name, table := range map[string]datasets.Table{
		"clip/clip_image": gomlxmodels.Embed(filepath.Join(encoders, "clip"), images,
			gomlxmodels.EmbedOptions{Vector: "clip_image"}),
		"clip/clip_text": gomlxmodels.EmbedText(filepath.Join(encoders, "clip"), texts, "caption",
			gomlxmodels.EmbedTextOptions{Vector: "clip_text"}),
		"sentence/text": gomlxmodels.EmbedText(filepath.Join(encoders, "sentence"), texts, "caption"),
	} {
		_, column, _ := strings.Cut(name, "/")
		want := must.Get(reference.Float32(name))(t)
		f, err := table.Rows(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []float32
		for _, v := range f.Vectors(column) {
			got = append(got, v...)
		}
		near.Check(t, name, got, want, 1e-4, 1e-5)

		// A row does not depend on its neighbors.
		one, err := table.Head(1).Rows(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		near.Check(t, name+", alone", one.Vectors(column)[0], f.Vectors(column)[0], 0, 1e-6)
	}
}

// TestClipVectors: the pooled and the projected vector of an image are two columns of one table, each with the name of
// its model; the pooled one is that of Pooling "pooled".
func TestClipVectors(t *testing.T) {
	evaluator(t)
	model, images := filepath.Join(encoders, "clip"), datasets.CSV(filepath.Join(encoders, "images.csv"))
	pooled := gomlxmodels.Embed(model, images, gomlxmodels.EmbedOptions{Vector: "clip_image_pooled"})
	f := must.Get(gomlxmodels.Embed(model, pooled, gomlxmodels.EmbedOptions{Vector: "clip_image"}).Rows(t.Context()))(t)
	want := must.Get(gomlxmodels.Embed(model, images, gomlxmodels.EmbedOptions{Vector: "clip_image",
		Pooling: "pooled"}).Rows(t.Context()))(t)
	for i, v := range f.Vectors("clip_image_pooled") {
		near.Check(t, "pooled", v, want.Vectors("clip_image")[i], 0, 0)
		must.True(t, len(v) != len(f.Vectors("clip_image")[i]) || v[0] != f.Vectors("clip_image")[i][0],
			"row %d: the pooled vector is the projected one", i+1)
		if f.Images("image")[i].Path == "" || f.Texts("clip_image_model")[i] != "clip" ||
			f.Texts("clip_image_pooled_model")[i] != "clip" {
			t.Errorf("row %d: models %q, %q", i+1, f.Texts("clip_image_model")[i],
				f.Texts("clip_image_pooled_model")[i])
		}
	}
	must.Fail(gomlxmodels.Embed(model, images, gomlxmodels.EmbedOptions{Vector: "clip_image_pooled",
		Pooling: "projected"}).Err())(t, "that vector is pooled")
}

// With Preprocess public-code the vector is that of the middle square with ImageNet's mean and deviation, as a folder
// that says so makes it.
func TestEmbedPreprocess(t *testing.T) {
	evaluator(t)
	const from = "../../../gomlxmodels/archipelago/weights/archipelago-vit"
	imageNet := t.TempDir()
	copyFolder(t, from, imageNet, nil, nil)
	config := filepath.Join(imageNet, "preprocessor_config.json")
	text := must.Get(os.ReadFile(config))(t)
	half, list := "0.5,\n    0.5,\n    0.5", string(text)
	list = strings.Replace(list, half, "0.485, 0.456, 0.406", 1)
	list = strings.Replace(list, half, "0.229, 0.224, 0.225", 1)
	must.Do(t, os.WriteFile(config, []byte(list), 0o600))
	dir := t.TempDir()
	wide := image.NewRGBA(image.Rect(0, 0, 256, 128))
	for i := range wide.Pix {
		wide.Pix[i] = uint8(i * 7919 >> 5)
	}
	square := wide.SubImage(image.Rect(64, 0, 192, 128))
	for name, img := range map[string]image.Image{"wide.png": wide, "square.png": square} {
		var b bytes.Buffer
		err := png.Encode(&b, img)
		must.Do(t, errors.Join(err, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600)))
	}
	vectors := func(model, preprocess string) [][]float32 {
		f := must.Get(gomlxmodels.Embed(model, datasets.Folder(dir).Sort("id"),
			gomlxmodels.EmbedOptions{Preprocess: preprocess}).Rows(context.Background()))(t)
		return f.Vectors("full")
	}
	want := vectors(imageNet, "model")[0] // of square.png
	for i, got := range vectors(from, "public-code") {
		near.Check(t, fmt.Sprint("image ", i), got, want, 1e-5, 1e-5)
	}
	if own := vectors(from, ""); slices.Equal(own[0], want) || slices.Equal(own[0], own[1]) {
		t.Error("the model's own preprocessing gives the same vectors")
	}
}

// A text brings its counts, an empty one is a text, and a row that says why it has none has no vector.
func TestEmbedTextCounts(t *testing.T) {
	evaluator(t)
	table := datasets.FromRows([]map[string]any{
		{"id": "a", "caption": "a photo of a dog", "outcome": "ok"},
		{"id": "b", "caption": "", "outcome": "ok"},
		{"id": "c", "caption": "", "outcome": "refused"},
		{"id": "d", "caption": strings.Repeat("dog ", 500), "outcome": "ok"},
	})
	f := must.Get(gomlxmodels.EmbedText(filepath.Join(encoders, "clip"), table, "caption",
		gomlxmodels.EmbedTextOptions{Vector: "clip_text"}).Rows(context.Background()))(t)
	for i, has := range []bool{true, true, false, true} {
		must.Equal(t, f.Vectors("clip_text")[i] != nil, has, "row", i+1, "has a vector")
	}
	tokens, words, cut := f.Numbers("clip_text_tokens"), f.Numbers("clip_text_words"), f.Numbers("clip_text_cut")
	if words[0] != 5 || words[1] != 0 || words[3] != 500 || tokens[1] != 0 || cut[0] != 0 || cut[3] != tokens[3]-22 ||
		!math.IsNaN(tokens[2]) {
		t.Errorf("tokens %v, words %v, cut %v", tokens, words, cut)
	}
}

func TestEmbedRefuses(t *testing.T) {
	evaluator(t)
	clip, sentence := filepath.Join(encoders, "clip"), filepath.Join(encoders, "sentence")
	bare, small := t.TempDir(), t.TempDir()
	copyFolder(t, clip, bare, func(name string) bool {
		return !strings.HasPrefix(name, "tokenizer") &&
			name != "vocab.json"
	}, nil)
	copyFolder(t, clip, small, nil,
		func(text string) string { return strings.Replace(text, `"vocab_size": `, `"vocab_size": 9`, 1) })
	images, texts := datasets.CSV(filepath.Join(encoders, "images.csv")),
		datasets.CSV(filepath.Join(encoders, "texts.csv"))
	for want, table := range map[string]datasets.Table{
		"no tokenizer": gomlxmodels.EmbedText(bare, texts, "caption",
			gomlxmodels.EmbedTextOptions{Vector: "clip_text"}),
		"the configuration requires [9": gomlxmodels.EmbedText(small, texts, "caption",
			gomlxmodels.EmbedTextOptions{Vector: "clip_text"}),
		"model_type \"bert\" is not a CLIP": gomlxmodels.Embed(sentence, images,
			gomlxmodels.EmbedOptions{Vector: "clip_image"}),
		"its vector is text, not clip_text": gomlxmodels.EmbedText(sentence, texts, "caption",
			gomlxmodels.EmbedTextOptions{Vector: "clip_text"}),
		"is not a text encoder": gomlxmodels.EmbedText(clip, texts, "caption"),
		"Preprocess is for a ViT (the vector full), not for a CLIP": gomlxmodels.Embed(clip, images,
			gomlxmodels.EmbedOptions{Vector: "clip_image", Preprocess: "public-code"}),
		"Preprocess cmmd is for a CLIP (the vector clip_image), not for a ViT": gomlxmodels.Embed(clip, images,
			gomlxmodels.EmbedOptions{Preprocess: "cmmd"}),
		"Vector is \"text\"; it must be one of full": gomlxmodels.Embed(clip, images,
			gomlxmodels.EmbedOptions{Vector: "text"}),
		"projected or pooled": gomlxmodels.Embed(clip, images, gomlxmodels.EmbedOptions{Vector: "clip_image",
			Pooling: "mean"}),
		"antipode models pull some/model": gomlxmodels.EmbedText("some/model", texts, "caption"),
		"no such column: \"words\"": gomlxmodels.EmbedText(clip, texts, "words",
			gomlxmodels.EmbedTextOptions{Vector: "clip_text"}),
	} {
		_, err := table.Rows(context.Background())
		must.Err(t, err, want)
	}
}

// copyFolder copies the files of a folder that keep wants, with edit's change to config.json.
func copyFolder(t *testing.T, from, to string, keep func(string) bool, edit func(string) string) {
	t.Helper()
	files := must.Get(os.ReadDir(from))(t)
	for _, f := range files {
		data := must.Get(os.ReadFile(filepath.Join(from, f.Name())))(t)
		if keep != nil && !keep(f.Name()) {
			continue
		}
		if edit != nil && f.Name() == "config.json" {
			data = []byte(edit(string(data)))
		}
		must.Do(t, os.WriteFile(filepath.Join(to, f.Name()), data, 0o600))
	}
}

// A row that is refused, failed or skipped remains so when masks are added, and embedding gives it no vector; an image
// that was unmasked before keeps that reason if the folder has no mask of it either.
func TestMasksKeepOutcomes(t *testing.T) {
	evaluator(t)
	dir := t.TempDir()
	text := "id,image,outcome,reason\na,0.png,ok,\nb,1.png,,\nc,,refused,by the API\nd,,failed,no answer\n" +
		"e,2.png,skipped,not sampled\nf,3.png,unmasked,no box of cat\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "t.csv"), []byte(text), 0o600))
	must.Do(t, os.Mkdir(filepath.Join(dir, "masks"), 0o700))
	for name, from := range map[string]string{"0.png": "0.png", "1.png": "1.png", "2.png": "2.png", "3.png": "3.png",
		"masks/a.png": "0.png", "masks/e.png": "2.png"} {
		data, err := os.ReadFile(filepath.Join(encoders, from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	masked := datasets.CSV(filepath.Join(dir, "t.csv")).MasksFrom(filepath.Join(dir, "masks"))
	const model = "../../../gomlxmodels/vit/testdata/hf-classifier-oblong"
	f := must.Get(gomlxmodels.Embed(model, masked).Rows(t.Context()))(t)
	for i, want := range []string{"ok ", "unmasked no mask file b.png or 1.png", "refused by the API",
		"failed no answer", "skipped not sampled", "unmasked no box of cat"} {
		must.Equal(t, f.Texts("outcome")[i]+" "+f.Texts("reason")[i], want, "row", i)
		whole, object := f.Vectors("full")[i] != nil, f.Vectors("object_only")[i] != nil
		image := f.Images("image")[i].Path != ""
		must.True(t, whole == image && object == (i == 0) && (f.Masks("mask")[i].Counts != "") == (i == 0),
			"row %d: vectors of the image %v, of the object %v", i, whole, object)
	}
}

// TestCutTexts: one line counts the texts that are longer than the encoder's context by language, in a run that finds
// all vectors too.
func TestCutTexts(t *testing.T) {
	evaluator(t)
	rows := []map[string]any{{"id": "a", "language": "hi", "caption": strings.Repeat("a boat ", 200)},
		{"id": "b", "language": "en", "caption": "a boat"}, {"id": "c", "language": "hi", "caption": "a boat"}}
	embedded := gomlxmodels.EmbedText(filepath.Join(encoders, "clip"), datasets.FromRows(rows), "caption",
		gomlxmodels.EmbedTextOptions{Vector: "clip_text"})
	for range 2 {
		res, err := embedded.RunE(t.Context())
		const want = "1 of 3 texts are longer than the encoder's context and were cut (see the column clip_text_cut) " +
			"(language: hi 1 of 2)"
		must.True(t, err == nil && len(res.Notes) == 1 && strings.Contains(res.Notes[0], want), "%v, %v", res, err)
	}
}

//go:build checks

package entigen_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/audits/entigen"
	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/internal/must"
	"antipode/kernel/annotate"
	"antipode/test/testbackend"
	"antipode/test/testengine"
	"antipode/test/testnotebook"
)

// TestNotebook runs notebooks/entigen.ipynb through the built command on prompts of the paper's list, with random
// weights in the architectures of Stable Diffusion and CLIP, by parameters alone: first with labels by CLIP, then with
// images and ratings that exist, collected from annotation pages.
func TestNotebook(t *testing.T) {
	testbackend.XLA(t)
	testengine.Use(t)
	dir := t.TempDir()
	a := photographs()
	a.Attributes = []string{"doctor", "police officer", "bride"}
	frame := testengine.Rows(t, "images", a.Images())
	images := filepath.Join(dir, "images.parquet")
	_ = must.Get(datasets.FromFrame(frame).SaveE(t.Context(), images))(t)
	ratings := filepath.Join(dir, "ratings.csv")
	_ = must.Get(datasets.FromFrame(rated(t, frame)).SaveE(t.Context(), ratings))(t)
	texts := filepath.Join(dir, "texts.csv")
	// The texts of random weights: with those of the paper every image is nearest to the uncertain one.
	must.Do(t, os.WriteFile(texts, []byte("id,axis,label,text\n"+
		"1,perceived gender,group_a,a photo of a person with uncertain gender\n"+
		"2,perceived gender,group_b,a photo of a person who looks like a woman\n"+
		"3,perceived gender,uncertain,a photo of a person who looks like a man\n"+
		"4,perceived gender,person,a photo of a person\n"+
		"5,perceived gender,object,a photo of an object\n"), 0o600))
	notebook := testnotebook.Open(t, "entigen")
	parameters := []string{"attributes=doctor,police officer,bride", "n=2", "labels=sd1=Stable Diffusion",
		"judge=" + testnotebook.Folder(t, a.Judge), "texts=" + texts, "prompts=" + entigen.List}
	model := append(slices.Clone(parameters), "generator="+testnotebook.Folder(t, a.Generator))
	if out := notebook.Run(append(slices.Clone(model), "plan=true")...); !strings.Contains(out, "generate sd1") ||
		!strings.Contains(out, "plan=true") {
		t.Errorf("the plan:\n%s", out)
	}
	notebook.Run(model...)
	must.Equal(t, ledger(notebook, "by clip, Stable Diffusion", "4"), 7,
		"of 7 cells by CLIP are computed from 4 images")
	notebook.Run(append(parameters, "generator="+images, "ratings="+ratings)...)
	page := notebook.Page()
	for _, want := range []string{"the truth is not known", "both-decided", "Krippendorff", "police officer"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if computed := ledger(notebook, "by human, Stable Diffusion", "4") +
		ledger(notebook, "by human, Stable Diffusion", "2"); computed < 14 {
		t.Errorf("%d of 19 cells by people are computed", computed)
	}
}

// ledger counts the items whose name contains a text and that are computed from n images.
func ledger(notebook *testnotebook.Notebook, part, n string) (computed int) {
	for item, row := range notebook.Ledger() {
		if strings.Contains(item, part) && strings.Contains(strings.Join(row, ",")+",", ","+n+",") {
			computed++
		}
	}
	return computed
}

// rated returns the ratings of images by three scripted raters: pages made, filled in and collected. They agree that
// each image shows a person as described; the groups depend on the image's number.
func rated(t *testing.T, images *datasets.Frame) *datasets.Frame {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "study")
	_ = must.Get(annotate.Make(images, dir, annotate.Options{Task: annotate.Entigen}))(t)
	var key struct {
		Study string
		Asks  []struct {
			Name    string
			Options []struct{ Label string }
		}
		Subjects []struct {
			ID   string
			Asks []int
		}
		Pages []struct {
			Name  string
			Items []struct {
				Subject int
				Parts   []struct {
					Ask     int
					Options []int
				}
			}
		}
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, annotate.KeyFile)))(t), &key))
	for _, page := range key.Pages {
		items := map[string]any{}
		for i, item := range page.Items {
			subject := key.Subjects[item.Subject]
			answers := map[string]any{}
			for j, part := range item.Parts {
				want := 0 // yes, or the first group
				if ask := key.Asks[subject.Asks[part.Ask]]; strings.HasPrefix(ask.Name, "perceived_") &&
					strings.HasSuffix(subject.ID, "#2") {
					want = 1
				}
				answers[fmt.Sprint(j+1)] = map[string]any{"pick": []int{slices.Index(part.Options, want) + 1}}
			}
			items[fmt.Sprint(i+1)] = map[string]any{"answers": answers}
		}
		out, err := json.Marshal(map[string]any{"format": "annotation answers 1", "study": key.Study,
			"page": page.Name, "items": items})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, annotate.AnswersDir, page.Name+".json"), out, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	collected := must.Get(annotate.Collect(dir, annotate.CollectOptions{}))(t)
	ratings := collected.Table.Texts(strings.ReplaceAll(data.PerceivedGender, " ", "_"))
	must.Equal(t, len(ratings), 3*images.Len(), "ratings")
	return collected.Table
}

package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// TestChain: every stage reads what the stage before it wrote, with the columns that are written by default.
func TestChain(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	prompts := "id,prompt,object,region,note\n"
	for _, region := range []string{"Velmora", "Tarrish"} {
		prompts += region + ",boat in " + region + ",boat," + region + ",own\n"
	}
	must.Do(t, os.WriteFile("prompts.csv", []byte(prompts), 0o644))
	for _, line := range []string{
		"generate --model archipelago-diffusion --prompts prompts.csv --steps 2 --size 32x32 --out g.parquet",
		"segment --model archipelago-clipseg --object object --input g.parquet --output m.csv", // a CSV in between
		"embed --model archipelago-vit --in m.csv --out e.parquet",
		"embed --model archipelago-clip --vector clip_image --in e.parquet --out i.parquet",
		"embed --model archipelago-clip --vector clip_text --text prompt --columns all --in i.parquet --out t.parquet",
		"embed --model archipelago-clip --vector clip_image_pooled --in m.csv --out p.parquet",
		"embed --model archipelago-clip --vector clip_image --columns all --in p.parquet --out b.parquet",
		"caption --model archipelago-blip --max-tokens 6 --in t.parquet --out c.parquet",
		"score --metric clip-score --in t.parquet --out fit.csv",
		"score --metric precision-coverage --real e.parquet --gen e.parquet --vector full --k 1 --out s.csv",
		"embed --model archipelago-vit --in m.csv --columns full,object --out few.csv",
	} {
		prints(run(strings.Fields(line)...))(t)
	}
	carried := []string{"id", "prompt", "object", "region", "note", "image", "seed", "model", "outcome", "mask"}
	for name, own := range map[string][]string{
		"e.parquet": {"full", "object_only", "background_only"},
		"i.parquet": {"clip_image"},
		"t.parquet": {"clip_image", "clip_text"},
		"b.parquet": {"clip_image_pooled", "clip_image", "clip_image_pooled_model", "clip_image_model"},
		"c.parquet": {"image_id", "caption"},
	} {
		f := must.Get(datasets.Parquet(name).Rows(t.Context()))(t)
		for _, column := range slices.Concat(carried, own) {
			if !f.Has(column) {
				t.Errorf("%s lacks the column %s: %s", name, column, table.NameList(f.Specs()))
			}
		}
		for _, c := range f.Columns {
			must.True(t, c.Kind != table.KindVector || slices.Contains(own, c.Name),
				"%s holds the vectors %s of an earlier stage", name, c.Name)
		}
		for i, img := range f.Images("image") {
			m, ok := f.Masks("mask")[i], f.Texts("outcome")[i] == "ok"
			must.True(t, filepath.Base(filepath.Dir(img.Path)) == "g.images" && ok == (m.Counts != ""),
				"%s, row %d: image %s, mask %v", name, i+1, img.Path, m)
		}
	}
	must.Equal(t, table.NameList(must.Get(datasets.CSV("few.csv").Rows(t.Context()))(t).Specs()), "id, object, full",
		"few.csv")
	for line, want := range map[string]string{
		"segment --model archipelago-clipseg --object objcet --in g.parquet --out x.csv": `"objcet"`,
		"embed --model archipelago-vit --columns ful --in m.csv " +
			"--out x.csv": `did you mean "full"?`,
		"embed --model archipelago-vti --in m.csv " +
			"--out x.csv": `did you mean "archipelago-vit"?`,
		"score --metric clip-score --by regoin --in t.parquet " +
			"--out x.csv": `did you mean "region"?`,
		"embed --model archipelago-clip --vector clip_text --text promt --in g.parquet " +
			"--out x.csv": `did you mean "prompt"?`,
	} {
		must.Fail(run(strings.Fields(line)...))(t, want)
	}
}

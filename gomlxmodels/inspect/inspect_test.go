package inspect

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
)

var update = flag.Bool("update", false, "write testdata/reports.txt again")

// copied copies a folder of another package's testdata.
func copied(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", filepath.FromSlash(source)))))
	return dir
}

// folders are what users have, and what goes wrong with it.
var folders = []struct {
	name string
	make func(t *testing.T) string
}{
	{"vit-classifier", func(t *testing.T) string { return copied(t, "vit/testdata/hf-classifier-oblong") }},
	{"vit-timm", func(t *testing.T) string { return copied(t, "vit/testdata/timm-registers") }},
	{"dinov2", func(t *testing.T) string { return copied(t, "vit/testdata/dinov2-registers-up") }},
	{"siglip", func(t *testing.T) string { return copied(t, "clip/testdata/siglip") }},
	{"clip", func(t *testing.T) string { return copied(t, "archipelago/weights/archipelago-clip") }},
	{"blip", func(t *testing.T) string { return copied(t, "blip/testdata/base") }},
	{"blip-questions", func(t *testing.T) string { return copied(t, "blip/testdata/questions") }},
	{"blip2-captions", func(t *testing.T) string { return copied(t, "blip2/testdata/opt") }},
	{"blip2-retrieval", func(t *testing.T) string { return copied(t, "blip2/testdata/retrieval") }},
	{"clipseg", func(t *testing.T) string { return copied(t, "clipseg/testdata/refined") }},
	{"sam", func(t *testing.T) string { return copied(t, "sam/testdata/windows") }},
	{"grounding-dino", func(t *testing.T) string {
		return modeltest.Computed(t, filepath.Join("..", "groundingdino", "testdata", "shared"))
	}},
	{"dalle-mini", func(t *testing.T) string {
		return modeltest.Computed(t, filepath.Join("..", "dallemini", "testdata", "mega"), "vqgan")
	}},
	{"mindalle", func(t *testing.T) string {
		dir := modeltest.Computed(t, filepath.Join("..", "mindalle", "testdata", "tiny"), "stage1")
		for from, to := range map[string]string{"model.safetensors": "stage2_last.ckpt",
			"stage1/model.safetensors": "stage1_last.ckpt"} {
			must.Do(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
		}
		return dir
	}},
	{"sentences", func(t *testing.T) string {
		dir := copied(t, "textenc/testdata/bert-joined-dense")
		modeltest.Write(t, filepath.Join(dir, "vocab.txt"), strings.ReplaceAll("[PAD] [UNK] [CLS] [SEP] [MASK] a "+
			"photo of house in sao paul ##o . ein madchen fahrt 12 km nach koln", " ", "\n"))
		return dir
	}},
	{"pipeline-old-configuration", func(t *testing.T) string {
		dir := copied(t, "diffusion/testdata/sd1")
		modeltest.Edit(t, filepath.Join(dir, "unet", "config.json"), map[string]any{"_diffusers_version": "0.6.0"})
		return dir
	}},
	{"clip-shards", func(t *testing.T) string { return copied(t, "clip/testdata/bf16-shards") }},
	{"no-tokenizer", func(t *testing.T) string { return copied(t, "clip/testdata/old-hub") }},
	{"damaged-names", func(t *testing.T) string {
		dir := copied(t, "vit/testdata/hf-pooler-odd")
		list := modeltest.Tensors(t, dir)
		for i := range list {
			switch {
			case strings.HasSuffix(list[i].Name, "layernorm.bias"):
				list[i].Name += ".renamed"
			case strings.HasSuffix(list[i].Name, "layernorm.weight"):
				list[i].Shape, list[i].Data = []int{1}, list[i].Data[:1]
			}
		}
		modeltest.Save(t, dir, slices.DeleteFunc(list, func(w weights.Tensor) bool {
			return strings.HasSuffix(w.Name, "cls_token")
		}))
		return dir
	}},
	{"damaged-cut", func(t *testing.T) string {
		dir := copied(t, "sam/testdata/windows")
		must.Do(t, os.Truncate(filepath.Join(dir, weights.SingleFile), 1000))
		return dir
	}},
	{"another-network", func(t *testing.T) string {
		dir := t.TempDir()
		modeltest.Write(t, filepath.Join(dir, "config.json"),
			`{"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"]}`)
		return dir
	}},
	{"another-pipeline", func(t *testing.T) string {
		dir := t.TempDir()
		modeltest.Write(t, filepath.Join(dir, "model_index.json"), `{"_class_name": "FluxPipeline"}`)
		return dir
	}},
	{"empty", func(t *testing.T) string { return t.TempDir() }},
}

// TestFolders prints the report of folders of all kinds.
func TestFolders(t *testing.T) {
	var all bytes.Buffer
	for _, f := range folders {
		dir := f.make(t)
		r, err := Folder(f.name, dir)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		var b bytes.Buffer
		must.Do(t, r.Print(&b))
		all.WriteString(strings.ReplaceAll(b.String(), dir, "DIR"))
		text, err := json.Marshal(r)
		var back Report
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back.Problem != r.Problem || back.Memory != r.Memory || len(back.Files) != len(r.Files) {
			t.Errorf("%s: %s, %v", f.name, text, err)
		}
	}
	golden := filepath.Join("testdata", "reports.txt")
	if *update {
		modeltest.Write(t, golden, all.String())
	}
	want := must.Get(os.ReadFile(golden))(t)
	got, wanted := strings.Split(all.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("line %d of %s: got %q, want %q", i+1, golden, got[min(i, len(got)-1)],
				wanted[min(i, len(wanted)-1)])
		}
	}
}

// TestNoFolder: what is no folder has no report.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	modeltest.Write(t, file, "")
	for _, path := range []string{file, filepath.Join(file, "y"), filepath.Join(t.TempDir(), "none")} {
		if r, err := Folder("x", path); err == nil || r != nil {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
}

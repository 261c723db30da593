//go:build checks

package generate_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// command builds the program and returns what runs it with a store in dir.
func command(t *testing.T, dir string) (run func(args ...string) string) {
	t.Helper()
	binary := filepath.Join(dir, "antipode")
	if out, err := exec.Command("go", "build", "-o", binary, "antipode").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return func(args ...string) string {
		cmd := exec.Command(binary, args...)
		cmd.Env = append(os.Environ(), "ANTIPODE_HOME="+filepath.Join(dir, "store"), "ANTIPODE_BIN=")
		return string(must.Get(cmd.CombinedOutput())(t))
	}
}

// checkTable compares generated images, each prompt's one after the other, with those of reference.safetensors.
func checkTable(t *testing.T, table, reference string, each int) {
	t.Helper()
	set := must.Get(weights.OpenFiles(reference))(t)
	evaluator(t)
	f := rows(t, datasets.Parquet(table))
	blocked := make([]float32, f.Len())
	if set.Has("blocked") {
		blocked = must.Get(set.Float32("blocked"))(t)
	}
	worst := 0
	for i, img := range f.Images("image") {
		if want := map[bool]string{true: "refused",
			false: "ok"}[blocked[i] == 1]; f.Texts("outcome")[i] != want {
			t.Errorf("%s is %s (%s), diffusers' %s", f.Texts("id")[i], f.Texts("outcome")[i],
				f.Texts("reason")[i], want)
		}
		if f.Texts("outcome")[i] != "ok" {
			continue
		}
		values := must.Get(set.Float32(fmt.Sprintf("image_%d", i/each)))(t)
		var want []uint32
		for _, v := range values[i%each*len(values)/each : (i%each+1)*len(values)/each] {
			want = append(want, uint32(v+0.5))
		}
		got := pixels(t, img)
		must.Equal(t, len(got), len(want), "values")
		worst = max(worst, apart(got, want))
	}
	t.Logf("%d images, worst difference %d/255", f.Len(), worst)
	if worst > 2 {
		t.Errorf("worst difference %d/255, more than 2", worst)
	}
}

// TestFreshCommand has `antipode generate` sample the prompts of AltDiffusion folders that diffusers has just saved:
// the images are diffusers' within 2/255 after 20 steps, and the same are blocked.
func TestFreshCommand(t *testing.T) {
	testbackend.XLA(t)
	dir := t.TempDir()
	t.Logf("\n%s", testbackend.Python(t, []string{"torch", "transformers", "diffusers", "safetensors", "sentencepiece"},
		filepath.Join("..", "..", "..", "tools", "pyref", "altdiffusion_fresh.py"), dir, fmt.Sprint(near.Seed(t))))
	run := command(t, dir)
	defer run("backend", "stop")
	for _, name := range []string{"two", "nine", "plain", "pieces2", "pieces9"} {
		t.Run(name, func(t *testing.T) {
			table := filepath.Join(dir, name+".parquet")
			t.Log(run("generate", "--model", filepath.Join(dir, name), "--prompts", filepath.Join(dir, "prompts.csv"),
				"--n", "2", "--seed", "11", "--steps", "20", "--guidance", "50",
				"--negative", "blurry", "--size", "24x16", "--out", table))
			checkTable(t, table, filepath.Join(dir, name, "reference.safetensors"), 2)
		})
	}
}

// TestFreshFileCommand has it sample those of single files, and of the folder that `antipode models convert` writes.
func TestFreshFileCommand(t *testing.T) {
	testbackend.XLA(t)
	dir := t.TempDir()
	t.Logf("\n%s", testbackend.Python(t, []string{"torch", "transformers", "diffusers", "safetensors"},
		filepath.Join("..", "..", "..", "tools", "pyref", "ldm.py"), "fresh", dir, fmt.Sprint(near.Seed(t))))
	prompts := filepath.Join(dir, "prompts.csv")
	must.Do(t, os.WriteFile(prompts, []byte("id,prompt\na,a small house by the sea\nb,\"the sea, the sea\"\n"), 0o600))
	run := command(t, dir)
	defer run("backend", "stop")
	generate := func(t *testing.T, name string, model ...string) string {
		table := filepath.Join(dir, name+".parquet")
		out := run(append([]string{"generate", "--prompts", prompts, "--seed", "5", "--steps", "8", "--negative",
			"blurry", "--size", "40x32", "--out", table, "--model"}, model...)...)
		checkTable(t, table, filepath.Join(dir, name, "reference.safetensors"), 1)
		return out
	}
	t.Run("file", func(t *testing.T) {
		out := generate(t, "vee", filepath.Join(dir, "vee.safetensors"), "--config-from", filepath.Join(dir, "vee"))
		if !strings.Contains(out, "vee.safetensors: prediction type v_prediction: the standard deviation of") {
			t.Errorf("no note of the prediction type: %s", out)
		}
	})
	t.Run("converted", func(t *testing.T) {
		own := filepath.Join(dir, "own")
		t.Log(run("models", "convert", filepath.Join(dir, "two.ckpt"), "--out", own, "--config-from",
			filepath.Join(dir, "two")))
		generate(t, "two", own)
	})
}

package all_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/all"
	"antipode/gomlxmodels/internal/stagetest"
	"antipode/kernel/client"
)

// TestPrograms captions and embeds images, and embeds texts, with the echo adapter.
func TestPrograms(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	if err := all.Use(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "echo")
	out, err := exec.Command("go", "build", "-o", program, "../../docs/examples/echo_adapter").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv(client.ExecVar, "")
	if err := gomlxmodels.AllowExec(program); err != nil {
		t.Fatal(err)
	}
	model := gomlxmodels.Exec + program
	dir, table := t.TempDir(), "id,image,note\n"
	var digests []string
	for i, img := range stagetest.Scenes(t, 3) {
		name := fmt.Sprintf("p%d.png", i)
		if err := os.Rename(img.Path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		table += fmt.Sprintf("p%d,%s,text %d\n", i, name, i)
		digests = append(digests, img.SHA256)
	}
	file := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	images := datasets.CSV(file)

	captions, err := gomlxmodels.Caption(model, images, gomlxmodels.CaptionOptions{N: 2, Seed: 7, Decode: "nucleus",
		Prefix: "an "}).Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range captions.Texts("caption") {
		if want := fmt.Sprintf("an image %.8s, seed %d", digests[i/2], 7+i%2); got != want {
			t.Errorf("caption %d is %q, want %q", i, got, want)
		}
	}
	vectors, err := gomlxmodels.EmbedText(model, gomlxmodels.Embed(model, images), "note").Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vectors.Vectors("full") {
		if text := vectors.Vectors("text")[i]; len(v) != 32 || fmt.Sprintf("%02x", int(v[0])) != digests[i][:2] ||
			len(text) != 32 || text[0] == v[0] {
			t.Errorf("row %d: %v, %v", i, v, text)
		}
	}

	for want, tab := range map[string]datasets.Table{
		"takes no options of decoding": gomlxmodels.Caption(model, images, gomlxmodels.CaptionOptions{MinTokens: 3}),
		`takes no option "white"`:      gomlxmodels.Embed(model, images, gomlxmodels.EmbedOptions{Fill: "white"}),
		"are for a program": gomlxmodels.Caption("archipelago-blip", images, gomlxmodels.CaptionOptions{
			Exec: gomlxmodels.ExecOptions{Workers: 2}}),
	} {
		if _, err := tab.Plan(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

package all_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	_ "image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/all"
	"antipode/gomlxmodels/internal/stagetest"
	"antipode/kernel/client"
)

// echo builds the echo adapter and allows a script that starts it: what is sent to it and what it answers pass through
// sed with these commands. It returns the model's name and a function that counts the starts.
func echo(t *testing.T, sent, answered string) (model string, starts func() int) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "adapter")
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "echo"),
		"../../docs/examples/echo_adapter").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := fmt.Sprintf("#!/bin/sh\necho start >> %[1]s/starts\nsed -u '%[2]s' | %[1]s/echo | sed -u '%[3]s'\n", dir,
		sent, answered)
	t.Setenv(client.ExecVar, "")
	if err := errors.Join(os.WriteFile(program, []byte(script), 0o700), gomlxmodels.AllowExec(program)); err != nil {
		t.Fatal(err)
	}
	return gomlxmodels.Exec + program, func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "starts"))
		return strings.Count(string(text), "start")
	}
}

// scenes writes a table of n images, with the values of a column where they are given. It returns its path and the
// images' digests.
func scenes(t *testing.T, n int, column string, values ...string) (file string, digests []string) {
	t.Helper()
	dir, table := t.TempDir(), "id,image,"+column+"\n"
	for i, img := range stagetest.Scenes(t, n) {
		name := fmt.Sprintf("p%d.png", i)
		if err := os.Rename(img.Path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		value := fmt.Sprintf("text %d", i)
		if i < len(values) {
			value = values[i]
		}
		table += fmt.Sprintf("p%d,%s,%s\n", i, name, value)
		digests = append(digests, img.SHA256)
	}
	file = filepath.Join(dir, "t.csv")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, digests
}

// TestPrograms captions and embeds images, and embeds texts, with the echo adapter.
func TestPrograms(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	if err := all.Use(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	model, _ := echo(t, "", "")
	file, digests := scenes(t, 3, "note")
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

// TestProgramSegment segments with the echo adapter: masks are those of native models, what the program refuses or
// fails on is an outcome of the row, and a row that ends the program does not stop the others.
func TestProgramSegment(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	if err := all.Use(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	objects := []string{"boat", "boat|house", "no thing", "weapon", "busy", "large", "damaged", "runs", "poison",
		"tree"}
	file, _ := scenes(t, len(objects), "object", objects...)
	size := func(i int) image.Point {
		return imageSize(t, filepath.Join(filepath.Dir(file), fmt.Sprintf("p%d.png", i)))
	}
	pixel := mask.New(size(7).X, size(7).Y)
	pixel.Set(2, 1, true)
	model, starts := echo(t, `/poison/Q`, fmt.Sprintf(`/"no thing"/s/"masks":.*}\]/"masks":[],"reason":"score 0.1"/
/"weapon"/s/"outcome":"ok"/"outcome":"refused","reason":"unsafe"/
/"busy"/s/"outcome":"ok"/"outcome":"failed","reason":"out of memory","transient":true/
/"large"/s/"masks":.*}\]/"masks":[{"size":[9000,9000],"counts":"0"}]/
/"damaged"/s/"masks":.*}\]/"masks":[{"size":[%d,%d],"counts":"04"}]/
/"runs"/s/"masks":.*}\]/"masks":[{"size":[%d,%d],"counts":"%s"}]/`, size(6).Y, size(6).X, pixel.Height,
		pixel.Width, mask.Encode(pixel).Counts))
	segment := func(o gomlxmodels.SegmentOptions) datasets.Table {
		return gomlxmodels.Segment(model, datasets.CSV(file), o)
	}
	masked := segment(gomlxmodels.SegmentOptions{})
	f, err := masked.Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	width := func(i int, object string) int { // of the echo adapter's mask
		sum := sha256.Sum256([]byte(object))
		return 1 + int(sum[0])*size(i).X/256
	}
	for i, c := range []struct {
		outcome, reason string
		width           int
	}{
		{"ok", "", width(0, "boat")},
		{"ok", "", max(width(1, "boat"), width(1, "house"))},
		{"unmasked", `echo finds no "no thing": score 0.1`, 0},
		{"refused", "unsafe", 0},
		{"failed", "may pass: out of memory", 0},
		{"failed", fmt.Sprintf("the program's mask 1 cannot be used: 9000×9000 pixels; the image has %d×%d",
			size(5).X, size(5).Y), 0},
		{"failed", "the program's mask 1 cannot be used: mask: the runs cover 4 pixels", 0},
		{"ok", "", 0},
		{"failed", "the program exited while working on this row (2 times)", 0},
		{"ok", "", width(9, "tree")},
	} {
		outcome, reason := f.Texts("outcome")[i], f.Texts("reason")[i]
		if outcome != c.outcome || !strings.HasPrefix(reason, c.reason) || reason != "" && c.reason == "" {
			t.Errorf("%s: %s %q, want %s %q", objects[i], outcome, reason, c.outcome, c.reason)
		}
		m, score, area := f.Masks("mask")[i], f.Numbers("mask_score")[i], f.Numbers("mask_area")[i]
		switch size := size(i); {
		case c.width > 0:
			got, err := mask.Decode(m)
			if err != nil || got.Width != size.X || got.Height != size.Y || got.Area() != c.width*size.Y ||
				!got.At(c.width-1, size.Y-1) || score != 0.5 || area != float64(c.width)/float64(size.X) {
				t.Errorf("%s: score %v, area %v, %v", objects[i], score, area, err)
			}
		case objects[i] == "runs": // without a score
			if got, err := mask.Decode(m); err != nil || got.Area() != 1 || !got.At(2, 1) || !math.IsNaN(score) {
				t.Errorf("%s: %v, score %v, %v", objects[i], m, score, err)
			}
		case m.Counts != "" || !math.IsNaN(score):
			t.Errorf("%s: mask %v, score %v", objects[i], m, score)
		}
	}
	want := fmt.Sprintf(`[{"object":"boat","label":"boat","score":0.5,"box":[0,0,%d,%d]},{"object":"house",`+
		`"label":"house","score":0.5,"box":[0,0,%d,%[2]d]}]`, width(1, "boat"), size(1).Y,
		width(1, "house"))
	if got := f.Texts("boxes")[1]; got != want {
		t.Errorf("boxes %s, want %s", got, want)
	}

	before := starts()
	res, err := masked.RunE(t.Context())
	if err != nil || res.Found != len(objects)-1 || res.Computed != 1 || starts() != before {
		t.Errorf("a second run: %+v, %d starts, %v; want the busy row only", res, starts()-before, err)
	}
	clip, err := filepath.Abs("../stage/segment/testdata/clip")
	if err != nil {
		t.Fatal(err)
	}
	other := segment(gomlxmodels.SegmentOptions{Components: "above 0.9", Presence: clip,
		Exec: gomlxmodels.ExecOptions{Workers: 2}})
	if f, err = other.Rows(t.Context()); err != nil || f.Texts("outcome")[7] != "unmasked" ||
		!strings.HasPrefix(f.Texts("reason")[7], `no region of "runs" covers 0.9`) ||
		slices.ContainsFunc(f.Numbers("presence"), func(p float64) bool { return !(p > 0 && p < 1) }) {
		t.Errorf("%q, %v, %v", f.Texts("reason")[7], f.Numbers("presence"), err)
	}
	t.Setenv(client.ExecVar, "")
	if _, err := masked.RunE(t.Context()); err == nil || !strings.Contains(err.Error(), "is not approved. Fix:") {
		t.Errorf("a program that is not approved: %v", err)
	}
}

func imageSize(t *testing.T, file string) image.Point {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, _, err := image.DecodeConfig(f)
	if err != nil {
		t.Fatal(err)
	}
	return image.Pt(c.Width, c.Height)
}

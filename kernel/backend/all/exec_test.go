package all_test

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/test/stagetest"
	"antipode/test/testengine"
)

// echo builds the echo adapter and allows a script that starts it: what is sent to it and what it answers pass through
// sed with these commands. It returns the model's name and a function that counts the starts.
func echo(t *testing.T, sent, answered string) (model string, starts func() int) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "adapter")
	stagetest.Echo(t, dir)
	script := fmt.Sprintf("#!/bin/sh\necho start >> %[1]s/starts\nsed -u '%[2]s' | %[1]s/echo | sed -u '%[3]s'\n", dir,
		sent, answered)
	t.Setenv(client.ExecVar, "")
	must.Do(t, errors.Join(os.WriteFile(program, []byte(script), 0o700), gomlxmodels.AllowExec(program)))
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
		must.Do(t, os.Rename(img.Path, filepath.Join(dir, name)))
		value := fmt.Sprintf("text %d", i)
		if i < len(values) {
			value = values[i]
		}
		table += fmt.Sprintf("p%d,%s,%s\n", i, name, value)
		digests = append(digests, img.SHA256)
	}
	file = filepath.Join(dir, "t.csv")
	must.Do(t, os.WriteFile(file, []byte(table), 0o600))
	return file, digests
}

// TestPrograms captions and embeds images, and embeds texts, with the echo adapter.
func TestPrograms(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, all.Use(t.TempDir()))
	model, _ := echo(t, "", "")
	file, digests := scenes(t, 3, "note")
	images := datasets.CSV(file)

	captions := must.Get(gomlxmodels.Caption(model, images, gomlxmodels.CaptionOptions{N: 2, Seed: 7, Decode: "nucleus",
		Prefix: "an "}).Rows(t.Context()))(t)
	for i, got := range captions.Texts("caption") {
		must.Equal(t, got, fmt.Sprintf("an image %.8s, seed %d", digests[i/2], 7+i%2), "caption", i)
	}
	vectors := must.Get(gomlxmodels.EmbedText(model, gomlxmodels.Embed(model, images), "note").Rows(t.Context()))(t)
	for i, v := range vectors.Vectors("full") {
		if text := vectors.Vectors("text")[i]; len(v) != 32 || fmt.Sprintf("%02x", int(v[0])) != digests[i][:2] ||
			len(text) != 32 || text[0] == v[0] {
			t.Errorf("row %d: %v, %v", i, v, text)
		}
	}

	for want, tab := range map[string]datasets.Table{
		"MinTokens is for a network that Antipode runs, not for a program": gomlxmodels.Caption(model, images,
			gomlxmodels.CaptionOptions{MinTokens: 3}),
		"Fill is for a ViT (the vector full), not for a program": gomlxmodels.Embed(model, images,
			gomlxmodels.EmbedOptions{Fill: "white"}),
		"Exec.Workers is for a program (exec:PATH), not for a network": gomlxmodels.Caption("archipelago-blip", images,
			gomlxmodels.CaptionOptions{
				Exec: gomlxmodels.ExecOptions{Workers: 2}}),
	} {
		must.Fail(tab.Plan())(t, want)
	}
}

// TestProgramSegment segments with the echo adapter: masks are those of native models, what the program refuses or
// fails on is an outcome of the row, and a row that ends the program does not stop the others.
func TestProgramSegment(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, all.Use(t.TempDir()))
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
	f := must.Get(masked.Rows(t.Context()))(t)
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
	must.Equal(t, f.Texts("boxes")[1], want, "boxes")

	before := starts()
	res, err := masked.RunE(t.Context())
	if err != nil || res.Found != len(objects)-1 || res.Computed != 1 || starts() != before+1 { // it lists no files
		t.Errorf("a second run: %+v, %d starts, %v; want the busy row only", res, starts()-before, err)
	}
	clip := must.Get(filepath.Abs("../../../gomlxmodels/stage/segment/testdata/clip"))(t)
	other := segment(gomlxmodels.SegmentOptions{Components: "above 0.9", Presence: clip,
		Exec: gomlxmodels.ExecOptions{Workers: 2}})
	if f, err = other.Rows(t.Context()); err != nil || f.Texts("outcome")[7] != "unmasked" ||
		!strings.HasPrefix(f.Texts("reason")[7], `no region of "runs" covers 0.9`) ||
		slices.ContainsFunc(f.Numbers("presence"), func(p float64) bool { return !(p > 0 && p < 1) }) {
		t.Errorf("%q, %v, %v", f.Texts("reason")[7], f.Numbers("presence"), err)
	}
	t.Setenv(client.ExecVar, "")
	must.Fail(masked.RunE(t.Context()))(t, "is not approved. Fix:")
}

// TestProgramAsk asks about images with the echo adapter: probabilities are those of their choices in both orders, what
// the program refuses or fails on is an outcome of the answer, and a row that ends the program does not stop others.
func TestProgramAsk(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, all.Use(t.TempDir()))
	const none = `"probabilities":null,"source":"none"`
	model, starts := echo(t, `/"p3\/1"/Q`, `/"p1\//s/"outcome":"ok"/"outcome":"refused","reason":"a person"/
/"p2\//s/"outcome":"ok"/"outcome":"failed","reason":"busy","transient":true/
/"p4\//s/"choice":[0-9]/"choice":3/
/"p5\//s/"probabilities":[^]]*]/"probabilities":[0.5,0.5,0.5]/
/"p6\//s/"probabilities":.*"logits"/`+none+`/
/"p7\/1"/s/"choice":[0-9].*"logits"/"choice":0,"id":"p7\/1",`+none+`,"outcome":"ok"/
/"p7\/2"/s/"choice":[0-9].*"logits"/"choice":0,"id":"p7\/2",`+none+`,"outcome":"ok"/
/"p8\//s/"logits"/"none"/`)
	file, digests := scenes(t, 10, "outcome", slices.Repeat([]string{"ok"}, 10)...)
	o := gomlxmodels.AskOptions{Question: "Is it day?", Choices: []string{"yes", "no", "cannot tell"}}
	run := func(o gomlxmodels.AskOptions) *table.Frame {
		t.Helper()
		return must.Get(gomlxmodels.Ask(model, datasets.CSV(file), o).Rows(t.Context()))(t)
	}
	permuted := o
	permuted.Permute, permuted.Column, permuted.Exec.Workers = true, "day", 2
	for _, o := range []gomlxmodels.AskOptions{o, permuted} {
		name := cmp.Or(o.Column, "answer")
		f := run(o)
		for i, want := range []string{"ok", "refused a person", "failed may pass: busy",
			"failed the program exited while working on this row (2 times)",
			"failed the program's choice is not an index from 0 to 2",
			"failed the program's 3 probabilities of 3 choices with the sum 1.5",
			"ok", "ok", `failed the program's 3 probabilities of 3 choices with the sum 1 and the source "none"`,
			"ok"} {
			var p [3]float64
			best, sum := "", 0.0
			for k, choice := range o.Choices {
				p[k] = f.Numbers(name + "_p_" + choice)[i]
				if sum += p[k]; p[k] == max(p[0], p[1], p[2]) && p[k] >= 1.0/3 {
					best = choice
				}
			}
			got := f.Texts(name + "_outcome")[i] + " " + f.Texts(name + "_reason")[i]
			answer, source := f.Texts(name)[i], f.Texts(name + "_source")[i]
			wantSource := ""
			switch {
			case i == 6 || i == 7:
				wantSource = "none"
			case want == "ok":
				wantSource = "logits"
			}
			if i == 7 && o.Permute {
				want, best = `ok the answers to two orders of the choices differ: "yes" and "cannot tell"`, ""
			} else if i == 6 || i == 7 {
				best = answer
			}
			must.True(t, strings.HasPrefix(got, want) && source == wantSource && f.Texts("outcome")[i] == "ok",
				"%v, row %d: %s, source %q; want %s, %q", o.Permute, i, got, source, want, wantSource)
			if known := wantSource == "logits"; known != (math.Abs(sum-1) < 1e-9) || !known && !math.IsNaN(p[0]) ||
				known && (answer != best || answer != f.Texts(name + "_text")[i] ||
					math.Abs(p[0]-weight(digests[i], o)) > 1e-9) || !known && answer != "" && i != 6 && i != 7 {
				t.Errorf("%v, row %d: %q with %v, the most probable is %q", o.Permute, i, answer, p, best)
			}
		}
	}
	before := starts()
	res, err := gomlxmodels.Ask(model, datasets.CSV(file), o).RunE(t.Context())
	if err != nil || res.Found != 9 || res.Computed != 1 || starts() != before+1 { // it lists no files
		t.Errorf("a second run: %+v, %d starts, %v; want the busy row only", res, starts()-before, err)
	}
	for want, o := range map[string]gomlxmodels.AskOptions{
		`no such column: "question"`:     {Choices: o.Choices},
		"1 choices: give 2 to 64":        {Question: "?", Choices: o.Choices[:1]},
		`choice "a": choices are differ`: {Question: "?", Choices: []string{"a", "a"}},
		"Seed is -1; it must be":         {Question: "?", Choices: o.Choices, Seed: -1},
		"Exec.Workers is 65": {Question: "?", Choices: o.Choices,
			Exec: gomlxmodels.ExecOptions{Workers: 65}},
	} {
		must.Fail(gomlxmodels.Ask(model, datasets.CSV(file), o).Plan())(t, want)
	}
	must.Fail(gomlxmodels.Ask("archipelago-clip", datasets.CSV(file), o).Plan())(t,
		"questions are for chat models (chat:NAME), programs (exec:PATH) and BLIP")
}

// weight is the probability that the echo adapter gives the first choice.
func weight(image string, o gomlxmodels.AskOptions) float64 {
	var w [3]float64
	for i, c := range o.Choices {
		digest := sha256.Sum256(fmt.Appendf(nil, "%s %q %q", image, o.Question, c))
		w[i] = math.Exp(float64(digest[0]) / 64)
	}
	return w[0] / (w[0] + w[1] + w[2])
}

func imageSize(t *testing.T, file string) image.Point {
	t.Helper()
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	c := must.Get(png.DecodeConfig(f))(t)
	return image.Pt(c.Width, c.Height)
}

// TestProgramSource: the record of a run names the repository and revision that a program states.
func TestProgramSource(t *testing.T) {
	e := testengine.Engine(t)
	model, _ := echo(t, "", `s/"id":"echo"/"id":"some\/model","revision":"abc"/`)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}})
	res := must.Get(gomlxmodels.Generate(model, prompts).SaveE(t.Context(), filepath.Join(t.TempDir(), "o.csv")))(t)
	rec, err := e.Store.Record(res.Record)
	must.True(t, err == nil && slices.Contains(slices.Collect(maps.Values(rec.Sources)), "some/model@abc"),
		"sources %q, models %q, %v", rec.Sources, rec.Models, err)
}

// TestProgramWeights: no vector of earlier weights is returned after a file that a program lists has changed, by its
// size or only by its content, in the same engine and in another one; a program that lists none is started in each run.
func TestProgramWeights(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	t.Setenv(client.ExecVar, "")
	for files, listed := range map[string]string{"listed": `,"files":[{"path":"DIR/weights","size":1}]`, "not listed": ""} {
		dir, home := t.TempDir(), t.TempDir()
		program := filepath.Join(dir, "program")
		script := strings.ReplaceAll(strings.Replace(weighted, "FILES", listed, 1), "DIR", dir)
		must.Do(t, os.WriteFile(program, []byte(script), 0o700))
		must.Do(t, gomlxmodels.AllowExec(program))
		for step, weights := range []string{"1", "2", "2", "1"} {
			if step != 2 {
				time.Sleep(20 * time.Millisecond)
				must.Do(t, os.WriteFile(filepath.Join(dir, "weights"), []byte(weights), 0o600))
			}
			if step%2 == 0 { // another backend
				must.Do(t, all.Use(home))
			}
			rows := []map[string]any{{"id": "a", "caption": "a boat"}, {"id": fmt.Sprint(step),
				"caption": fmt.Sprint(step)}}
			f, err := gomlxmodels.EmbedText("exec:"+program, datasets.FromRows(rows), "caption").Rows(t.Context())
			if err != nil {
				t.Fatal(files, step, err)
			}
			for i, v := range f.Vectors("text") {
				want := float32(weights[0] - '0')
				must.True(t, len(v) == 1 && v[0] == want, "%s, step %d, row %d: %v, want %g", files, step, i, v, want)
			}
		}
	}
}

// weighted embeds a text as the number in the file weights, which is 1 or 2.
const weighted = `#!/bin/sh
w=$(cat DIR/weights)
while IFS= read -r line; do
	case $line in
	*'"type":"hello"'*)
		printf '{"type":"ready","protocol":1,"name":"w","version":"1","model":{"digest":"%s"FILES},"tasks":["embed"],' "$w"
		echo '"capabilities":{"seed":"exact"},"max_batch":1,"device_kind":"cpu","dtype":"float32"}' ;;
	*'"type":"batch"'*)
		out=$(printf '%s' "$line" | sed 's/.*"out":"\([^"]*\)".*/\1/')
		id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
		batch=$(printf '%s' "$line" | sed 's/.*"batch":\([0-9]*\).*/\1/')
		if [ "$w" = 1 ]; then printf '\000\000\200\077' >"$out"; else printf '\000\000\000\100' >"$out"; fi
		printf '{"type":"item","batch":%s,"id":"%s","outcome":"ok","file":"%s","dim":1}\n' "$batch" "$id" "$out" ;;
	*'"type":"bye"'*) exit 0 ;;
	esac
done
`

// TestProgramDoesNotStart: a program that the system cannot start is an error with the fix.
func TestProgramDoesNotStart(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	t.Setenv(client.ExecVar, "")
	must.Do(t, all.Use(t.TempDir()))
	for first, want := range map[string]string{"import sys": "such as #!/usr/bin/env python3",
		"#!/none/python": "the interpreter that its first line names is missing"} {
		program := filepath.Join(t.TempDir(), "p.py")
		must.Do(t, os.WriteFile(program, []byte(first+"\n"), 0o700))
		must.Do(t, gomlxmodels.AllowExec(program))
		rows := []map[string]any{{"id": "a", "caption": "a boat"}}
		_, err := gomlxmodels.EmbedText("exec:"+program, datasets.FromRows(rows), "caption").Rows(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "goroutine") {
			t.Errorf("%s: %v, want %q", first, err, want)
		}
	}
}

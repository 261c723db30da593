package annotate

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/representation"
	_ "antipode/test/memdir"
)

// maxPage is the size of the largest page, in bytes.
const maxPage = 3_000_000

// TestTasks fills in the pages of each task with a rater who sees what the images show.
func TestTasks(t *testing.T) {
	for task, trial := range trials(evaluator(t)) {
		t.Run(task, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "study")
			trial.o.Task, trial.o.Seed = task, 3
			made := must.Get(Make(trial.in, dir, trial.o))(t)
			must.True(t, made.Largest <= maxPage && made.Pages != 0, "%+v", made)
			newRater(t, trial).fill(t, dir)
			c := must.Get(Collect(dir, CollectOptions{}))(t)
			trial.check(t, c)
		})
	}
}

// imageColumn writes images as PNG files with a text chunk, as generators store prompts, and returns their column.
func imageColumn(t *testing.T, n int, pixel func(i, x, y int) color.Color, side int) table.Column {
	t.Helper()
	dir := t.TempDir()
	c := table.Column{ColumnSpec: table.ColumnSpec{Name: "image", Kind: table.KindImage}}
	for i := range n {
		img := image.NewRGBA(image.Rect(0, 0, side, side))
		for y := range side {
			for x := range side {
				img.Set(x, y, pixel(i, x, y))
			}
		}
		var b bytes.Buffer
		must.Do(t, png.Encode(&b, img))
		data := withText(b.Bytes(), "parameters\x00SECRET-METADATA")
		path := filepath.Join(dir, fmt.Sprintf("SECRET-FILE-%d.png", i))
		must.Do(t, os.WriteFile(path, data, 0o644))
		sum := sha256.Sum256(data)
		c.Images = append(c.Images, table.Image{SHA256: hex.EncodeToString(sum[:]), Path: path})
	}
	return c
}

// withText adds a text chunk to a PNG file, before its last chunk.
func withText(data []byte, text string) []byte {
	chunk := append([]byte("tEXt"), text...)
	out := slices.Clone(data[:len(data)-12])
	out = binary.BigEndian.AppendUint32(out, uint32(len(text)))
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(out, data[len(data)-12:]...)
}

func flat(i, _, _ int) color.Color { return color.Gray{uint8(7*i + 3)} }

// texts returns a text column whose values are numbered.
func texts(name, format string, n int) table.Column {
	values := make([]string, n)
	for i := range values {
		values[i] = format
		if strings.Contains(format, "%") {
			values[i] = fmt.Sprintf(format, i)
		}
	}
	return table.TextColumn(name, values)
}

// people is a table of n images of one identity.
func people(t *testing.T, n int) *table.Frame {
	t.Helper()
	return &table.Frame{Columns: []table.Column{texts("id", "SECRET-ID-%d", n), imageColumn(t, n, flat, 24),
		texts("identity", "Zorblattian", n), texts("prompt", "SECRET-PROMPT", n), texts("model", "SECRET-MODEL", n),
		texts("category", "profession", n), texts("prompt_id", "SECRET-PROMPT-ID", n), texts("attribute", "doctor", n),
		texts("language", "SECRET-LANGUAGE", n), texts("concept", "dog", n),
		texts("english", "a dog", n), texts("question", "Is it a dog?", n), texts("choices", "yes | no", n)}}
}

// attributes is a table of pairs: three stereotypes of Zorblattians, the third rated offensive, and six attributes
// that are none of theirs, the last of which is offensive about others.
func attributes() *table.Frame {
	names := []string{"tall", "green", "ugly-word", "hat", "red", "loud", "short", "round", "bad-word"}
	identity, counts, offense, score := texts("identity", "Zorblattian", 9), make([]float64, 9), make([]float64, 9),
		make([]float64, 9)
	for i := range names {
		score[i], offense[i] = 5, -1
		if i < 3 {
			counts[i] = 2
		} else {
			identity.Texts[i] = "Other"
		}
	}
	score[5] = 3 // loud cannot be seen
	offense[2], offense[8] = 1, 2.5
	return &table.Frame{Columns: []table.Column{identity, table.TextColumn("attribute", names),
		table.NumberColumn("na_stereo", counts), table.NumberColumn("region_stereo", counts),
		table.NumberColumn("offensiveness", offense), table.NumberColumn("score_asia", score),
		table.NumberColumn("score_europe", score), table.NumberColumn("score_na", score)}}
}

// options returns options that fit every task.
func options(task string) Options {
	return Options{Task: task, Attributes: attributes(), Tags: []string{"rusty", "new"}, Seed: 11}
}

// made writes a study of a task about a table, and returns its folder and key.
func made(t *testing.T, in *table.Frame, o Options) (dir string, k *key) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "study")
	_ = must.Get(Make(in, dir, o))(t)
	k = must.Get(readKey(filepath.Join(dir, KeyFile)))(t)
	return dir, k
}

// files returns the content of the files below a folder by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(data)
		return err
	}))
	return out
}

// TestPagesTellNothing: neither the pages nor their names contain what raters must not know, and load nothing.
func TestPagesTellNothing(t *testing.T) {
	for _, task := range Tasks {
		dir, _ := made(t, people(t, 8), options(task))
		pages := files(t, filepath.Join(dir, PagesDir))
		if len(pages) < 3 {
			t.Fatalf("%s: %d pages", task, len(pages))
		}
		for name, html := range pages {
			if task == Translations { // raters read the prompt
				html = strings.ReplaceAll(html, isolated("SECRET-PROMPT"), "")
			}
			for _, secret := range []string{"SECRET", "secret", "Zorblatt", "stereotyp", "Stereotyp", "visage",
				"entigen", "seed", "http:", "https:", "na_stereo", "innerHTML", "outerHTML", "insertAdjacent"} {
				must.True(t, !strings.Contains(name+html, secret), "%s: %s contains %q", task, name, secret)
			}
			var p shownPage
			_, rest, _ := strings.Cut(html, `id="page">`)
			text, _, _ := strings.Cut(rest, "</script>")
			must.Do(t, json.Unmarshal([]byte(text), &p))
			for _, uri := range p.Images {
				_, encoded, _ := strings.Cut(uri, ",")
				if img := decoded(t, uri); strings.Contains(encoded, "SECRET") || img.Bounds().Dx() != 24 {
					t.Errorf("%s: %s: an image of %v", task, name, img.Bounds())
				}
			}
		}
	}
}

// TestOrders: raters see the same items in other orders, and the same seed makes the same files.
func TestOrders(t *testing.T) {
	in := people(t, 30)
	o := options(Visage)
	dir, k := made(t, in, o)
	same, _ := made(t, in, o)
	if got, want := fmt.Sprint(files(t, same)), fmt.Sprint(files(t, dir)); got != want {
		t.Error("the same seed makes other files")
	}
	o.Seed++
	other, _ := made(t, in, o)
	must.True(t, fmt.Sprint(files(t, other)) != fmt.Sprint(files(t, dir)), "another seed makes the same files")
	orders, first := map[string]bool{}, map[int]int{}
	for _, p := range k.Pages {
		var subjects []int
		for _, it := range p.Items {
			subjects = append(subjects, it.Subject)
			first[it.Parts[0].Options[0]]++
			orders[fmt.Sprint("options ", it.Subject, it.Parts)] = true
		}
		orders["items "+fmt.Sprint(subjects)] = true
		slices.Sort(subjects)
		for i, s := range subjects {
			if s != i {
				t.Fatalf("%s has the items %v", p.Name, subjects)
			}
		}
	}
	if n := len(slices.Collect(func(yield func(string) bool) {
		for o := range orders {
			if strings.HasPrefix(o, "items") && !yield(o) {
				return
			}
		}
	})); n != 3 || len(orders) < 3+60 {
		t.Errorf("%d orders of items of three raters, %d of options of 90", n, len(orders)-n)
	}
	must.Equal(t, len(first), len(k.Asks[0].Options), "the first option is one", "any")
}

// TestAttributes: raters see an identity's stereotypes and as many other visual attributes, the same for all its
// images, and offensive ones only on request.
func TestAttributes(t *testing.T) {
	sorted := func(o Options) (stereo, others []string, made *Made) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "study")
		made = must.Get(Make(people(t, 5), dir, o))(t)
		k, err := readKey(filepath.Join(dir, KeyFile))
		if err != nil || len(k.Asks) != 1 {
			t.Fatal(err, k.Asks)
		}
		for _, o := range k.Asks[0].Options {
			if v := o.Values[0]; v != nil && *v >= 2 {
				stereo = append(stereo, o.Text)
			} else {
				others = append(others, o.Text)
			}
		}
		return stereo, others, made
	}
	o := options(Visage)
	stereo, others, report := sorted(o)
	if fmt.Sprint(stereo) != "[green tall]" || len(others) != 2 || !strings.Contains(fmt.Sprint(report.Notes),
		"left out: 1 stereotypes of these") {
		t.Errorf("%v, %v, %v", stereo, others, report.Notes)
	}
	seen := map[string]bool{}
	for o.Seed = range 12 {
		_, others, _ := sorted(o)
		for _, a := range others {
			seen[a] = true
		}
	}
	must.True(t, len(seen) == 4 && !seen["loud"] && !seen["bad-word"],
		"others: %v, want hat, red, short and round", seen)
	o.ShowOffensive = true
	stereo, others, report = sorted(o)
	must.True(t, fmt.Sprint(stereo) == "[green tall ugly-word]" && len(others) == 3 && len(report.Notes) == 0,
		"%v, %v, %v", stereo, others, report.Notes)
	o.Attributes.Column("attribute").Texts[2] = "masked 1 (rated offensive)"
	for _, o.ShowOffensive = range []bool{false, true} { // offensive about whom, nobody can tell
		must.Fail(Make(people(t, 5), filepath.Join(t.TempDir(), "x"), o))(t, "masked name")
	}
}

// TestPageSize: 50 images that hardly compress stay within the bound.
func TestPageSize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := imageColumn(t, 1, func(_, _, _ int) color.Color {
		n := r.Uint32()
		return color.RGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), 255}
	}, 300).Images[0]
	in := people(t, 50)
	for i := range in.Images("image") {
		in.Images("image")[i].Path = noise.Path // under another digest, which makes it another image
	}
	dir := filepath.Join(t.TempDir(), "study")
	o := options(TagTask)
	o.Raters = 1
	made := must.Get(Make(in, dir, o))(t)
	must.True(t, made.Pages == 1 && made.Largest <= maxPage && made.Largest >= maxPage/3,
		"%+v, want one page of at most %d bytes", made, maxPage)
}

// TestMakeErrors: a mistake is a line that tells what to do.
func TestMakeErrors(t *testing.T) {
	in := people(t, 3)
	existing, _ := made(t, in, options(TagTask))
	without := &table.Frame{Columns: slices.Delete(slices.Clone(in.Columns), 2, 3)} // identity
	empty := in.With(texts("identity", "", 3))
	images := slices.Clone(in.Images("image"))
	images[0] = table.Image{}
	second := empty.With(table.ImageColumn("image", images)) // no image in the first row
	for want, c := range map[string]struct {
		in  *table.Frame
		o   Options
		dir string
	}{
		`no task "visag"; tasks: visage, visual, entigen, failures, tags, translations, question; did you mean "visage"?`: {in,
			Options{Task: "visag"}, ""},
		`no such column: "identity"`:                {without, options(Visage), ""},
		`row 1 (id "SECRET-ID-0"), column identity`: {empty, options(Visage), ""},
		`row 2 (id "SECRET-ID-1"), column identity`: {second, options(Visage), ""},
		"no tags to choose from":                    {in, Options{Task: TagTask}, ""},
		"is empty or occurs twice":                  {in, Options{Task: TagTask, Tags: []string{"a", "a"}}, ""},
		"the table of attributes is missing":        {in, Options{Task: Visage}, ""},
		"2 raters; the task needs 3":                {in, Options{Task: Visual, Raters: 2}, ""},
		`"perceived_age=young" is not COLUMN=GROUP/GROUP`: {in, Options{Task: Entigen, Axes: "perceived_age=young"},
			""},
		"201 images per page":                  {in, Options{Task: TagTask, PerPage: 201}, ""},
		"exists: its pages may have been sent": {in, options(TagTask), existing},
		"3 images are left out: their identity has no": {in.With(texts("identity", "Nobody", 3)), options(Visage),
			""},
	} {
		dir := c.dir
		if dir == "" {
			dir = filepath.Join(t.TempDir(), "study")
		}
		must.Fail(Make(c.in, dir, c.o))(t, want)
	}
}

// TestPaperQuestions: the paper's questions about people and scenes; no group where there is no person, or where the
// rater cannot judge.
func TestPaperQuestions(t *testing.T) {
	in := people(t, 2)
	in = in.With(table.TextColumn("category", []string{"profession", "culture"}),
		table.TextColumn("attribute", []string{"doctor", "wedding"}), texts("prompt_id", "original", 2))
	dir, _ := made(t, in, Options{Task: Entigen, Seed: 5})
	asked := map[string]bool{}
	r := newRater(t, trial{in: in, answer: func(q seen) reply {
		asked[q.text] = true
		switch {
		case q.text == "Is the image about wedding?":
			return pick(q, "Yes")
		case strings.HasPrefix(q.text, "Perceived"):
			return reply{unsure: true}
		}
		return pick(q, "No")
	}})
	r.fill(t, dir)
	c := must.Get(Collect(dir, CollectOptions{}))(t)
	if len(asked) != 4 || !asked["Does the image show a person?"] || !asked["Does the person look like a doctor?"] ||
		!asked["Perceived culture: which fits what you see?"] {
		t.Errorf("asked %v", asked)
	}
	f := c.Table
	for i, category := range f.Texts("category") {
		gender, culture, person := f.Texts("perceived_gender")[i], f.Texts("perceived_culture")[i],
			f.Numbers("person")[i]
		if category == "profession" && (gender != "no group" || culture != "" || person != 0) ||
			category == "culture" && (gender != "" || culture != "no group" || !math.IsNaN(person)) {
			t.Errorf("%s: gender %q, culture %q, person %g", category, gender, culture, person)
		}
	}
	evaluate := evaluator(t)
	scores := evaluate(representation.Diversity(datasets.FromFrame(f)))
	must.True(t, scores.Len() == 3 && scores.Numbers("n_used")[0] == 0 && scores.Numbers("n_asked")[0] == 1,
		"%v", datasets.Format(scores, 0))
}

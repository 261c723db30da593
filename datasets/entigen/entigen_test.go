package entigen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/manifest"
	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/manifest/pull"
	"antipode/internal/must"
)

func read(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("testdata", name)))(t))
}

func TestRead(t *testing.T) {
	people := must.Get(Read("people.csv", []byte(read(t, "people.csv"))))(t)
	want := []Rating{
		{MinDALLE, Profession, "Prompt2", "दर्ज़ी", "P-G1", 1, 1, true, true, "man", "dark-skinned", ""},
		{MinDALLE, Profession, "Prompt2", "दर्ज़ी", "P-G1", 1, 2, true, false, NoGroup, "light-skinned", ""},
		{SD, Object, "Prompt7", "দর্জি", "Prompt7", 9, 1, false, true, "woman", NoGroup, ""},
	}
	if !reflect.DeepEqual(people, want) {
		t.Errorf("got  %+v\nwant %+v", people, want)
	}
	scenes := must.Get(Read("scenes.csv", []byte(read(t, "scenes.csv"))))(t)
	want = []Rating{
		{DALLEMini, Culture, "Prompt6", "عروس", "C-I1", 3, 1, false, true, "", "", "Non-Western"},
		{DALLEMini, Culture, "Prompt6", "عروس", "C-I1", 3, 2, false, false, "", "", NoGroup},
	}
	if !reflect.DeepEqual(scenes, want) {
		t.Errorf("got  %+v\nwant %+v", scenes, want)
	}
}

func TestBadSheets(t *testing.T) {
	good := read(t, "people.csv")
	for _, c := range []struct{ name, from, to, want string }{
		{"no column", "Input.url", "url", `line 1: no column "Input.url"`},
		{"half a survey", "Answer.Description_3", "other", "Answer.Description_3"},
		{"answer", "1,1,1,2\n", "1,1,5,2\n",
			`line 2, column Answer.Description_2: the answer "5" is not one of 1 to 4`},
		{"gate", "1,2,3,1\n", "3,2,3,1\n", `line 3, column Answer.Description_0: the answer "3" is not one of 1 to 2`},
		{"attribute", "দর্জি", "", "line 4, column Input.occu: the attribute is missing"},
		{"model", "stablediffusionimages", "newmodel", "line 4, column Input.url"},
		{"number", "9.jpg", "nine.jpg", "line 4, column Input.url"},
		{"category", "profession/Prompt2", "geographical/Prompt2",
			"line 2, column Input.url: an image of category culture in a sheet with 4 questions"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if text == good {
			t.Fatalf("%s: the fixture does not hold %q", c.name, c.from)
		}
		must.Fail(Read("p.csv", []byte(text)))(t, c.want, "p.csv")
	}
}

func TestKinds(t *testing.T) {
	for prompt, want := range map[string]string{"original": Original, "P-G1": "EI: perceived gender",
		"O-S1": "EI: perceived skin colour", "C-1": "EI: perceived culture", "C-I2": "irrelevant EI",
		"P-I1": "irrelevant EI", "Prompt7": "not reported"} {
		must.Equal(t, Kind(prompt), want, prompt)
		must.Equal(t, Reported(prompt), want != "not reported", prompt)
	}
}

// TestFrame: columns as declared, ids unique, independent of the order of the rows, no trace of a worker.
func TestFrame(t *testing.T) {
	people := must.Get(Read("people.csv", []byte(read(t, "people.csv"))))(t)
	scenes := must.Get(Read("scenes.csv", []byte(read(t, "scenes.csv"))))(t)
	all := append(people, scenes...)
	f := Frame(all)
	must.Do(t, f.Check())
	for i, spec := range Ratings(Options{}).Columns() {
		must.Equal(t, f.Columns[i].ColumnSpec, spec, "column", i, "declared")
		if strings.Contains(strings.ToLower(spec.Name), "worker") || strings.Contains(strings.ToLower(spec.Name),
			"hit") {
			t.Errorf("column %q", spec.Name)
		}
		if bare(spec.Name) {
			t.Errorf("column %q speaks of people without \"perceived\"", spec.Name)
		}
	}
	ids := slices.Sorted(slices.Values(f.Texts("id")))
	must.Equal(t, len(slices.Compact(ids)), len(all), "ids", f.Texts("id"))
	slices.Reverse(all)
	if !reflect.DeepEqual(Frame(all).Texts("id"), f.Texts("id")) {
		t.Errorf("the order of the rows changes the table")
	}
}

// bare says whether a name speaks of gender or skin without "perceived" before it.
func bare(name string) bool {
	return regexp.MustCompile(`(?i)gender|skin`).MatchString(name) &&
		!regexp.MustCompile(`(?i)perceived[ _]`).MatchString(name)
}

func TestNormalize(t *testing.T) {
	head := "HITId,AssignmentId,WorkerId,LifetimeApprovalRate,RequesterAnnotation,Title\n"
	out := must.Get(normalize(ratings, map[string][]byte{
		"b.csv": []byte(head + "H9,AS3,WX,97% (3/4),batch,\"a, b\"\nH9,AS4,WY,,,c\n"),
		"a.csv": []byte(head + "H1,AS1,WY,,,c\nH1,AS2,WZ,100%,,c\n"),
	}))(t)
	must.Equal(t, string(out["a.csv"]), head+"h00001,a00001,w00001,,,c\nh00001,a00002,w00002,,,c\n")
	must.Equal(t, string(out["b.csv"]), head+"h00002,a00003,w00003,,,\"a, b\"\nh00002,a00004,w00001,,,c\n", "b")
}

// TestNormalFormIsTheRecordedOne puts made-up identifiers in place of the labels and normalizes: the recorded bytes
// come back.
func TestNormalFormIsTheRecordedOne(t *testing.T) {
	dir := manifesttest.Dir(t, Name)
	m := must.Get(manifest.Get(Name))(t)
	files := map[string][]byte{}
	label := regexp.MustCompile(`\b[wah]\d{5}\b`)
	for _, path := range Files {
		data, _ := must.Get2(m.Read(os.DirFS(dir), path))(t)
		files[path] = label.ReplaceAllFunc(data, func(l []byte) []byte {
			sum := sha256.Sum256(l)
			return []byte(strings.ToUpper(hex.EncodeToString(sum[:7])))
		})
	}
	out := must.Get(normalize(ratings, files))(t)
	for _, path := range Files {
		must.Equal(t, fmt.Sprintf("%x", sha256.Sum256(out[path])), m.File(path).Normal, path, "recorded")
	}
}

func TestReleasedRatings(t *testing.T) {
	rows, report := must.Get2(Load(os.DirFS(manifesttest.Dir(t, Name))))(t)
	if len(rows) != 4833 || report.Images != 1611 || report.Uneven != 0 || len(report.Used) != 5 {
		t.Errorf("%+v", report)
	}
}

func TestPrintedTables(t *testing.T) {
	human, tables := 0, map[int]int{}
	for _, c := range PrintedTables() {
		tables[c.Table]++
		if c.Judge == "human" && c.Table != 3 {
			human++
		}
		if c.Text == "" || c.Value < 0 {
			t.Errorf("%+v", c)
		}
	}
	if human != 81 || tables[1] != 63 || tables[6] != 36 || tables[2] != 15 || tables[3] != 24 {
		t.Errorf("%d human values, %v", human, tables)
	}
}

// TestPullReleased: a source that has the normalized form is accepted as it is.
func TestPullReleased(t *testing.T) {
	source := manifesttest.Dir(t, Name)
	m := must.Get(manifest.Get(Name))(t)
	dir := t.TempDir()
	must.Do(t, pull.DataSet(context.Background(), Name,
		pull.Options{Dest: dir, BaseURL: manifesttest.Serve(t, m, source)}))
	_, report := must.Get2(Load(os.DirFS(dir)))(t)
	for i, path := range Files {
		must.Equal(t, report.Rows[i], m.File(path).Rows, path)
		must.Equal(t, report.Used[i].Form, manifest.Normalized, path)
	}
}

// TestPrintedClaims are claims of the paper's text on its own tables, as its printed numbers have them: which hold,
// and by how much.
func TestPrintedClaims(t *testing.T) {
	value := map[string]float64{}
	for _, c := range PrintedTables() {
		value[fmt.Sprint(c.Table, c.Category, c.Prompt, c.Axis, c.Judge, c.Model)] = c.Value
	}
	all := []string{MinDALLE, DALLEMini, SD}
	at := func(table int, category, prompt, axis, judge, model string) float64 {
		v, known := value[fmt.Sprint(table, category, prompt, axis, judge, model)]
		if !known {
			t.Fatalf("Table %d has no %s, %s, %s, %s, %s", table, category, prompt, axis, judge, model)
		}
		return v
	}
	// Claim 12: images lost per attribute are 0 to 1.4, but for DALL-E-mini and Stable Diffusion on professions;
	// some cells gain.
	var losses, exceptions []string
	for _, c := range []struct{ category, prompt string }{{Profession, "P-G1"}, {Profession, "P-S1"}, {Object, "O-G1"},
		{Object, "O-S1"}, {Culture, "C-1"}} {
		for _, m := range all {
			d := at(3, c.category, Original, "", "human", m) - at(3, c.category, c.prompt, "", "human", m)
			text := fmt.Sprintf("%s %.1f", m, d)
			switch {
			case c.category == Profession && m != MinDALLE:
				exceptions = append(exceptions, text)
			case d > 0:
				losses = append(losses, text)
			}
			if d > 1.41 && !(c.category == Profession && m != MinDALLE) || d < -1.35 {
				t.Errorf("%s %s: %s images lost", c.category, c.prompt, text)
			}
		}
	}
	if want := []string{"DALL-E-mini 3.0", "Stable Diffusion 5.5", "DALL-E-mini 3.5",
		"Stable Diffusion 5.0"}; !slices.Equal(exceptions, want) || len(losses) < 4 {
		t.Errorf("%v, %v", exceptions, losses)
	}
	// Claim 2: P-G1 improves labels by CLIP for all models, P-G2 not for minDALL-E. Claim 6: the axis-matched
	// sentence improves human scores but minDALL-E's on gender.
	for _, m := range all {
		before := at(1, Profession, Original, PerceivedGender, "clip", m)
		if at(1, Profession, "P-G1", PerceivedGender, "clip", m) >= before ||
			(at(1, Profession, "P-G2", PerceivedGender, "clip", m) < before) != (m != MinDALLE) {
			t.Errorf("claim 2, %s", m)
		}
		if (at(1, Profession, "P-G1", PerceivedGender, "human", m) < at(1, Profession, Original, PerceivedGender,
			"human", m)) != (m != MinDALLE) ||
			at(1, Profession, "P-S1", PerceivedSkin, "human", m) >= at(1, Profession, Original, PerceivedSkin, "human",
				m) {
			t.Errorf("claim 6, %s", m)
		}
		// Claim 9: cultural sentences diversify all; claim 10: irrelevant ones move nothing by more than 0.1.
		culture := at(2, Culture, Original, PerceivedScene, "human", m)
		for _, p := range []string{"C-1", "C-2"} {
			if at(2, Culture, p, PerceivedScene, "human", m) >= culture {
				t.Errorf("claim 9, %s %s", m, p)
			}
		}
		for _, p := range []string{"C-I1", "C-I2"} {
			if d := at(2, Culture, p, PerceivedScene, "human", m) - culture; d > 0.1001 || d < -0.1001 {
				t.Errorf("claim 10, %s %s: %g", m, p, d)
			}
		}
	}
	// CLIP gives each object one group in DALL-E-mini's images; two human values are in both Table 1 and Table 6.
	for _, p := range []string{Original, "O-G1", "O-S1", "O-I2"} {
		must.Equal(t, at(6, Object, p, PerceivedGender, "clip", DALLEMini), 1, p)
	}
	must.Equal(t, at(1, Profession, Original, PerceivedGender, "human", SD), at(6, Object, Original, PerceivedGender,
		"human", SD), "the repeated values differ")
	must.Equal(t, at(1, Profession, "P-G1", PerceivedGender, "human", SD), at(6, Object, "O-G1", PerceivedGender,
		"human", SD), "the repeated values differ")
}

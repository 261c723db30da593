package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// mutation changes one thing in a folder; it returns what, "" if it found nothing to change.
type mutation struct {
	name   string
	change func(r *rand.Rand, dir string, files map[string][]byte) string
}

// edit is a mutation that replaces one match of a pattern in the files whose names have a suffix.
func edit(name, suffix, pattern string, to func(r *rand.Rand, old string) string) mutation {
	find := regexp.MustCompile(pattern)
	return mutation{name, func(r *rand.Rand, dir string, files map[string][]byte) string {
		var in []string
		for _, file := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(file, suffix) && find.Match(files[file]) {
				in = append(in, file)
			}
		}
		file := in[r.IntN(len(in))]
		places := find.FindAllIndex(files[file], -1)
		at := places[r.IntN(len(places))]
		old := string(files[file][at[0]:at[1]])
		changed := slices.Concat(files[file][:at[0]], []byte(to(r, old)), files[file][at[1]:])
		if bytes.Equal(changed, files[file]) {
			return ""
		}
		if os.WriteFile(filepath.Join(dir, file), changed, 0o644) != nil {
			return ""
		}
		return fmt.Sprintf("%s: %s", file, old)
	}}
}

func anotherDigit(r *rand.Rand, old string) string {
	b := []byte(old)
	at := r.IntN(len(b))
	for b[at] < '0' || b[at] > '9' {
		at = r.IntN(len(b))
	}
	b[at] = '0' + (b[at]-'0'+byte(1+r.IntN(9)))%10
	return string(b)
}

func anotherHex(r *rand.Rand, old string) string {
	b := []byte(old)
	at := r.IntN(len(b))
	b[at] = "0123456789abcdef"[(strings.IndexByte("0123456789abcdef", b[at])+1+r.IntN(15))%16]
	return string(b)
}

func flipped(_ *rand.Rand, old string) string {
	return strings.NewReplacer("yes", "no", "no", "yes").Replace(old)
}

func plus(text string) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, old string) string { return old + text }
}

// oneFile is a mutation of a file as a whole.
func oneFile(name string, change func(path string, r *rand.Rand) error) mutation {
	return mutation{name, func(r *rand.Rand, dir string, files map[string][]byte) string {
		names := slices.Sorted(maps.Keys(files))
		file := names[r.IntN(len(names))]
		if change(filepath.Join(dir, file), r) != nil {
			return ""
		}
		return file
	}}
}

var mutations = []mutation{
	oneFile("a byte", func(path string, r *rand.Rand) error {
		data, err := os.ReadFile(path)
		if err == nil {
			data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
			err = os.WriteFile(path, data, 0o644)
		}
		return err
	}),
	edit("a number", ".csv", `\b\d+\.\d+`, anotherDigit),
	edit("a verdict", ".csv", `\b(yes|no)\b`, flipped),
	edit("a digest", "", `[0-9a-f]{64}`, anotherHex),
	edit("a plan's argument", ".json", `"(level|least|value|positive|seed|per_cell|path)": [^,\n]+`, plus("0")),
	edit("a plan's operation", ".json", `"(op|operation)": "\w+`, plus("x")),
	edit("a version", ".json", `(go1\.\d+|v\d+\.\d+\.\d+)`, anotherDigit),
	edit("a license", "", `CC0-1\.0`, plus("-NC")),
	edit("a count of rows", ".json", `"rows": \d+`, anotherDigit),
	oneFile("a file removed", func(path string, _ *rand.Rand) error { return os.Remove(path) }),
	oneFile("a file renamed", func(path string, _ *rand.Rand) error { return os.Rename(path, path+"2") }),
	oneFile("a file added", func(path string, r *rand.Rand) error {
		return os.WriteFile(filepath.Join(filepath.Dir(path), fmt.Sprint("more", r.IntN(100))), nil, 0o644)
	}),
	oneFile("a file cut", func(path string, r *rand.Rand) error {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, data[:r.IntN(len(data))], 0o644)
		}
		return err
	}),
	oneFile("a line doubled", func(path string, r *rand.Rand) error {
		data, err := os.ReadFile(path)
		lines := strings.SplitAfter(string(data), "\n")
		at := r.IntN(max(1, len(lines)-1))
		if err == nil {
			err = os.WriteFile(path, []byte(strings.Join(slices.Insert(lines, at, lines[at]), "")), 0o644)
		}
		return err
	}),
}

// TestMutations: 200 single changes of a record are all found, without recomputing anything.
func TestMutations(t *testing.T) {
	m := small(t)
	original := readFiles(t, m.dir)
	r := rand.New(rand.NewPCG(1, 2))
	found, tried := map[string]int{}, map[string]int{}
	for n := 0; n < 200; {
		dir := filepath.Join(t.TempDir(), "copy")
		must.Do(t, os.CopyFS(dir, os.DirFS(m.dir)))
		one := mutations[n%len(mutations)]
		what := one.change(r, dir, original)
		if what == "" {
			continue
		}
		n++
		tried[one.name]++
		rec, err := Open(dir)
		if err != nil || len(rec.Problems) > 0 {
			found[one.name]++
		} else {
			t.Errorf("%s is not found: %s", one.name, what)
		}
	}
	for _, one := range mutations {
		t.Logf("%-20s %d of %d found", one.name, found[one.name], tried[one.name])
	}
}

// seal makes a changed record fit together again: identities, digests, conclusions, metadata and manifest.
func seal(t *testing.T, rec *Record, license string) {
	t.Helper()
	w := &writer{dir: rec.Dir, results: rec.Results, files: must.Get(list(rec.Dir))(t)}
	delete(w.files, manifestFile)
	for _, res := range rec.Results {
		res.ID, res.Rows = engine.ResultID(res.Plan, res.Inputs), res.table.Len()
		res.Result = must.Get(store.FrameDigest(res.table))(t)
	}
	must.Do(t, w.writeResults())
	var c crate
	must.Do(t, json.Unmarshal(rec.data(metadataFile), &c))
	for _, e := range c.Graph {
		if name, _ := e["@id"].(string); e["@type"] == "File" {
			e["sha256"], e["contentSize"] = w.files[name].sha256, w.files[name].size
		} else if name == "#license" {
			e["name"] = license
		}
	}
	must.Do(t, w.putJSON(metadataFile, c))
	must.Do(t, w.writeManifest())
}

// TestForgeries: a change after which every digest of the record is computed again is found by recomputing, or, where
// nothing is computed from what was changed, by the record's published digest.
func TestForgeries(t *testing.T) {
	m := small(t)
	published := must.Get(Open(m.dir))(t).Digest
	r := rand.New(rand.NewPCG(3, 4))
	count := map[string]int{}
	for n := range 40 {
		dir := filepath.Join(t.TempDir(), "copy")
		must.Do(t, os.CopyFS(dir, os.DirFS(m.dir)))
		rec := must.Get(Open(dir))(t)
		what, computed := forge(r, n, rec)
		seal(t, rec, "forged")
		again := must.Get(Open(dir))(t)
		if len(again.Problems) > 0 || again.Digest == published {
			t.Fatalf("%s: the forgery does not fit together: %q", what, again.Problems)
		}
		if n >= 5 {
			again.Results = again.Results[:2] // the third takes longer to compute
		}
		different := m.recompute(t, again, m.notebook).Count[Different] > 0
		must.Equal(t, different, computed, what, "found by recomputing")
		count[fmt.Sprint(what, ", by recomputing: ", different)]++
	}
	for _, what := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%-60s %d", what, count[what])
	}
}

// forge changes a record in memory. It returns what, and whether recomputing can find it.
func forge(r *rand.Rand, n int, rec *Record) (what string, computed bool) {
	res := rec.Results[1]
	if n < 5 {
		res = rec.Results[2]
	}
	switch f := res.table; n % 5 {
	case 0:
		for {
			c := &f.Columns[r.IntN(len(f.Columns))]
			if row := r.IntN(f.Len()); c.Kind == "number" && c.Numbers[row] == c.Numbers[row] && c.Numbers[row] != 0 {
				c.Numbers[row] *= 1.0001
				return "a number, by a ten-thousandth", true
			}
		}
	case 1:
		c := f.Column("flagged")
		row := r.IntN(f.Len())
		c.Texts[row] = flipped(r, c.Texts[row])
		return "a verdict", true
	case 2:
		res.table = f.Pick(slices.Delete(seq(f.Len()), 0, 1))
		return "a row left out", true
	case 3:
		args := strings.Replace(string(res.Plan.Args), `"level":0.95`, `"level":0.9`, 1)
		res.Plan.Args = json.RawMessage(args)
		return "a plan's argument", true
	}
	return "the license", false
}

func seq(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

package archipelago_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/mask"
)

// run evaluates a table's source as the backend does.
func run(t *testing.T, table datasets.Table, home string) *datasets.Frame {
	t.Helper()
	p, err := table.Plan()
	if err != nil {
		t.Fatal(err)
	}
	f, err := datasets.FindSource(p.Op)(t.Context(), p.Args, datasets.SourceEnv{Home: home, Note: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func allTables(w datasets.World) map[string]datasets.Table {
	return map[string]datasets.Table{"concepts": w.Concepts(), "words": w.Words(), "captions": w.Captions(), "references": w.References(), "peoples": w.Peoples(), "stereotypes": w.Stereotypes(),
		"annotations": w.Annotations(), "occupations": w.Occupations(), "plants": w.AuditPlants(), "lexicon": w.Lexicon()}
}

func TestTablesHoldWhatTheyDeclare(t *testing.T) {
	home := t.TempDir()
	for _, planted := range []bool{true, false} {
		for name, table := range allTables(datasets.Archipelago(datasets.Seed(7), datasets.PerCell(1), datasets.Size(32), datasets.Planted(planted))) {
			f := run(t, table, home)
			if !slices.Equal(f.Specs(), table.Columns()) {
				t.Errorf("%s: the frame has %v, the table declares %v", name, f.Specs(), table.Columns())
			}
			if err := f.Check(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if none := f.Len() == 0; none != (name == "plants" && !planted) {
				t.Errorf("%s, planted %v: %d rows", name, planted, f.Len())
			}
			seen := map[string]bool{}
			for _, id := range f.Texts("id") {
				if id == "" || seen[id] {
					t.Errorf("%s: id %q is blank or not unique", name, id)
				}
				seen[id] = true
			}
		}
	}
}

// The axes that the constant names are the table's: each column holds both groups and nothing else.
func TestAxes(t *testing.T) {
	f := run(t, datasets.Archipelago(datasets.PerCell(2), datasets.Size(16)).Occupations(), t.TempDir())
	for _, axis := range strings.Split(datasets.ArchipelagoAxes, ", ") {
		column, groups, _ := strings.Cut(axis, "=")
		found := slices.Clone(f.Texts(column))
		slices.Sort(found)
		want := strings.Split(groups, "/")
		slices.Sort(want)
		if found = slices.Compact(found); !slices.Equal(found, want) {
			t.Errorf("column %s holds %q, the constant says %q", column, found, want)
		}
		if kind := "EI: " + strings.ReplaceAll(column, "_", " "); !slices.Contains(f.Texts("kind"), kind) {
			t.Errorf("no row is of kind %q", kind)
		}
	}
}

func TestDrawingsAreKept(t *testing.T) {
	home := t.TempDir()
	table := datasets.Archipelago(datasets.PerCell(1), datasets.Size(32)).Concepts()
	first := run(t, table, home)
	for i, im := range first.Images("image") {
		raw, err := os.ReadFile(im.Path)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != im.SHA256 {
			t.Fatalf("row %d: the digest is not that of the file", i+1)
		}
	}
	scenes := 0
	for i, m := range first.Masks("mask") {
		if first.Texts("variant")[i] == "" {
			scenes++
			if m.Counts != "" {
				t.Errorf("row %d shows no object but has a mask", i+1)
			}
			continue
		}
		if _, err := mask.Decode(m); err != nil || m.Counts == "" {
			t.Errorf("row %d: %v", i+1, err)
		}
	}
	if scenes == 0 {
		t.Error("no picture shows a scene alone")
	}
	gone, kept := first.Images("image")[3].Path, first.Images("image")[4].Path
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("kept as it is"), 0o644); err != nil {
		t.Fatal(err)
	}
	again := run(t, table, home)
	if !slices.Equal(first.Images("image"), again.Images("image")) || !slices.Equal(first.Masks("mask"), again.Masks("mask")) {
		t.Error("the table differs when it is read again")
	}
	if f, err := os.Open(gone); err != nil {
		t.Error("a picture that was removed was not drawn again")
	} else if _, err := png.Decode(f); err != nil {
		t.Error(err)
	}
	if raw, _ := os.ReadFile(kept); string(raw) != "kept as it is" {
		t.Error("a picture that was there was drawn again")
	}
	if left, _ := filepath.Glob(filepath.Join(home, "blobs", "*", ".tmp-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSourceErrors(t *testing.T) {
	source := datasets.FindSource("archipelago-audits")
	for _, args := range []string{`{"set":"nothing"}`, `{"set":3}`} {
		if _, err := source(t.Context(), json.RawMessage(args), datasets.SourceEnv{Home: t.TempDir()}); err == nil {
			t.Errorf("%s is no error", args)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source(ctx, json.RawMessage(`{"set":"concepts"}`), datasets.SourceEnv{Home: t.TempDir()}); err == nil {
		t.Error("a cancelled run gave a table")
	}
	notADir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notADir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := source(t.Context(), json.RawMessage(`{"set":"occupations","per_cell":1,"size":16}`), datasets.SourceEnv{Home: notADir}); err == nil {
		t.Error("a store that cannot be written gave a table")
	}
	if bad := datasets.Archipelago(datasets.PerCell(0)).Concepts(); bad.Err() == nil {
		t.Error("PerCell(0) is no error")
	}
}

// In the column traits the people that carries the plant has the largest pull to its stereotypes: mean cosine of default and stereotypical pictures, less that of default and
// other pictures.
func TestTraitsShowThePull(t *testing.T) {
	for seed := range 4 {
		w := datasets.Archipelago(datasets.Seed(seed), datasets.Size(16))
		plants, f := run(t, w.AuditPlants(), ""), run(t, w.Peoples(), t.TempDir())
		carrier := plants.Texts("carrier")[slices.Index(plants.Texts("audit"), "visage")]
		rows := map[[2]string][][]float32{}
		for i, people := range f.Texts("identity") {
			key := [2]string{people, f.Texts("set")[i]}
			rows[key] = append(rows[key], f.Vectors("traits")[i])
		}
		mean := func(people, other string) (sum float64) {
			for _, x := range rows[[2]string{people, "d"}] {
				for _, y := range rows[[2]string{people, other}] {
					xy, xx, yy := 0.0, 0.0, 0.0
					for k := range x {
						xy, xx, yy = xy+float64(x[k]*y[k]), xx+float64(x[k]*x[k]), yy+float64(y[k]*y[k])
					}
					sum += xy / math.Sqrt(xx*yy)
				}
			}
			return sum / float64(len(rows[[2]string{people, "d"}])*len(rows[[2]string{people, other}]))
		}
		pull := func(people string) float64 { return mean(people, "s") - mean(people, "ns") }
		for _, people := range archipelago.PeopleNames() {
			if people != carrier && pull(people) >= pull(carrier) || people == carrier && pull(people) < 0.1 {
				t.Errorf("seed %d: %s is pulled by %.3f, the carrier %s by %.3f", seed, people, pull(people), carrier, pull(carrier))
			}
		}
	}
}

package visage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/manifest/pull"
	"antipode/datasets/operation"
	"antipode/datasets/seegull"
	"antipode/internal/must"
)

func sha(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

func TestReleasedAnnotations(t *testing.T) {
	rows, report := must.Get2(loadAnnotations(os.DirFS(manifesttest.Dir(t, Name)), WorkbookOnly))(t)
	if len(rows) != 120170 || report.Dropped != 2505 || !report.Withdrawn ||
		!strings.Contains(report.Remark(), "withdrew") {
		t.Errorf("%+v", report)
	}
	batches, boxes := map[string]int{}, 0
	for _, r := range rows {
		batches[r.Batch]++
		if r.Box != (Box{}) {
			boxes++
		}
	}
	if batches["visual_annotation_full_set"] != 89170 || batches["visual_annotation"] != 31000 || boxes != 7580 {
		t.Errorf("batches %v, %d boxes", batches, boxes)
	}
	t.Log(report.Remark())
}

// TestTablesMask: no identity is next to an attribute that may not be shown, unless ShowOffensive is set; labels keep
// attributes apart.
func TestTablesMask(t *testing.T) {
	manifesttest.Dir(t, Name)
	for _, op := range []string{"visage-annotations", "visage-pairs"} {
		load := func(o Options) *datasets.Frame {
			args := must.Get(json.Marshal(o))(t)
			return must.Get(operation.EvaluatorOf(op)(t.Context(), datasets.Call{Home: t.TempDir()}, args, nil))(t)
		}
		masked, shown := load(Options{}), load(Options{ShowOffensive: true})
		label, back := map[[2]string]string{}, map[[2]string]string{}
		hidden := 0
		for i, identity := range shown.Texts("identity") {
			attribute, text := shown.Texts("attribute")[i], masked.Texts("attribute")[i]
			visible := attribute == NoneOfTheAbove || seegull.Shown(shown.Numbers("offensiveness")[i])
			if visible != (text == attribute) {
				t.Fatalf("%s row %d: offensiveness %g is shown as %q", op, i, shown.Numbers("offensiveness")[i], text)
			}
			if !visible {
				hidden++
			}
			a, b := [2]string{identity, attribute}, [2]string{identity, text}
			if label[a] == "" {
				label[a] = text
			}
			if back[b] == "" {
				back[b] = attribute
			}
			if label[a] != text || back[b] != attribute {
				t.Fatalf("%s row %d: labels do not keep the attributes of %s apart", op, i, identity)
			}
		}
		if hidden == 0 || hidden == masked.Len() {
			t.Errorf("%s: %d of %d rows masked", op, hidden, masked.Len())
		}
		table, known := manifest.Table(op)
		if !known {
			t.Errorf("%s cannot be named in a command", op)
		}
		for i, spec := range table.Columns() {
			must.Equal(t, masked.Columns[i].ColumnSpec, spec, op, "column", i)
		}
	}
}

// TestPullReleased: upstream's workbooks are stored as CSV; the withdrawn one only when its set is requested. The
// current annotations are not on this machine, so the local server lacks them, and the pull says so.
func TestPullReleased(t *testing.T) {
	source := manifesttest.Dir(t, Name)
	m := must.Get(manifest.Get(Name))(t)
	dir := t.TempDir()
	err := pull.DataSet(context.Background(), Name,
		pull.Options{Dest: dir, BaseURL: manifesttest.Serve(t, m, source), All: true})
	if _, here := os.Stat(filepath.Join(source, currentFile)); here != nil &&
		(err == nil || !strings.Contains(err.Error(), currentFile) || !strings.Contains(err.Error(), "404")) {
		t.Errorf("%v does not say that %s is missing", err, currentFile)
	}
	for _, path := range []string{ratingsFile, workbookFile} {
		got, err := os.ReadFile(filepath.Join(dir, path))
		if want := m.File(path).Normal; err != nil || hex.EncodeToString(sha(got)) != want {
			t.Errorf("%s: %x, recorded %s (%v)", path, sha(got), want, err)
		}
	}
	if _, report, err := loadRatings(os.DirFS(dir)); err != nil || report.Used.Form != manifest.Normalized ||
		report.Rows != m.File(ratingsFile).Rows {
		t.Errorf("%+v, %v", report, err)
	}
	if _, report, err := loadAnnotations(os.DirFS(dir), WorkbookOnly); err != nil ||
		report.Rows+report.Dropped != m.File(workbookFile).Rows {
		t.Errorf("%+v, %v", report, err)
	}
}

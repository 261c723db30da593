package store

import (
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// TestMergeConflicts: items that differ beyond rounding are never mixed in one context. Strict changes nothing; else
// the store keeps its own context whole, and without one the context of one source.
func TestMergeConflicts(t *testing.T) {
	source := func(contexts map[string]string) *Store {
		s := openWorker(t, t.TempDir(), WorkerOptions{Origin: Origin{Build: "b", Job: "j", Shard: "1"}})
		for context, payload := range contexts {
			it := must.Get(s.Items("embed-v1", context))(t)
			must.Do(t, it.Put([]Key{KeyOf("both"), KeyOf("only " + payload)}, [][]byte{[]byte(payload),
				[]byte(payload)}))
		}
		must.Do(t, s.Commit())
		return s
	}
	apart := func(_ []table.ColumnSpec, a, b []byte) (float64, bool) { return 0.5, false }
	one, two := source(map[string]string{"abc": "1", "def": "same"}), source(map[string]string{"abc": "2",
		"def": "same"})
	for _, sources := range [][]*Store{{one, two}, {two, one}} {
		for own, of := range map[string]*Store{"own": one, "none": nil} {
			s := openStore(t)
			if of != nil {
				mergeInto(t, s, MergeOptions{Difference: apart}, of)
			}
			before := snapshot(t, s)
			folders := []string{sources[0].dir, sources[1].dir}
			must.Fail(s.Merge(t.Context(), folders, MergeOptions{Difference: apart, Strict: true}))(t,
				"nothing was merged: 1 items of the same inputs differ", "1 in items/embed-v1/abc of ") // strict
			same(t, "strict", snapshot(t, s), before)
			report := mergeInto(t, s, MergeOptions{Difference: apart}, sources...)
			if report.Within() || report.Beyond != 1 || len(report.Left) != 1 ||
				!strings.Contains(report.Warning(), "was left in its store") || strings.Contains(report.Warning(),
				"device") {
				t.Errorf("%s: %+v", own, report)
			}
			items := must.Get(s.Items("embed-v1", "abc"))(t)
			got := items.GetAll([]Key{KeyOf("both"), KeyOf("only 1"), KeyOf("only 2")})
			if whole := got[1] != nil && got[2] == nil && string(got[0]) == "1" ||
				got[1] == nil && got[2] != nil && string(got[0]) == "2"; !whole || of != nil && got[1] == nil {
				t.Errorf("%s: %q", own, got)
			}
			must.Equal(t, count(must.Get(s.Items("embed-v1", "def"))(t)), 2, own, "items that agree")
		}
	}

	// Three stores that differ in two contexts, twice, and with their removal: what was left stays where it is.
	s, three := openStore(t), source(map[string]string{"abc": "3", "def": "other"})
	first := mergeInto(t, s, MergeOptions{Difference: apart}, one, two, three)
	after := snapshot(t, s)
	again := mergeInto(t, s, MergeOptions{Difference: apart}, three, two, one)
	must.True(t, len(first.Left) >= 3 && len(again.Left) == len(first.Left) && first.Packs == 2 && again.Packs == 0,
		"%+v, again %+v", first, again)
	same(t, "again", snapshot(t, s), after)
	for _, of := range []*Store{one, two, three} {
		must.Do(t, of.Close())
	}
	mergeInto(t, s, MergeOptions{Difference: apart, Remove: true}, one, two, three)
	same(t, "removed", snapshot(t, s), after)
	left := 0
	for _, of := range []*Store{s, one, two, three} {
		packs := must.Get(filepath.Glob(filepath.Join(of.dir, "items/embed-v1/*/*"+packSuffix)))(t)
		left += len(packs)
	}
	must.Equal(t, left, 2+len(first.Left), "packs, and", len(first.Left), "contexts were left")
}

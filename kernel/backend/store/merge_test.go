package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// textDifference is a [Difference] of payloads that differ by rounding.
func textDifference(_ []table.ColumnSpec, a, b []byte) (float64, bool) { return Tolerance / 2, false }

func mergeInto(t *testing.T, s *Store, o MergeOptions, sources ...*Store) *MergeReport {
	t.Helper()
	var folders []string
	for _, source := range sources {
		folders = append(folders, source.dir)
	}
	if o.Difference == nil {
		o.Difference = textDifference
	}
	return must.Get(s.Merge(t.Context(), folders, o))(t)
}

// snapshot returns the digests of a store's files, without its lock and index of files.
func snapshot(t *testing.T, s *Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains([]string{lockFile, indexFile}, d.Name()) ||
			strings.HasPrefix(d.Name(), ".tmp") {
			return err
		}
		rel, _ := filepath.Rel(s.dir, path)
		out[rel], err = HashFile(path)
		return err
	}))
	return out
}

// same reports the first file that differs between two stores.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, digest := range want {
		if got[name] != digest {
			t.Fatalf("%s: %s is %.8s, want %.8s", what, name, got[name], digest)
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Fatalf("%s: %s is one more", what, name)
		}
	}
}

// variant is the payload of an item: equal in most stores, but not in all.
func variant(store, i int) []byte {
	if i%7 == 0 {
		return fmt.Appendf(nil, "item %d of store %d", i, store%2)
	}
	return fmt.Appendf(nil, "item %d", i)
}

// randomStores returns stores that share some of their items, images, results and job states.
func randomStores(t *testing.T, r *rand.Rand, n int) (stores []*Store) {
	for at := range n {
		s := openWorker(t, t.TempDir(), WorkerOptions{Origin: Origin{Build: "b", Job: "j", Shard: fmt.Sprint(at)}})
		for _, c := range []string{"abc", "def"} {
			it := must.Get(s.Items("embed-v1", c))(t)
			for range 3 {
				var keys []Key
				var payloads [][]byte
				for range 20 {
					i := r.IntN(100)
					keys, payloads = append(keys, KeyOf(fmt.Sprint(i))), append(payloads, variant(at, i))
				}
				must.Do(t, it.Put(keys, payloads))
				must.Do(t, s.Commit())
			}
		}
		for range 5 {
			must.Get(s.PutBlob(fmt.Appendf(nil, "image %d", r.IntN(10)), ".png"))(t)
		}
		for range 3 {
			putResult(t, s, r.IntN(6), at)
		}
		state := fmt.Sprintf(`{"state":"done","updated":"2026-11-24T18:%02d:00Z","shard":%d}`, at/2, at)
		must.Do(t, WriteFile(filepath.Join(s.dir, "jobs", "9f31", "shard-00001.json"), []byte(state)))
		stores = append(stores, s)
	}
	return stores
}

func putResult(t *testing.T, s *Store, i, variant int) {
	t.Helper()
	f := &table.Frame{Columns: []table.Column{table.NumberColumn("v", []float64{float64(variant % 2)})}}
	digest := must.Get(FrameDigest(f))(t)
	rec := &Record{ID: fmt.Sprintf("%064d", i), Result: digest, Plan: &table.Plan{Op: "score"}, Rows: 1,
		Finished: time.Unix(int64(variant), 0).UTC()}
	must.Do(t, s.PutResult(f, rec))
}

// TestMergeProperties merges stores in random orders and groups, and twice: each result is the same to the byte, has
// every item, and of the payloads of a key the one with the smaller checksum.
func TestMergeProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	stores := randomStores(t, r, 4)
	all := openStore(t)
	first := mergeInto(t, all, MergeOptions{}, stores...)
	want := snapshot(t, all)
	if first.Packs == 0 || first.Images == 0 || first.Results == 0 || first.Twice == 0 || first.Differ == 0 ||
		first.Others != 0 || !first.Within() || len(first.Damaged) > 0 {
		t.Errorf("%+v", first)
	}
	again := mergeInto(t, all, MergeOptions{}, stores...)
	same(t, "twice", snapshot(t, all), want)
	if again.Packs+again.Images+again.Results+again.Items != 0 || again.Twice != first.Twice ||
		again.Differ != first.Differ || again.Found < first.Found+first.Packs {
		t.Errorf("twice: %+v, at first %+v", again, first)
	}
	for round := range 2 {
		order := slices.Clone(stores)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		s := openStore(t)
		if round%2 == 0 { // one after another
			for _, one := range order {
				mergeInto(t, s, MergeOptions{}, one)
			}
		} else { // in groups
			left, right := openStore(t), openStore(t)
			mergeInto(t, left, MergeOptions{}, order[:2]...)
			mergeInto(t, right, MergeOptions{}, order[2:]...)
			mergeInto(t, s, MergeOptions{}, right, left)
		}
		same(t, "another order", snapshot(t, s), want)
	}
	checkItems(t, all, stores)
	// an empty folder
	must.Fail(openStore(t).Merge(t.Context(), []string{all.dir, t.TempDir()}, MergeOptions{}))(t, "is no store")
	must.Fail(all.Merge(t.Context(), []string{all.dir}, MergeOptions{}))(t) // a store was merged into itself
}

// checkItems compares the items of a store with those of others.
func checkItems(t *testing.T, s *Store, stores []*Store) {
	t.Helper()
	for _, c := range []string{"abc", "def"} {
		want := map[Key][]byte{}
		for _, one := range stores {
			it := must.Get(open(t, one.dir).Items("embed-v1", c))(t)
			keys := slices.Collect(maps.Keys(it.(*packs).where))
			for i, p := range it.GetAll(keys) {
				if old := want[keys[i]]; old == nil || recordSum(keys[i], p) < recordSum(keys[i], old) {
					want[keys[i]] = p
				}
			}
		}
		it := must.Get(open(t, s.dir).Items("embed-v1", c))(t)
		for k, p := range want {
			got := it.GetAll([]Key{k})[0]
			must.True(t, bytes.Equal(got, p), "%s: an item is %q, want %q", c, got, p)
		}
		must.True(t, count(it) == len(want) && it.Damage() <= 0, "%s: %d items, want %d", c, count(it), len(want))
	}
}

// TestMergeDamaged: damaged files are left out and named, and what the store itself has damaged is replaced.
func TestMergeDamaged(t *testing.T) {
	stores := randomStores(t, rand.New(rand.NewPCG(3, 4)), 1)
	source := stores[0]
	s := openStore(t)
	mergeInto(t, s, MergeOptions{}, source)
	want := snapshot(t, s)
	flip := func(dir string, names []string) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			data, err := os.ReadFile(path)
			if err == nil {
				data[len(data)/2] ^= 1
				err = os.WriteFile(path, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var files []string // one of each kind
	for _, pattern := range []string{"blobs/*/*", "items/*/*/*.pack", "results/*.json", "results/*.frame"} {
		names, err := filepath.Glob(filepath.Join(source.dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		name := names[0]
		if strings.HasSuffix(name, ".frame") {
			name = names[len(names)-1] // of another result
		}
		rel, _ := filepath.Rel(source.dir, name)
		files = append(files, rel)
	}
	flip(s.dir, files)
	mergeInto(t, s, MergeOptions{}, source)
	same(t, "damaged in the store", snapshot(t, s), want)
	flip(source.dir, files)
	other := openStore(t)
	report := mergeInto(t, other, MergeOptions{}, source)
	must.Equal(t, len(report.Damaged), len(files), "damaged files", files)
	got := snapshot(t, other)
	for _, name := range files {
		must.True(t, got[name] == "" || strings.HasSuffix(name, ".json"), "%s was copied", name)
		delete(want, name)
		if id, isResult := strings.CutSuffix(name, ".frame"); isResult {
			delete(want, id+".json")
		} else if id, isResult := strings.CutSuffix(name, ".json"); isResult {
			delete(want, id+".frame")
		}
	}
	same(t, "damaged in the source", got, want)
}

// mergeVar tells the test program to merge: the store and the sources, separated by newlines.
const mergeVar = "ANTIPODE_TEST_MERGE"

// TestMain merges in a process of its own, which [TestMergeKilled] kills.
func TestMain(m *testing.M) {
	if args := os.Getenv(mergeVar); args != "" {
		folders := strings.Split(args, "\n")
		s, err := Open(folders[0])
		if err == nil {
			_, err = s.Merge(context.Background(), folders[1:], MergeOptions{Difference: textDifference, Remove: true})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestMergeKilled kills merges with kill -9 at random moments, also while they remove the sources; then one that ends
// has the content of an undisturbed one.
func TestMergeKilled(t *testing.T) {
	stores := randomStores(t, rand.New(rand.NewPCG(5, 6)), 3)
	undisturbed := openStore(t)
	mergeInto(t, undisturbed, MergeOptions{}, stores...)
	want := snapshot(t, undisturbed)
	var folders []string
	for _, s := range stores {
		must.Do(t, s.Close())
		folders = append(folders, s.dir)
	}
	target := t.TempDir()
	killed := 0
	for delay := time.Millisecond; ; delay += time.Millisecond {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), mergeVar+"="+strings.Join(append([]string{target}, folders...), "\n"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		must.Do(t, cmd.Start())
		timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if !timer.Stop() {
			killed++
		} else if err != nil {
			t.Fatalf("%v: %s", err, stderr.Bytes())
		} else {
			break
		}
		folders = slices.DeleteFunc(folders, func(dir string) bool { // removed as a whole before the kill
			_, err := os.Stat(dir)
			return err != nil
		})
		if len(folders) == 0 {
			break
		}
	}
	same(t, fmt.Sprintf("after %d kills", killed), snapshot(t, open(t, target)), want)
	for _, dir := range folders {
		if _, err := os.Stat(dir); err == nil {
			var left []string
			_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
				left = append(left, path)
				return err
			})
			t.Errorf("it stays: %q", left)
		}
	}
	must.True(t, killed >= 3, "%d merges were killed", killed)
}

// TestMergeRemovesRest: of a result that lost to another of its name, a merge that was killed may have removed only
// the table; the next removes the rest.
func TestMergeRemovesRest(t *testing.T) {
	a, b := openStore(t), openStore(t)
	putResult(t, a, 1, 0)
	putResult(t, b, 1, 1)
	records := [2][]string{}
	for i, s := range []*Store{a, b} {
		records[i] = must.Get(filepath.Glob(filepath.Join(s.dir, "results", "*.json")))(t)
	}
	if bytes.Compare(must.Get(os.ReadFile(records[0][0]))(t), must.Get(os.ReadFile(records[1][0]))(t)) > 0 {
		a, b, records[1] = b, a, records[0]
	}
	must.Do(t, os.Remove(strings.TrimSuffix(records[1][0], ".json")+".frame"))
	must.Do(t, b.Close())
	mergeInto(t, a, MergeOptions{Remove: true}, b)
	must.Fail(os.Stat(b.dir))(t) // the rest stays
}

// TestMergeRemoves removes what was merged, not what was damaged or is in use, nor other files of the folder.
func TestMergeRemoves(t *testing.T) {
	stores := randomStores(t, rand.New(rand.NewPCG(7, 8)), 2)
	packs, err := filepath.Glob(filepath.Join(stores[0].dir, "items", "*", "*", "*.pack"))
	if err != nil || os.Truncate(packs[0], 50) != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(stores[0].dir, "notes.txt")
	must.Do(t, os.WriteFile(foreign, nil, 0o600))
	s := openStore(t)
	must.Do(t, stores[1].Close())
	folders := []string{stores[1].dir, stores[0].dir}
	_, err = s.Merge(t.Context(), folders, MergeOptions{Difference: textDifference, Remove: true})
	must.Err(t, err, "in use")
	if _, err := os.Stat(stores[1].dir); err != nil {
		t.Errorf("a merge that failed cannot be run again: %v", err)
	}
	must.Do(t, stores[0].Close())
	mergeInto(t, s, MergeOptions{Remove: true}, stores...)
	left := snapshot(t, stores[0])
	rel, _ := filepath.Rel(stores[0].dir, packs[0])
	must.True(t, len(left) == 2 && left[rel] != "" && left["notes.txt"] != "", "%v stay", left)
	must.Fail(os.Stat(stores[1].dir))(t) // an empty store stays
}

// TestMergeFinds: an open store finds the items that are merged into it.
func TestMergeFinds(t *testing.T) {
	s, source := openStore(t), openStore(t)
	it := itemsOf(t, s)
	keys := put(t, itemsOf(t, source), 0, 3, 3, 2)
	if got := it.GetAll(keys); got[0] != nil {
		t.Fatal(got)
	}
	mergeInto(t, open(t, s.dir), MergeOptions{}, source)
	for i, p := range it.GetAll(keys) {
		must.Equal(t, len(p), 2, "item", i)
	}
}

// TestPackNames: a pack's name depends on its items alone, not on their order or origin.
func TestPackNames(t *testing.T) {
	keys := []Key{KeyOf("a"), KeyOf("b"), KeyOf("c")}
	names := map[string]bool{}
	for i, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
		s := openStore(t)
		s.SetOrigin(Origin{Build: fmt.Sprint(i)})
		var k []Key
		var p [][]byte
		for _, at := range order {
			k, p = append(k, keys[at]), append(p, keys[at][:3])
		}
		must.Do(t, itemsOf(t, s).Put(k, p))
		names[filepath.Base(packsOf(t, s)[0])] = true
	}
	var all []byte
	slices.SortFunc(keys, func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
	for _, k := range keys {
		sum := recordSum(k, k[:3])
		all = append(append(all, k[:]...), byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	}
	sum := sha256.Sum256(all)
	if want := hex.EncodeToString(sum[:12]) + ".pack"; len(names) != 1 || !names[want] {
		text, _ := json.Marshal(names)
		t.Errorf("%s, want %s", text, want)
	}
}

package modeltest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// Model is what [Suite] tests of the package of a network.
type Model struct {
	// Folder is the folder below testdata that is damaged, and Copy what copies one; nil = [CopyOf].
	Folder string
	Copy   func(t testing.TB, folder string) string
	// Open opens a folder as users do; nil = no folder is damaged.
	Open func(dir string) error

	// Refuses has a line for each damaged folder that is refused: DAMAGE => ERROR. The error is one line that contains
	// the text, or several with && between them, and the folder. A line @NAME changes the folder of the lines below it.
	// A damage, or several with && between them, is
	//
	//	KEY=JSON       a key of config.json, an inner one as outer/inner; null removes an outer one
	//	FILE:KEY=JSON  a key of another JSON file
	//	FILE<TEXT      the contents of a file
	//	rm FILE        a file or folder is missing
	//	drop NAME      the tensor (FILE:NAME: of a file) is missing, or all with it in their names (^: at the start)
	//	add NAME       one tensor more, of shape [1]
	Refuses string
	// Opens has a damage on each line with which the folder opens.
	Opens string
	// Others are damages of other kinds, by the error.
	Others map[string]func(t testing.TB, dir string)

	// Torch are folders that must open with weights as torch.save writes them too, and the names of tensors that such a
	// file has twice. SameTorch compares what they compute.
	Torch     map[string]map[string]string
	SameTorch func(t *testing.T, folder, torch string)

	// Reference compares a golden folder, by its name in Goldens, with the reference library.
	Goldens   []string
	Reference func(t *testing.T, backend compute.Backend, golden string)

	// Optimized compares one model as users run it, compiled with full optimization; other tests compile quickly. It
	// runs with the build tag xla.
	Optimized func(t *testing.T, xla compute.Backend)
}

// Suite tests what the packages of networks have in common.
func Suite(t *testing.T, m Model) {
	if m.Copy == nil {
		m.Copy = CopyOf
	}
	if m.Open != nil {
		m.folders(t)
	}
	t.Run("Torch", func(t *testing.T) {
		for name, ties := range m.Torch {
			dir := m.Copy(t, name)
			Torch(t, dir, ties)
			m.SameTorch(t, name, dir)
		}
	})
	t.Run("Reference", func(t *testing.T) { testbackend.Each(t, m.Goldens, m.Reference) })
	t.Run("Optimized", func(t *testing.T) {
		if m.Optimized == nil {
			t.Skip("missing: Optimized, which another suite of the package has")
		}
		testbackend.Optimized(t, func(xla compute.Backend) { m.Optimized(t, xla) })
	})
}

// folders opens damaged folders.
func (m Model) folders(t *testing.T) {
	t.Run("Refuses", func(t *testing.T) {
		m.Each(t, m.Refuses, func(t *testing.T, dir, want string) { m.refused(t, dir, want) })
		for want, damage := range m.Others {
			dir := m.Copy(t, m.Folder)
			damage(t, dir)
			m.refused(t, dir, want)
		}
		m.refused(t, t.TempDir(), ".json")
	})
	t.Run("Opens", func(t *testing.T) {
		m.Each(t, "rm "+File+"\n"+m.Opens, func(t *testing.T, dir, _ string) {
			if err := m.Open(dir); err != nil {
				t.Error(err)
			}
		})
	})
}

// Each runs a check of the damaged folder of each line.
func (m Model) Each(t *testing.T, text string, check func(t *testing.T, dir, want string)) {
	folder := m.Folder
	if m.Copy == nil {
		m.Copy = CopyOf
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, is := strings.CutPrefix(line, "@"); is {
			folder = name
		} else if line != "" {
			damage, want, _ := strings.Cut(line, " => ")
			dir := m.Copy(t, folder)
			os.Remove(filepath.Join(dir, File))
			for one := range strings.SplitSeq(damage, " && ") {
				Damage(t, dir, one)
			}
			t.Run(damage, func(t *testing.T) { check(t, dir, want) })
		}
	}
}

// refused wants Open's error in one line, with a text and the folder.
func (m Model) refused(t *testing.T, dir, want string) {
	t.Helper()
	err := m.Open(dir)
	must.Fail(err)(t, strings.Split(want, " && ")...)
	if err != nil && !strings.Contains(err.Error(), dir) {
		t.Errorf("%v: without the folder", err)
	}
}

// Damage damages a folder; see [Model].
func Damage(t testing.TB, dir, damage string) {
	t.Helper()
	if name, is := strings.CutPrefix(damage, "rm "); is {
		os.RemoveAll(filepath.Join(dir, name))
		return
	}
	if name, is := strings.CutPrefix(damage, "add "); is {
		rewrite(t, dir, name, func(list []weights.Tensor, name string) []weights.Tensor {
			return append(list, weights.Tensor{Name: name, Shape: []int{1}, Data: []float32{1}})
		})
		return
	}
	if name, is := strings.CutPrefix(damage, "drop "); is {
		rewrite(t, dir, name, func(list []weights.Tensor, name string) []weights.Tensor {
			start, isStart := strings.CutPrefix(name, "^")
			exact := slices.ContainsFunc(list, func(w weights.Tensor) bool { return w.Name == name })
			n := len(list)
			list = slices.DeleteFunc(list, func(w weights.Tensor) bool {
				return w.Name == name || isStart && strings.HasPrefix(w.Name, start) ||
					!exact && !isStart && strings.Contains(w.Name, name)
			})
			if len(list) == n {
				t.Fatalf("no tensor %s", name)
			}
			return list
		})
		return
	}
	key, value, edits := strings.Cut(damage, "=")
	if file, text, is := strings.Cut(damage, "<"); is && (!edits || len(file) < len(key)) {
		Write(t, filepath.Join(dir, file), text)
		return
	}
	file, path, other := strings.Cut(key, ":")
	if !other {
		file, path = "config.json", key
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatalf("%s: %v", damage, err)
	}
	set(t, filepath.Join(dir, file), strings.Split(path, "/"), v)
}

// rewrite changes the tensors of a folder's weights, or of those of FILE in FILE:NAME.
func rewrite(t testing.TB, dir, name string, change func(list []weights.Tensor, name string) []weights.Tensor) {
	t.Helper()
	file, tensor, is := strings.Cut(name, ":")
	if !is {
		Save(t, dir, change(Tensors(t, dir), name))
		return
	}
	path := filepath.Join(dir, file)
	set := must.Get(weights.OpenFiles(path))(t)
	must.Do(t, weights.Save(path, change(tensorsOf(t, set), tensor), nil, weights.F32))
}

// set sets a key of a JSON file, below others.
func set(t testing.TB, path string, keys []string, v any) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	var whole map[string]any
	must.Do(t, json.Unmarshal(text, &whole))
	m, last := whole, len(keys)-1
	for _, k := range keys[:last] {
		inner, is := m[k].(map[string]any)
		if !is {
			inner = map[string]any{}
			m[k] = inner
		}
		m = inner
	}
	if m[keys[last]] = v; v == nil && last == 0 {
		delete(m, keys[last])
	}
	text, _ = json.Marshal(whole)
	Write(t, path, string(text))
}

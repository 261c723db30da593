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
	"antipode/internal/testbackend"
)

// Model is what [Suite] tests of the package of a network.
type Model struct {
	// Folder is the folder below testdata that is damaged, and Copy what copies one; nil = [CopyOf].
	Folder string
	Copy   func(t testing.TB, folder string) string
	// Open opens a folder as users do; nil = no folder is damaged.
	Open func(dir string) error

	// Refuses has a line for each damaged folder that is refused: DAMAGE => ERROR. The error is one line that contains
	// the text and names the folder. A line @NAME changes the folder of the lines below it; a line # is a comment. A
	// damage is
	//
	//	KEY=JSON       a key of config.json, an inner one as outer/inner; null removes an outer one; several with && between them
	//	FILE:KEY=JSON  a key of another JSON file
	//	FILE<TEXT      the contents of a file
	//	rm FILE
	//	drop NAME      the tensor of that name, or all whose names contain it, after ^ those that start with it
	//	add NAME       one more tensor, of shape [1]
	Refuses string
	// Opens has a damage on each line with which the folder opens.
	Opens string
	// Others are damages of other kinds, by the error.
	Others map[string]func(t testing.TB, dir string)

	// Torch are folders that must open with weights as torch.save writes them too, and the names of tensors that such a
	// file has twice. SameTorch compares what they compute.
	Torch     map[string]map[string]string
	SameTorch func(t *testing.T, folder, torch string)

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
	t.Run("Optimized", func(t *testing.T) {
		if m.Optimized == nil || !xlaTag {
			t.Skip("not with the build tag xla")
		}
		testbackend.Optimized(t, func(xla compute.Backend) { m.Optimized(t, xla) })
	})
}

// folders opens damaged folders.
func (m Model) folders(t *testing.T) {
	t.Run("Refuses", func(t *testing.T) {
		m.lines(t, m.Refuses, func(t *testing.T, dir, want string) { m.refused(t, dir, want) })
		for want, damage := range m.Others {
			dir := m.Copy(t, m.Folder)
			damage(t, dir)
			m.refused(t, dir, want)
		}
		m.refused(t, t.TempDir(), "config.json")
	})
	t.Run("Opens", func(t *testing.T) {
		m.lines(t, "rm "+File+"\n"+m.Opens, func(t *testing.T, dir, _ string) {
			if err := m.Open(dir); err != nil {
				t.Error(err)
			}
		})
	})
}

// lines runs a check of the damaged folder of each line.
func (m Model) lines(t *testing.T, text string, check func(t *testing.T, dir, want string)) {
	folder := m.Folder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, is := strings.CutPrefix(line, "@"); is {
			folder = name
		} else if line != "" && line[0] != '#' {
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
	CheckLine(t, err, want)
	if err != nil && !strings.Contains(err.Error(), dir) && !strings.HasPrefix(err.Error(), "model folder") {
		t.Errorf("%v: without the folder", err)
	}
}

// Damage damages a folder; see [Model].
func Damage(t testing.TB, dir, damage string) {
	t.Helper()
	if name, is := strings.CutPrefix(damage, "rm "); is {
		os.Remove(filepath.Join(dir, name))
		return
	}
	if name, is := strings.CutPrefix(damage, "add "); is {
		sub, name := split(name)
		one := weights.Tensor{Name: name, Shape: []int{1}, Data: []float32{1}}
		Save(t, filepath.Join(dir, sub), append(Tensors(t, filepath.Join(dir, sub)), one))
		return
	}
	if name, is := strings.CutPrefix(damage, "drop "); is {
		sub, name := split(name)
		list := Tensors(t, filepath.Join(dir, sub))
		n := len(list)
		exact := slices.ContainsFunc(list, func(w weights.Tensor) bool { return w.Name == name })
		list = slices.DeleteFunc(list, func(w weights.Tensor) bool {
			start, isStart := strings.CutPrefix(name, "^")
			return w.Name == name || isStart && strings.HasPrefix(w.Name, start) ||
				!exact && !isStart && strings.Contains(w.Name, name)
		})
		if len(list) == n {
			t.Fatalf("no tensor %s", name)
		}
		Save(t, filepath.Join(dir, sub), list)
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

// split returns the subfolder of a tensor's name, SUBFOLDER/NAME, and the name.
func split(name string) (sub, tensor string) {
	sub, tensor, is := strings.Cut(name, "/")
	if !is {
		return "", name
	}
	return sub, tensor
}

// set sets a key of a JSON file, below others.
func set(t testing.TB, path string, keys []string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
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

package execmodel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"antipode/gomlxmodels/preprocess"
)

// extensions are those of the files that a task's program writes.
var extensions = map[string]string{Generate: ".png", Embed: ".f32"}

// open reads and checks the answer's file in the scratch folder. An error says, for the user, why it cannot be used.
func (a *Answer) open(root *os.Root, task string, item *Item) (err error) {
	if extensions[task] == "" {
		return nil
	}
	if a.Data, err = readFile(root, a.File); err != nil {
		return fmt.Errorf("the program's file %q cannot be used: %w", clip(a.File, 200), err)
	}
	if task == Embed {
		err = a.vectorFile()
	} else {
		err = a.imageFile(item)
	}
	if err != nil {
		return fmt.Errorf("the program's file %q cannot be used: %w", clip(filepath.Base(a.File), 200), err)
	}
	return nil
}

// readFile reads a regular file of the folder: its path, or its name alone.
func readFile(root *os.Root, path string) ([]byte, error) {
	name := filepath.Base(path)
	if path != name && filepath.Clean(path) != filepath.Join(root.Name(), name) {
		return nil, errors.New("it is not in the scratch folder")
	}
	info, err := root.Lstat(name)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file (%s)", info.Mode().Type())
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.New("it was replaced while it was read")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return data, err
}

// imageFile checks that the file is a PNG or JPEG of the requested size.
func (a *Answer) imageFile(item *Item) error {
	switch {
	case bytes.HasPrefix(a.Data, []byte("\x89PNG\r\n\x1a\n")):
		a.Extension = ".png"
	case bytes.HasPrefix(a.Data, []byte("\xff\xd8\xff")):
		a.Extension = ".jpg"
	default:
		return errors.New("it is neither PNG nor JPEG")
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(a.Data))
	if err != nil {
		return err
	}
	if max(c.Width, c.Height) > maxEdge {
		return fmt.Errorf("%d×%d pixels; an edge has at most %d", c.Width, c.Height, maxEdge)
	}
	p, err := preprocess.Decode(a.Data)
	if err != nil {
		return err
	}
	_, resized := a.Meta["resized"]
	if item.Width > 0 && (p.Width != item.Width || p.Height != item.Height) && !resized {
		return fmt.Errorf("%d×%d pixels; %d×%d were requested. Fix: make that size, or set meta.resized", p.Width,
			p.Height, item.Width, item.Height)
	}
	return nil
}

// vectorFile checks that the file has dim finite numbers.
func (a *Answer) vectorFile() error {
	if a.Dim < 1 || len(a.Data) != 4*a.Dim {
		return fmt.Errorf("%d bytes; a vector of dim %d has %d", len(a.Data), a.Dim, 4*a.Dim)
	}
	for i, v := range a.Vector() {
		if v != v || math.IsInf(float64(v), 0) {
			return fmt.Errorf("value %d is %v", i, v)
		}
	}
	a.Extension = ".f32"
	return nil
}

// Vector returns the file's numbers, of an embedding.
func (a *Answer) Vector() []float32 {
	v := make([]float32, len(a.Data)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(a.Data[4*i:]))
	}
	return v
}

// empty removes the contents of a folder.
func empty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		_ = os.RemoveAll(filepath.Join(dir, e.Name()))
	}
}

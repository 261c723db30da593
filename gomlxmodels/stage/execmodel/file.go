package execmodel

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"antipode/datasets/mask"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/imagefile"
)

// extensions are those of the files that a task's program writes.
var extensions = map[string]string{Generate: ".png", Segment: ".png", Embed: ".f32"}

// open reads and checks the answer's files in the scratch folder. An error says, for the user, why one cannot be used.
func (a *Answer) open(root *os.Root, task string, item *Item) (err error) {
	for i := range a.Masks {
		if err := a.Masks[i].open(root, item); err != nil {
			return fmt.Errorf("the program's mask %d cannot be used: %w", i+1, err)
		}
	}
	if task == Ask {
		return a.chosen(len(item.Choices))
	}
	if task != Generate && task != Embed {
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

// header returns the size and the format of an image, "PNG" or "JPEG".
func header(data []byte) (c image.Config, format string, err error) {
	if !bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) && !bytes.HasPrefix(data, []byte("\xff\xd8\xff")) {
		return c, "", errors.New("it is neither PNG nor JPEG")
	}
	c, format, err = imagefile.Config(data)
	if err == nil && max(c.Width, c.Height) > maxEdge {
		err = fmt.Errorf("%d×%d pixels; an edge has at most %d", c.Width, c.Height, maxEdge)
	}
	return c, format, err
}

// open reads the mask's file, if it has one, and checks that the mask is one of the item's image.
func (m *Mask) open(root *os.Root, item *Item) error {
	size := [2]int{item.Height, item.Width}
	var data []byte
	if m.File != "" {
		var err error
		if data, err = readFile(root, m.File); err != nil {
			return err
		}
		c, format, err := header(data)
		if err == nil && format != "PNG" {
			err = errors.New("its file is no PNG")
		}
		if err != nil {
			return err
		}
		m.Size = [2]int{c.Height, c.Width}
	}
	if m.Size != size {
		return fmt.Errorf("%d×%d pixels; the image has %d×%d", m.Size[1], m.Size[0], size[1], size[0])
	}
	if m.File != "" {
		b, err := imagefile.Decode(data, func(img image.Image, _ string, _ image.Config) (mask.Bitmap, error) {
			return mask.FromImage(img)
		})
		if err != nil {
			return err
		}
		m.Mask, m.File = mask.Encode(b), ""
	}
	_, err := mask.Area(m.Mask)
	return err
}

// Union returns the union of masks of an image of this size.
func Union(masks []Mask, width, height int) (mask.Bitmap, error) {
	b := mask.New(width, height)
	for _, m := range masks {
		one, err := mask.Decode(m.Mask)
		if err != nil {
			return b, err
		}
		for i, object := range one.Pix {
			b.Pix[i] = b.Pix[i] || object
		}
	}
	return b, nil
}

// imageFile checks that the file is a PNG or JPEG of the requested size.
func (a *Answer) imageFile(item *Item) error {
	_, format, err := header(a.Data)
	if err != nil {
		return err
	}
	a.Extension = map[string]string{"PNG": ".png", "JPEG": ".jpg"}[format]
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

// chosen checks the choice and the probabilities of n choices.
func (a *Answer) chosen(n int) error {
	if a.Choice == nil || *a.Choice < 0 || *a.Choice >= n {
		return fmt.Errorf("the program's choice is not an index from 0 to %d", n-1)
	}
	if a.Source = cmp.Or(a.Source, FromNothing); len(a.Probabilities) == 0 && a.Source == FromNothing {
		return nil
	}
	sum := 0.0
	for _, p := range a.Probabilities {
		if sum += p; !(p >= 0) {
			return fmt.Errorf("the program's probability %v is negative", p)
		}
	}
	if !slices.Contains([]string{FromLogits, FromSamples}, a.Source) || len(a.Probabilities) != n ||
		math.Abs(sum-1) > 1e-3 {
		return fmt.Errorf("the program's %d probabilities of %d choices with the sum %.4g and the source %q are not "+
			"valid. Fix: probabilities whose sum is 1 from logits or samples; null from none", len(a.Probabilities), n,
			sum, clip(a.Source, 40))
	}
	for i := range a.Probabilities {
		a.Probabilities[i] /= sum
	}
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

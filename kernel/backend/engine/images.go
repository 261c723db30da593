package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image/png"
	"path/filepath"
	"runtime"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
	"antipode/internal/imagefile"
	"antipode/kernel/backend/store"
)

var imageReadings = []struct {
	trait     imagefile.Traits
	what, fix string
	quiet     bool // nothing is lost
}{
	{imagefile.Profile, "images have another color profile than sRGB",
		`Color: "srgb" (--color srgb) converts them`, false},
	{imagefile.Foreign, "images have a color profile that is damaged, has tables, or is of another kind of " +
		"color, and is ignored",
		"convert them to sRGB in the program that wrote them", false},
	{imagefile.Transparent, "images have transparent pixels, and the colors stored under them are read",
		`Alpha: "white" (--alpha white; black, checker) gives them a background`, false},
	{imagefile.Deep, "images have 16 bits a channel, and the high 8 are read", "", false},
	{imagefile.CMYK, "images are CMYK, and are converted without their profile", "", false},
	{imagefile.Frames, "images are animations or have several pages, and the first is read", "", false},
	{imagefile.Turned, "images are turned upright as their EXIF data says", "", false},
	{imagefile.Gray, "images are gray", "", true},
}

func (r *run) readImages(f *table.Frame, column string, o origin, traits []imagefile.Traits) {
	for _, x := range imageReadings {
		if x.trait == imagefile.Profile && o.color != "" || x.trait == imagefile.Transparent && o.alpha != "" {
			continue
		}
		r.reading(table.Reading{Source: o.name, Column: column, What: x.what, Fix: x.fix, Quiet: x.quiet}.Count(f,
			func(row int) (bool, bool) {
				t := traits[row]
				if t&imagefile.Foreign != 0 {
					t &^= imagefile.Profile // is not converted
				}
				if t&imagefile.CMYK != 0 {
					t &^= imagefile.Foreign // is the same line
				}
				return t&x.trait != 0, t != 0
			}))
	}
}

// traits returns the traits of an image's file. With options about colors it provides the file of an object; otherwise
// those of one that is not in the cache yet are not known, nor in a careful request those of a file that is new:
// reading it may be what ended the backend.
func (r *run) traits(o origin, img table.Image) (imagefile.Traits, error) {
	if u, isObject := r.e.objects.URL(img.Path); isObject && o.color+o.alpha != "" {
		if err := r.e.objects.Ensure(r.ctx, u, img.SHA256); err != nil {
			return 0, err
		}
	}
	of := func(data []byte) int { return int(imagefile.TraitsOf(data)) }
	if r.req.Careful && o.color+o.alpha == "" {
		of = nil
	}
	t, err := r.e.Store.FileTraits(img.Path, of)
	if err != nil && o.color+o.alpha == "" {
		err = nil
	}
	return imagefile.Traits(t), err
}

// converted is the column of converted images in the store.
var converted = datasets.Columns("image:image")

// convert replaces images by images of the store whose colors are converted as the options say, in place. The store
// keeps them, and their rows in bad are those that cannot be read.
func (r *run) convert(f *table.Frame, c *table.Column, rows []int, o origin, traits []imagefile.Traits,
	bad []*table.BadRow) error {
	sRGB := func(row int) bool {
		return o.color != "" && traits[row]&(imagefile.Profile|imagefile.Foreign) == imagefile.Profile
	}
	fill := func(row int) bool { return o.alpha != "" && traits[row]&imagefile.Transparent != 0 }
	var todo []int
	for _, row := range rows {
		if bad[row] == nil && (sRGB(row) || fill(row)) {
			todo = append(todo, row)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", o.color, o.alpha))
	context := hex.EncodeToString(sum[:12])
	items, err := r.store.Items("images-v1", context)
	if err != nil {
		return err
	}
	items.Columns(converted)
	r.mu.Lock()
	r.uses["items/images-v1/"+context] = true
	r.mu.Unlock()
	for part := range slices.Chunk(todo, 256) {
		keys, made := make([]store.Key, len(part)), make([][]byte, len(part))
		for k, row := range part {
			keys[k] = store.KeyOf(stage.ImageKey(c.Images[row]))
		}
		values, _, _ := r.storedValues(items, keys, converted)
		fault.Spread(len(part), runtime.NumCPU(), func(k int) {
			row, background := part[k], ""
			if values[k] != nil || r.ctx.Err() != nil {
				return
			}
			if fill(row) {
				background = o.alpha
			}
			var err error
			if values[k], made[k], err = r.converted(c.Images[row], sRGB(row), background); err != nil {
				bad[row] = &table.BadRow{Row: row + 1, ID: rowID(f, row), Column: c.Name, Reason: err.Error()}
			}
		})
		if err := r.ctx.Err(); err != nil {
			return err
		}
		var newKeys []store.Key
		var payloads [][]byte
		for k, row := range part {
			if made[k] != nil {
				newKeys, payloads = append(newKeys, keys[k]), append(payloads, made[k])
			}
			if bad[row] == nil {
				r.mu.Lock()
				r.originals[values[k][0].Image.Path] = c.Images[row].Path
				r.mu.Unlock()
				c.Images[row] = values[k][0].Image
			}
		}
		if err := items.Put(newKeys, payloads); err != nil {
			return err
		}
	}
	return nil
}

// converted returns the image of the store that has an image's converted colors, as a value and as an item.
func (r *run) converted(img table.Image, sRGB bool, background string) (value []table.Value, item []byte, err error) {
	err = protect(func() error {
		data, err := stage.ImageFile(img)
		if err != nil {
			return err
		}
		p, err := preprocess.DecodeAs(data, sRGB, background)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(img.Path), err)
		}
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, p); err != nil {
			return err
		}
		made, err := r.store.PutBlob(b.Bytes(), ".png")
		if err == nil {
			value = []table.Value{{Image: made}}
			item, err = encodeItem(value, converted)
		}
		return err
	})
	return value, item, err
}

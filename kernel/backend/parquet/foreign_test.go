package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// byName is the column contract, as far as the fixtures need it.
var byName = map[string]table.Kind{"id": table.KindText, "image": table.KindImage, "mask": table.KindMask,
	"region": table.KindText, "group": table.KindText,
	"language": table.KindText, "axis": table.KindText, "prompt_id": table.KindText, "reason": table.KindText,
	"seed": table.KindNumber,
	"full": table.KindVector, "object_only": table.KindVector, "text": table.KindVector}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// stores is a PutImage that names images by their digest.
func stores(data []byte) (table.Image, error) {
	return table.Image{SHA256: digest(data), Path: "blob-" + digest(data)[:8]}, nil
}

// What pandas, polars, pyarrow and Hugging Face's datasets write (testdata/make.py) has the kinds that the names ask
// for.
func TestForeign(t *testing.T) {
	png := map[string]string{}
	for _, name := range []string{"a.png", "b.png"} {
		data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		png[name] = digest(data)
	}
	nan, day := math.NaN(), "2024-05-17T08:30:00"
	text, number, vector := table.TextColumn, table.NumberColumn, table.VectorColumn
	paths := table.ImageColumn("image", []table.Image{{Path: "a.png"}, {Path: "b.png"}})
	held := number("held_out", []float64{1, 0})
	held.Texts = []string{"true", "false"}
	pandas := []table.Column{
		text("region", []string{"north", "south"}), number("seed", []float64{7, 8}),
		held,
		text("reason", []string{"", ""}), vector("full", [][]float32{{1, 2.5}, nil}),
		number("share", []float64{0.5, nan}), text("made", []string{day, ""}),
	}
	for name, want := range map[string]struct {
		columns []table.Column
		unread  []string
	}{
		"pandas": {columns: append([]table.Column{text("id", []string{"1", "9007199254740993"}), paths},
			pandas...)},
		"pandas_index": {columns: append(append([]table.Column{paths}, pandas...), text("id", []string{"p", "q"}))},
		"polars": {columns: []table.Column{
			text("id", []string{"1", "2"}), paths, text("region", []string{"north", "south"}),
			text("group", []string{"x", ""}),
			number("seed", []float64{7, nan}), held,
			table.MaskColumn("mask", make([]table.Mask, 2)),
			vector("full", [][]float32{{1, 2.5}, nil}), vector("object_only", [][]float32{{1, 2.5, 3}, {}}),
			text("made", []string{day, ""}), text("on", []string{"2024-05-17", ""}),
		}},
		"huggingface": {columns: []table.Column{
			text("id", []string{"1", "2"}),
			table.ImageColumn("image", []table.Image{{SHA256: png["a.png"], Path: "blob-" + png["a.png"][:8]},
				{Path: "b.png"}}),
			number("label", []float64{0, 1}), vector("full", [][]float32{{1, 2.5}, nil}),
		}},
		"pyarrow": {columns: []table.Column{
			text("id", []string{"p", "q"}), text("language", []string{"en", ""}), text("axis", []string{"1", "2.5"}),
			text("prompt_id", []string{"18446744073709551615", ""}),
			vector("full", [][]float32{{1, 2.5}, {3}}), number("half", []float64{-0.5, nan}),
			number("price", []float64{-1.25, nan}), number("took", []float64{90, nan}),
			text("at", []string{"08:30:00", ""}), text("made", []string{day + "Z", ""}),
			table.ImageColumn("image", []table.Image{{SHA256: png["a.png"], Path: "blob-" + png["a.png"][:8]}, {}}),
			table.MaskColumn("mask", []table.Mask{{Counts: "blob-" + png["b.png"][:8]}, {Counts: "b.png"}}),
			text("plain", []string{"text", "bytes"}),
		}, unread: []string{`"boxes" (lists of lists of numbers)`, `"objects" (lists or maps of structs)`,
			`"tags" (lists or maps of structs)`,
			`"size" (structs of width, height)`, `"raw" (bytes)`}},
		"int96": {columns: []table.Column{text("id", []string{"a"}), text("made", []string{day})}},
	} {
		got, err := Read("testdata/"+name+".parquet",
			Options{Kind: func(column string) table.Kind { return byName[column] }, PutImage: stores})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		must.Equal(t, cmp.Diff(want.columns, got.Frame.Columns, cmpopts.EquateNaNs()), "", name)
		must.Equal(t, cmp.Diff(want.unread, got.Unread), "", name)
	}
}

// A column whose name requires a type it does not have is an error that names its type.
func TestWrongColumn(t *testing.T) {
	for column, want := range map[string]string{
		"half":  `pyarrow.parquet: column "half" holds numbers; it must hold paths of image files as text, or images as structs of bytes and path`,
		"boxes": `column "boxes" holds lists of lists of numbers; it must hold paths of image files`,
		"size":  `column "size" holds structs of width, height; it must hold paths of image files`,
	} {
		_, err := Read("testdata/pyarrow.parquet", Options{Kind: func(c string) table.Kind {
			return map[string]table.Kind{column: table.KindImage}[c]
		}})
		must.Err(t, err, want)
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	frame := &table.Frame{Columns: []table.Column{table.TextColumn("seed", []string{"7", "", "x"}),
		table.TextColumn("full", []string{"[1, 2]", "", "[3]"}),
		table.TextColumn("text", []string{"[1, 2]", "", "a drum"})}}
	must.Do(t, Write(path, frame))
	got := must.Get(Read(path, Options{Kind: func(c string) table.Kind { return byName[c] }}))(t)
	want := []table.Column{frame.Columns[0], // a value that is not a number is an error where seeds are used
		table.VectorColumn("full", [][]float32{{1, 2}, nil, {3}}), frame.Columns[2]}
	must.Equal(t, cmp.Diff(want, got.Frame.Columns, cmpopts.EquateNaNs()), "")
}

// An image that cannot be used is its row's error; a store that fails ends the reading.
func TestPutImage(t *testing.T) {
	read := func(err error) (*Table, error) {
		return Read("testdata/huggingface.parquet",
			Options{PutImage: func([]byte) (table.Image, error) { return table.Image{}, err }})
	}
	got := must.Get(read(table.BadRow{Reason: "no image"}))(t)
	want := (&table.BadRow{Column: "image", Reason: "no image"})
	must.True(t, cmp.Equal(got.Bad, []*table.BadRow{want, nil}), "bad rows %v", got.Bad)
	if _, err := read(errors.New("the disk is full")); err == nil ||
		err.Error() != "huggingface.parquet: the disk is full" {
		t.Errorf("error %v", err)
	}
}

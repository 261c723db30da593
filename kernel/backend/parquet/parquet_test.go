package parquet

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	pq "github.com/parquet-go/parquet-go"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// read reads a file as what it holds.
func read(t *testing.T, path string) *table.Frame {
	t.Helper()
	got := must.Get(Read(path, Options{}))(t)
	return got.Frame
}

func TestRoundTrip(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{
		table.TextColumn("z", []string{"", "नमस्ते", "a,b\n\"c\""}),
		table.NumberColumn("seed", []float64{math.NaN(), -0.5, 1e300}),
		table.VectorColumn("full", [][]float32{nil, {1, 2.5}, {3, 4}}),
		table.ImageColumn("image", []table.Image{{}, {SHA256: "ab", Path: "x.png"}, {}}),
		table.MaskColumn("mask", []table.Mask{{Size: [2]int{3, 4}, Counts: "05"}, {},
			{Size: [2]int{9, 1}, Counts: "11"}}),
	}}
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, Write(path, f))
	got := read(t, path)
	must.Equal(t, cmp.Diff(f, got, cmpopts.EquateNaNs()), "")
}

func TestManyRows(t *testing.T) {
	v := make([][]float32, 10000)
	ids := make([]string, len(v))
	for i := range v {
		v[i] = []float32{float32(i), 1}
		ids[i] = string(rune('a' + i%26))
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, Write(path, &table.Frame{Columns: []table.Column{table.TextColumn("id", ids),
		table.VectorColumn("full", v)}}))
	for _, c := range []struct{ first, n, rows int }{{0, 3, 3}, {4000, 200, 200}, {4096, 1, 1}, {8500, 0, 1500},
		{9999, 5, 1}, {10000, 5, 0}} {
		part, err := Read(path, Options{First: c.first, N: c.n})
		if err != nil || part.Rows != len(v) || part.Frame.Len() != c.rows || len(part.Bad) != c.rows {
			t.Fatalf("%+v: %+v, %v", c, part, err)
		}
		for i, vector := range part.Frame.Vectors("full") {
			must.True(t, vector[0] == float32(c.first+i), "%+v: row %d is row %v", c, i, vector[0])
		}
	}
	got := read(t, path)
	must.True(t, got.Len() == len(v) && got.Vectors("full")[9999][0] == 9999, "got %d rows", got.Len())
}

// TestParts: the file of a table is the same in whatever parts its rows come.
func TestParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 255, 256, 4095, 4096, 4097, 8192, 10_000} {
		ids, seeds, vectors := make([]string, n), make([]float64, n), make([][]float32, n)
		for i := range n {
			ids[i], seeds[i], vectors[i] = fmt.Sprint(i), random.Float64(), []float32{random.Float32(), 1}
		}
		f := &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.NumberColumn("seed", seeds),
			table.VectorColumn("full", vectors)}}
		var whole, parts bytes.Buffer
		must.Do(t, encode(&whole, f))
		w := must.Get(NewWriter(&parts, f.Specs()))(t)
		for from := 0; from < n; {
			to := min(n, from+random.IntN(5000))
			must.Do(t, w.Write(f.Slice(from, to)))
			from = to
		}
		must.Do(t, w.Close())
		must.True(t, bytes.Equal(whole.Bytes(), parts.Bytes()),
			"%d rows in parts: %d bytes, %d as a whole", n, parts.Len(), whole.Len())
		must.Fail(w.Write(table.NewFrame(f.Specs()[:1])))(t) // rows with other columns are written
	}
}

func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, Write(path, &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"})}}))
	data, _ := os.ReadFile(path)
	for _, bad := range [][]byte{nil, []byte("id,image\n"), data[:len(data)-9], data[20:]} {
		os.WriteFile(path, bad, 0o644)
		must.Fail(Read(path, Options{}))(t, "t.parquet")
	}
}

// pandas writes lists whose elements may be null, and a NaN as such a null.
func TestNullInside(t *testing.T) {
	type row struct {
		ID   string     `parquet:"id"`
		Full []*float32 `parquet:"full,optional,list"`
	}
	one := float32(1)
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, pq.WriteFile(path, []row{{"a", []*float32{&one, nil}}, {"b", []*float32{nil, &one}}, {"c", nil},
		{"d", []*float32{&one}}}))
	got := read(t, path)
	nan := float32(math.NaN())
	must.Equal(t, cmp.Diff([][]float32{{1, nan}, {nan, 1}, nil, {1}}, got.Vectors("full"), cmpopts.EquateNaNs()), "")
}

// TestRunLengths: the counts of a mask may be a list of numbers (segment-anything's uncompressed_rle).
func TestRunLengths(t *testing.T) {
	type runs struct {
		Counts []int64 `parquet:"counts,list"`
		Size   []int32 `parquet:"size,list"`
	}
	type row struct {
		ID   string `parquet:"id"`
		Mask runs   `parquet:"mask"`
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	must.Do(t, pq.WriteFile(path, []row{{"a", runs{[]int64{1, 2, 3}, []int32{2, 3}}},
		{"b", runs{[]int64{7}, []int32{2, 3}}}}))
	got, err := Read(path, Options{})
	if err != nil || got.Bad[0] != nil || got.Bad[1] == nil || got.Bad[1].Column != "mask" {
		t.Fatal(err, got)
	}
	want := mask.New(3, 2)
	want.Set(0, 1, true)
	want.Set(1, 0, true)
	must.Equal(t, cmp.Diff(mask.Encode(want), got.Frame.Masks("mask")[0]), "")
}

// testdata/nested.parquet is pyarrow's: lists of texts, one and two deep, with nulls and empty lists, as
// LAION-COCO-NLLB's column captions.
func TestNestedText(t *testing.T) {
	f := read(t, "testdata/nested.parquet")
	for column, want := range map[string][]string{
		"id":       {"a", "b", "c", "d"},
		"captions": {`[["hin_Deva","नमस्ते"],["eng_Latn",""]]`, "", "", `[["x"]]`},
		"words":    {`["a","b"]`, `["c"]`, "", ""},
		"strict":   {`["p"]`, "", `["q","r"]`, `["s"]`},
	} {
		must.Equal(t, cmp.Diff(want, f.Texts(column)), "", column)
	}
}

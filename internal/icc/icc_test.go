package icc

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"antipode/internal/must"
)

// TestConvertEqualsLittlecms: every color of a cube within one level; tools/pyref/icc.py made the files.
func TestConvertEqualsLittlecms(t *testing.T) {
	for _, name := range []string{"p3", "adobe", "prophoto", "table", "offset", "linear", "srgb", "gray"} {
		data := must.Get(os.ReadFile("testdata/" + name + ".icc"))(t)
		want := must.Get(os.ReadFile("testdata/" + name + ".rgb"))(t)
		p, err := Parse(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var rgb []uint8
		for i := range len(want) / 3 {
			r, g, b := i/81*255, i/9%9*255, i%9*255
			if rgb = append(rgb, uint8((r+4)/8), uint8((g+4)/8), uint8((b+4)/8)); p.Gray {
				rgb = append(rgb[:3*i], uint8(i), uint8(i), uint8(i))
			}
		}
		p.Convert(rgb)
		worst, differ := 0, 0
		for i := range want {
			d := int(rgb[i]) - int(want[i])
			if worst = max(worst, d, -d); d != 0 {
				differ++
			}
		}
		t.Logf("%s: %d of %d values differ, by up to %d", name, differ, len(want), worst)
		must.True(t, worst <= 1, "%s: worst difference %d of 255", name, worst)
		must.Equal(t, p.IsSRGB(false), name == "srgb", name, "sRGB")
	}
}

// TestParseRefuses: damaged profiles, and those that claim more than they hold, are errors.
func TestParseRefuses(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/table.icc"))(t)
	with := func(at int, v uint32) []byte {
		b := slices.Clone(data)
		binary.BigEndian.PutUint32(b[at:], v)
		return b
	}
	curve := bytes.Index(data, []byte("curv\x00\x00\x00\x00"))
	for name, b := range map[string][]byte{
		"nothing": nil, "cut off": data[:200], "tags": with(128, 1<<31), "an offset": with(136, 1<<31),
		"a table": with(curve+8, 1<<31), "CMYK": with(16, 0x434d594b),
	} {
		if p, err := Parse(b); err == nil {
			t.Errorf("%s: %v", name, p.matrix)
		}
	}
}

// FuzzParse: no profile ends the program.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"p3", "adobe", "offset", "gray"} {
		data := must.Get(os.ReadFile("testdata/" + name + ".icc"))(f)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := Parse(b); err == nil {
			p.IsSRGB(false)
		}
	})
}

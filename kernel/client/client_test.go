package client

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func sample() *Frame {
	return &Frame{Columns: []Column{
		TextColumn("id", []string{"a", "नमस्ते\n", ""}), NumberColumn("n", []float64{1, math.NaN(), math.Inf(-1)}),
		VectorColumn("full", [][]float32{{1, 2}, nil, {}}), ImageColumn("image", []Image{{"ab", "/x"}, {}, {}}), MaskColumn("mask", []Mask{{[2]int{2, 3}, "06"}, {}, {}}),
	}}
}

func TestFrameRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Encode(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	if got.Vectors("full")[1] != nil || got.Vectors("full")[2] == nil {
		t.Error("null and empty vectors must stay apart")
	}
}

// FuzzDecode looks for streams that make Decode panic or use memory without bound.
func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	sample().Encode(&b)
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-3])
	f.Add([]byte("APF1\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if frame, err := Decode(bytes.NewReader(data)); err == nil {
			if err := frame.Check(); err != nil && !strings.Contains(err.Error(), "twice") {
				t.Error(err)
			}
		}
	})
}

func TestFrameCheck(t *testing.T) {
	for name, f := range map[string]*Frame{
		"length": {Columns: []Column{TextColumn("a", []string{"x"}), NumberColumn("b", nil)}},
		"twice":  {Columns: []Column{TextColumn("a", []string{"x"}), TextColumn("a", []string{"x"})}},
	} {
		if f.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPlanDigest(t *testing.T) {
	a := &Plan{Op: "where", Args: []byte(`{"x":1}`), Inputs: []*Plan{{Op: "csv"}}, Line: "here"}
	b := &Plan{Op: "where", Args: []byte(`{"x":1}`), Inputs: []*Plan{{Op: "csv"}}, Line: "there"}
	c := &Plan{Op: "where", Args: []byte(`{"x":1}`), Inputs: []*Plan{{Op: "csv"}, {Op: "csv"}}}
	if a.Digest() != b.Digest() || a.Digest() == c.Digest() {
		t.Error("the digest must depend on the plan, not on the line")
	}
}

func TestSocketPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	path, err := SocketPath("/some/store")
	if err != nil || filepath.Dir(filepath.Dir(path)) != dir {
		t.Fatal(path, err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder: %v %v", info, err)
	}
	os.Chmod(filepath.Dir(path), 0o755)
	if _, err := SocketPath("/some/store"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(filepath.Dir(path)); info.Mode().Perm() != 0o700 {
		t.Error("an open folder stays open")
	}
	long := filepath.Join(dir, strings.Repeat("long", 30))
	os.MkdirAll(long, 0o700)
	t.Setenv("XDG_RUNTIME_DIR", long)
	if path, err = SocketPath("/some/store"); err != nil || len(path) >= maxSocket {
		t.Errorf("%s, %v", path, err)
	}
	other, _ := SocketPath("/another/store")
	if other == path {
		t.Error("two stores share a socket")
	}
	link := filepath.Join(dir, "antipode2")
	t.Setenv("XDG_RUNTIME_DIR", link)
	os.MkdirAll(link, 0o700)
	os.Symlink("/", filepath.Join(link, "antipode"))
	if path, err := SocketPath("/some/store"); err == nil && strings.HasPrefix(path, link) {
		t.Error("a linked folder was taken")
	}
}

func TestBinaryIsAClearError(t *testing.T) {
	t.Setenv(BinaryVar, "")
	if _, err := Binary(t.TempDir()); err == nil || !strings.Contains(err.Error(), "doctor") {
		t.Errorf("%v", err)
	}
}

package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
)

// part is a member of an archive.
type part struct {
	name   string
	data   []byte
	method uint16
}

// archive is a zip archive of the parts.
func archive(t testing.TB, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: p.name, Method: p.method})
		if err == nil {
			_, err = w.Write(p.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, z.Close())
	return b.Bytes()
}

// Parts of pickles, written by hand.

func unicode(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func long(n int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func storage(key string, numel int64) string {
	return "(" + unicode("storage") + "ctorch\nFloatStorage\n" + unicode(key) + unicode("cpu") + long(numel) + "tQ"
}

// vector is a dictionary of one tensor w of n elements of a storage.
func vector(storage string, offset, n, stride int64) []byte {
	return []byte("\x80\x02}" + unicode("w") + "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + long(offset) +
		long(n) + "\x85" + long(stride) + "\x85\x89NtRs.")
}

// edited replaces bytes of the first (at 0) or last (at -1) record with a signature, at an offset in it.
func edited(b []byte, signature string, at, offset int, with ...byte) []byte {
	b = bytes.Clone(b)
	i := bytes.Index(b, []byte(signature))
	if at < 0 {
		i = bytes.LastIndex(b, []byte(signature))
	}
	copy(b[i+offset:], with)
	return b
}

const local, central, end = "PK\x03\x04", "PK\x01\x02", "PK\x05\x06"

// hostileZips are archives of which none has a tensor that can be read.
func hostileZips(t testing.TB) map[string][]byte {
	good := vector(storage("0", 4), 0, 4, 1)
	data := make([]byte, 16)
	of := func(pickle []byte, more ...part) []byte {
		return archive(t, append([]part{{"a/data.pkl", pickle, 0}}, more...)...)
	}
	plain := of(good, part{"a/data/0", data, 0})
	all := map[string][]byte{
		"no storage":         of(good),
		"short storage":      of(good, part{"a/data/0", data[:12], 0}),
		"long storage":       of(good, part{"a/data/0", make([]byte, 20), 0}),
		"numel 2^61":         of(vector(storage("0", 1<<61), 0, 4, 1), part{"a/data/0", data, 0}),
		"key ../x":           of(vector(storage("../x", 4), 0, 4, 1), part{"a/data/../x", data, 0}),
		"key of no number":   of(vector(storage("a", 4), 0, 4, 1), part{"a/data/a", data, 0}),
		"no key":             of(vector(storage("", 4), 0, 4, 1)),
		"long key":           of(vector(storage(strings.Repeat("0", 99), 4), 0, 4, 1)),
		"outside":            of(vector(storage("0", 4), 1, 4, 1), part{"a/data/0", data, 0}),
		"stride":             of(vector(storage("0", 4), 0, 4, 1<<60), part{"a/data/0", data, 0}),
		"expanded to 2^62":   of(vector(storage("0", 4), 0, 1<<62, 0), part{"a/data/0", data, 0}),
		"two data.pkl":       of(good, part{"b/data.pkl", good, 0}, part{"a/data/0", data, 0}),
		"none":               archive(t, part{"a/data/0", data, 0}),
		"data.pkl at root":   archive(t, part{"data.pkl", good, 0}, part{"data/0", data, 0}),
		"no members":         archive(t),
		"constants":          of(good, part{"a/constants.pkl", good, 0}),
		"code":               of(good, part{"a/code/x.py", good, 0}),
		"byte order":         of(good, part{"a/byteorder", []byte("middle"), 0}, part{"a/data/0", data, 0}),
		"long byte order":    of(good, part{"a/byteorder", make([]byte, 1<<20), 8}, part{"a/data/0", data, 0}),
		"two of a name":      of(good, part{"a/data/0", data, 0}, part{"a/data/0", data, 0}),
		"bomb of 48 MiB":     archive(t, part{"a/data.pkl", bytes.Repeat([]byte("N"), 48<<20), 8}),
		"bomb of 8 MiB":      archive(t, part{"a/data.pkl", bytes.Repeat([]byte("]"), 8<<20), 8}),
		"empty pickle":       of(nil),
		"name twice":         of([]byte("\x80\x02}(" + strings.Repeat(string(good[3:len(good)-2]), 2) + "u.")),
		"self-containing":    of([]byte("}q\x00(" + unicode("state_dict") + "h\x00" + unicode("model") + "Nu.")),
		"self with a tensor": of([]byte("}q\x00(" + unicode("model") + "h\x00" + string(good[3:len(good)-2]) + "u.")),
		"encrypted":          edited(plain, central, 0, 8, 1),
		"method 12":          edited(plain, central, 0, 10, 12),
		"larger member":      edited(plain, central, -1, 20, 99, 0, 0, 0, 99),
		"not its size":       edited(plain, central, -1, 24, 15),
		"other local name":   edited(plain, local, 0, 30, 'b'),
		"local name length":  edited(plain, local, 0, 26, 1),
		"local extra length": edited(plain, local, 0, 28, 255, 255),
		"no local header":    edited(plain, local, -1, 0, 'X'),
		"no directory":       edited(plain, central, 0, 0, 'X'),
		"no end":             edited(plain, end, 0, 0, 'X'),
		"comment":            edited(plain, end, 0, 20, 1),
		"fewer records":      edited(plain, end, 0, 10, 1),
		"more records":       edited(plain, end, 0, 10, 3),
		"65535 records":      edited(plain, end, 0, 10, 255, 255),
		"directory size":     edited(plain, end, 0, 12, 255, 255, 255, 255),
		"directory place":    edited(plain, end, 0, 16, 255, 255, 255, 127),
		"directory before":   edited(plain, end, 0, 16, 0),
		"overlap":            edited(plain, central, -1, 42, 1),
		"same place":         edited(plain, central, -1, 42, 0, 0, 0, 0),
		"header in the end":  edited(plain, central, -1, 42, 255, 255),
		"long name":          edited(plain, central, 0, 28, 255, 255),
		"tail":               append(bytes.Clone(plain), 0),
		"head":               plain[:len(plain)-1],
		"archive in front":   append(bytes.Clone(plain), edited(plain, local, 0, 0, 'X')...),
		"million entries":    manyEntries(1_000_000, 4),
		"200,001 entries":    manyEntries(200_001, 200_001),
		"65,541 for 5":       manyEntries(5, 65_541),
	}
	stored := archive(t, part{"a/data.pkl", good, 0}, part{"a/data/0", data, 8})
	all["deflated size"] = edited(stored, central, -1, 24, 17)
	all["deflated to less"] = edited(stored, central, -1, 24, 15)
	vast := archive(t, part{"a/data.pkl", vector(storage("0", 1<<28), 0, 1<<28, 1), 0}, part{"a/data/0", data, 8})
	all["deflated to 1 GiB"] = edited(vast, central, -1, 24, 0, 0, 0, 0x40)
	all["deflate damaged"] = bytes.Replace(stored, []byte("a/data/0"), []byte("a/data/0\xff\xff"), 1)
	return all
}

// manyEntries is an archive whose end says that it has so many members, and whose directory has others.
func manyEntries(said, has int) []byte {
	b := []byte(local)
	b = append(b, make([]byte, 26)...)
	start := len(b)
	le := binary.LittleEndian
	for i := range has {
		entry := append([]byte(central), make([]byte, 42)...)
		name := fmt.Sprintf("%x", i)
		entry[28] = byte(len(name))
		b = append(append(b, entry...), name...)
	}
	size, at := len(b)-start, len(b)
	wide := append([]byte("PK\x06\x06"), make([]byte, 52)...)
	le.PutUint64(wide[24:], uint64(said))
	le.PutUint64(wide[32:], uint64(said))
	le.PutUint64(wide[40:], uint64(size))
	le.PutUint64(wide[48:], uint64(start))
	locator := append([]byte("PK\x06\x07"), make([]byte, 16)...)
	le.PutUint64(locator[8:], uint64(at))
	b = append(append(b, wide...), locator...)
	return append(append(b, end+"\x00\x00\x00\x00"+strings.Repeat("\xff", 12)...), 0, 0)
}

// hostileLegacy are files of before torch 1.6 without a tensor that can be read.
func hostileLegacy() map[string][]byte {
	good := string(vector(storage("0", 4), 0, 4, 1))
	version, system := "\x80\x02M\xe9\x03.", "\x80\x02}"+unicode("little_endian")+"\x88s."
	keys := "\x80\x02]" + unicode("0") + "a."
	data := "\x04\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 16)
	all := map[string][]byte{}
	for what, text := range map[string]string{
		"magic only":       "",
		"other version":    "\x80\x02K\x01." + system + good + keys + data,
		"no version":       "\x80\x02N." + system + good + keys + data,
		"no system":        version + "N." + good + keys + data,
		"no byte order":    version + "}." + good + keys + data,
		"no keys":          version + system + good + "N." + data,
		"empty keys":       version + system + good + "]." + data,
		"key of no tensor": version + system + good + "]" + unicode("1") + "a." + data,
		"key twice":        version + system + good + "](" + unicode("0") + unicode("0") + "e." + data + data,
		"key of a number":  version + system + good + "]Na." + data,
		"no data":          version + system + good + keys,
		"short data":       version + system + good + keys + data[:23],
		"numel 2^62":       version + system + good + keys + "\x00\x00\x00\x00\x00\x00\x00\x40",
		"negative numel":   version + system + good + keys + strings.Repeat("\xff", 24),
		"other numel":      version + system + good + keys + "\x03" + data[1:],
		"two item sizes": version + system + "(" + good[2:len(good)-1] + strings.Replace(good[2:len(good)-1],
			"FloatStorage", "HalfStorage", 1) + "t." + keys + data,
		"outside": version + system + string(vector(storage("0", 4), 3, 2, 1)) + keys + data,
		"view": version + system + string(vector(strings.TrimSuffix(storage("0", 4), "tQ")+"("+unicode("1")+
			"K\x02K\x03ttQ", 0, 1, 1)) + keys + data,
	} {
		all["legacy: "+what] = []byte(legacyMagic + text)
	}
	return all
}

// damaged are files of torchFiles, cut short or with some bytes changed; what can be read of them may be right.
func damaged(t testing.TB, n int) map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	files := must.Get(filepath.Glob(filepath.Join(torchFiles, "*.bin")))(t)
	all := map[string][]byte{}
	for i := range n {
		path := files[i%len(files)]
		b := must.Get(os.ReadFile(path))(t)
		if i%3 == 0 {
			b = b[:rng.IntN(len(b))]
		} else {
			for range 1 + rng.IntN(8) {
				b[rng.IntN(len(b))] = byte(rng.IntN(256))
			}
		}
		all[fmt.Sprintf("damaged %d: %s", i, filepath.Base(path))] = b
	}
	return all
}

// TestHostileErrors wants the errors of some files to say what is wrong and what to do.
func TestHostileErrors(t *testing.T) {
	zips, old := hostileZips(t), hostileLegacy()
	for what, want := range map[string]string{
		"short storage":            `tensor "w": storage "0" has 12 bytes, needs 16. Fix: download the file again`,
		"no storage":               `tensor "w": storage "0" is missing. Fix: download the file again`,
		"key ../x":                 `tensor "w": storage "../x" is not named by a number`,
		"outside":                  "shape [4] with strides [1] from 1 is not within the storage of 4 elements",
		"expanded to 2^62":         "",
		"two data.pkl":             "zip archive with 2 data.pkl",
		"constants":                "TorchScript archive (constants.pkl). Fix: save model.state_dict() instead",
		"name twice":               `"w" occurs twice in the state dict`,
		"encrypted":                `member "a/data.pkl" is encrypted`,
		"method 12":                `member "a/data.pkl" has compression method 12`,
		"overlap":                  "overlaps what follows it",
		"two of a name":            `member "a/data/0" occurs twice`,
		"million entries":          "zip archive of 1000000 members, more than 200000",
		"bomb of 48 MiB":           "more than",
		"self-containing":          `no state dict: top level has keys "state_dict", "model"`,
		"self with a tensor":       "dictionaries contain each other",
		"deflated to 1 GiB":        `member "a/data/0" cannot have 1073741824 bytes`,
		"legacy: key of no tensor": `storage "1" is listed, but of no tensor`,
		"legacy: short data":       `storage "0" has 4 elements of 4 bytes, the file has 15 bytes left: it is cut short`,
		"legacy: two item sizes":   `storage "0" has elements of 4 and of 2 bytes`,
		"legacy: other numel":      `storage "0" has 12 bytes, needs 16`,
	} {
		b, ok := zips[what]
		if !ok {
			b, ok = old[what]
		}
		path := filepath.Join(t.TempDir(), "x.bin")
		if err := os.WriteFile(path, b, 0o600); err != nil || !ok {
			t.Fatal(what, err)
		}
		set, err := OpenFiles(path)
		if want == "" {
			_, err = set.Float32("w")
			want = `tensor "w" cannot be read: it repeats the elements of its storage`
		}
		line(t, err, want)
	}
}

func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	all := hostileZips(t)
	for what, b := range hostileLegacy() {
		all[what] = b
	}
	strict := len(all)
	for what, b := range damaged(t, 160) {
		all[what] = b
	}
	if strict < 60 || len(all) < 200 {
		t.Fatalf("%d files", len(all))
	}
	for what, b := range all {
		path := filepath.Join(dir, "x.bin")
		must.Do(t, os.WriteFile(path, b, 0o600))
		set, err := openWithin(t, what, path, len(b))
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "x.bin: ") {
				t.Errorf("%s: error %q", what, err)
			}
			continue
		}
		for _, name := range set.Names() {
			x := set.tensors[name]
			if x.unreadable == "" {
				checkPlace(t, x, int64(len(b)))
			}
			if err := set.read(x, func([]byte) {}); err == nil && !strings.HasPrefix(what, "damaged") {
				t.Errorf("%s: tensor %q was read", what, name)
			} else if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %q", what, err)
			}
		}
	}
}

// openWithin opens a file in bounded memory and half a second: 100 ms, and what other processes take.
func openWithin(t *testing.T, what, path string, size int) (set *Set, err error) {
	t.Helper()
	var took time.Duration
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		set, err = OpenFiles(path)
		took = time.Since(start)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > uint64(2*size)+64<<20 {
			t.Errorf("%s: allocated %d KiB for %d KiB", what, grown>>10, size>>10)
		}
		if took <= 500*time.Millisecond {
			t.Logf("%s: %v", what, took)
			return set, err
		}
	}
	t.Errorf("%s took %v", what, took)
	return set, err
}

// checkPlace wants all elements of a tensor within its storage, and that within a file of size bytes.
func checkPlace(t *testing.T, x *Info, size int64) {
	t.Helper()
	last := x.offset
	for i, d := range x.Shape {
		if d == 0 {
			return
		}
		last += int64(d-1) * int64(x.strides[i]) * sizes[x.DType]
	}
	stored := x.data.length
	if x.data.deflated {
		stored = x.data.packed
	}
	if x.offset < 0 || last < x.offset || last+sizes[x.DType] > x.data.length || x.data.offset < 0 || stored < 0 ||
		x.data.offset+stored > size {
		t.Errorf("%+v is not within %d bytes", x, size)
	}
}

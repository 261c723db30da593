package weights

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"antipode/internal/glob"
)

// SingleFile is the name of the weights of a model folder that is written here.
const SingleFile = "model.safetensors"

// names are the files of a folder's weights, without what follows the format. transformers and sentence-transformers
// write the first of each pair, diffusers the second.
var names = map[string][]string{
	".safetensors": {"model", "diffusion_pytorch_model"},
	".bin":         {"pytorch_model", "diffusion_pytorch_model"},
}

// candidates lists the paths of a folder's weights in the order of preference: full precision before half, then
// safetensors before torch's format, then one file before shards. With a variant these are its own alone.
func candidates(variant string) (list []string) {
	variants := []string{"", ".fp16"}
	if variant != "" {
		variants = []string{"." + variant}
	}
	for _, variant := range variants {
		for _, format := range []string{".safetensors", ".bin"} {
			for _, name := range names[format] {
				list = append(list, name+variant+format, name+format+".index"+variant+".json")
			}
		}
	}
	return list
}

// Open reads the headers of a model folder's weights: model.safetensors, else the shards that
// model.safetensors.index.json lists, else pytorch_model.bin or its shards; of diffusers' folders
// diffusion_pytorch_model in place of both names. Where there is none of these, it reads their fp16 variants. Every
// error is one line and names the file.
func Open(dir string) (*Set, error) { return OpenVariant(dir, "") }

// OpenVariant is [Open] for the weights of a variant, such as fp16: model.fp16.safetensors. "" = those of [Open].
func OpenVariant(dir, variant string) (*Set, error) {
	for _, name := range candidates(variant) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.HasSuffix(name, ".json") {
			return openIndex(path)
		}
		return OpenFiles(path)
	}
	message := fmt.Sprintf("%s: holds no weights, such as %s or pytorch_model.bin", dir, SingleFile)
	fix := "save the model again with save_pretrained"
	if variant != "" {
		message = fmt.Sprintf("%s: holds no weights of the variant %s", dir, variant)
		fix = "leave out the variant, or download it with `antipode models pull NAME --variant " + variant + "`"
	}
	var others []string
	for _, pattern := range []string{"*.safetensors", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.msgpack", "*.h5",
		"*.onnx"} {
		for _, path := range glob.In(dir, pattern) {
			others = append(others, filepath.Base(path))
		}
	}
	if len(others) > 0 {
		return nil, fmt.Errorf("%s: found %s. Fix: %s", message, some(others), fix)
	}
	return nil, fmt.Errorf("%s. Fix: download the folder again", message)
}

// openIndex reads the headers of the shards that an index lists, as transformers and diffusers write it: weight_map,
// file by tensor. [Set.Files] has the index first.
func openIndex(index string) (*Set, error) {
	dir := filepath.Dir(index)
	raw, err := os.ReadFile(index)
	if err != nil {
		return nil, err
	}
	var list struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s: not readable as JSON: %v", index, err)
	}
	var paths []string
	for name, file := range list.WeightMap {
		if !filepath.IsLocal(file) || strings.ContainsAny(file, `/\`) {
			return nil, fmt.Errorf("%s: tensor %q is in %q, which is not a file of the folder", index, name, file)
		}
		if p := filepath.Join(dir, file); !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: weight_map lists no tensor", index)
	}
	sort.Strings(paths)
	s, err := OpenFiles(paths...)
	if err != nil {
		return nil, err
	}
	s.files = append([]string{index}, s.files...)
	for name, file := range list.WeightMap {
		if t, ok := s.tensors[name]; !ok || filepath.Base(t.File) != file {
			return nil, fmt.Errorf("%s: tensor %q is not in %s, as %s says", filepath.Join(dir, file), name, file,
				filepath.Base(index))
		}
	}
	return s, nil
}

// OpenFiles reads the headers of the given files as one set: safetensors, what torch.save writes, or the parameters of
// Flax. The content decides which, not the name, but for Flax, whose files are named *.msgpack: their arrays are named
// by the keys on the way to them, such as model/encoder/layers/kernel. A tensor that is in two of them is an error.
func OpenFiles(paths ...string) (*Set, error) {
	s := &Set{files: paths, tensors: map[string]*Info{}}
	for _, p := range paths {
		s.dir = filepath.Dir(p)
		list, err := s.readFile(p)
		if err != nil {
			return nil, err
		}
		for i := range list {
			t := &list[i]
			if other, twice := s.tensors[t.Name]; twice {
				return nil, fmt.Errorf("%s: tensor %q is also in %s", p, t.Name, filepath.Base(other.File))
			}
			s.tensors[t.Name] = t
		}
	}
	return s, nil
}

// readFile lists the tensors of a file. It knows the format by its first bytes.
func (s *Set) readFile(path string) ([]Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a file", path)
	}
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %v", path, err)
	}
	head = head[:n]
	t := torchFile{set: s, path: path, file: f, size: stat.Size()}
	var list []Info
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		list, err = t.readZip()
	case bytes.HasPrefix(head, []byte(legacyMagic)):
		list, err = t.readLegacy()
	case len(head) > 262 && string(head[257:262]) == "ustar":
		err = errors.New("torch archive of before 2018 (tar). Fix: load it with torch and save its state dict again")
	case strings.HasSuffix(path, ".msgpack"):
		list, err = readMsgpack(path, f, stat.Size())
	case len(head) > 8 && head[8] == '{' || strings.HasSuffix(path, ".safetensors"):
		return readHeader(path, f, stat.Size())
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		err = errors.New("pointer of Git LFS, not the file itself. Fix: download the file")
	case len(head) > 1 && head[0] == 0x80 && head[1] <= 5:
		err = errors.New("pickle of another program. Fix: save the state dict with torch.save")
	default:
		err = errors.New("neither safetensors nor a file of torch.save. Fix: download the file again")
	}
	if err != nil {
		return nil, fmt.Errorf("open weights: %s: %w", path, err)
	}
	return list, nil
}

// littleEndian is the 8 bytes of a number at an offset.
func littleEndian(f io.ReaderAt, at int64) (uint64, error) {
	var b [8]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

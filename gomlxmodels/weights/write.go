package weights

import (
	"antipode/internal/atomicfile"
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/gomlx/compute/dtypes/float16"
)

// Tensor is a tensor to be written.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32 // row-major; as many values as Shape says
}

// Format is the dtype tensors are written in.
type Format string

// The formats Save writes.
const (
	F32 Format = "F32"
	F16 Format = "F16" // rounded to the nearest half-precision value; one beyond its range is an error
)

// Save writes tensors as one safetensors file, sorted by name; equal tensors and metadata give an equal file. It is
// written next to path and renamed, so that a reader never meets half a file.
func Save(path string, list []Tensor, metadata map[string]string, format Format) error {
	element := int64(4)
	switch format {
	case F32:
	case F16:
		element = 2
	default:
		return fmt.Errorf("%s: format %q is not one of F32, F16", path, format)
	}
	list = append([]Tensor(nil), list...)
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	header := map[string]any{}
	if len(metadata) > 0 {
		header["__metadata__"] = metadata
	}
	at := int64(0)
	for _, t := range list {
		if _, twice := header[t.Name]; twice || t.Name == "" || t.Name == "__metadata__" {
			return fmt.Errorf("%s: tensor name %q is used twice or reserved", path, t.Name)
		}
		if size(t.Shape) != len(t.Data) {
			return fmt.Errorf("%s: tensor %q of shape %v has %d values", path, t.Name, t.Shape, len(t.Data))
		}
		end := at + element*int64(len(t.Data))
		header[t.Name] = map[string]any{"dtype": format, "shape": append([]int{}, t.Shape...),
			"data_offsets": [2]int64{at, end}}
		at = end
	}
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	return atomicfile.Replace(path, 0o644, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<20)
		w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
		w.Write(text)
		var buffer []byte
		for _, t := range list {
			for from := 0; from < len(t.Data); from += 1 << 16 {
				buffer = buffer[:0]
				for i, v := range t.Data[from:min(from+1<<16, len(t.Data))] {
					if format == F32 {
						buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
						continue
					}
					h := float16.FromFloat32(v)
					if r := h.Float32(); r-r != 0 {
						return fmt.Errorf("%s: tensor %q: value %d (%v) does not fit F16", path, t.Name,
							from+i, v)
					}
					buffer = binary.LittleEndian.AppendUint16(buffer, uint16(h))
				}
				w.Write(buffer)
			}
		}
		return w.Flush()
	})
}

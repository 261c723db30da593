package devices

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"antipode/datasets/client"
	"antipode/datasets/table"
)

// Setup is what a child needs to begin.
type Setup struct {
	Kind   string `json:"kind"`   // of the device: "xla:cpu", "xla:cuda", "go"
	Plugin string `json:"plugin"` // absolute path; "" for the pure Go device
	Models string `json:"models"` // the folder of models in the store
	Budget int64  `json:"budget"` // the maximal size of the loaded models in bytes
}

// Stage is a stage with its arguments.
type Stage struct {
	Op     string            `json:"op"`
	Args   json.RawMessage   `json:"args"`
	Digest string            `json:"digest"`          // that the parent's worker has
	Files  map[string]string `json:"files,omitempty"` // digests of files that the parent has read
}

// Key identifies the stage among those of a child.
func (s *Stage) Key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", s.Op, s.Args, s.Digest))
	return hex.EncodeToString(sum[:12])
}

// Batch is the rows that a child computes at once.
type Batch struct {
	Stage Stage
	Job   string // jobs take turns
	Rows  *table.Frame

	// Began and Step are called, unless nil, when a child begins to compute, and with the steps of that.
	Began func()
	Step  func(done, total int)
}

// Result is what a child computed. With an error it has the rows that were done.
type Result struct {
	Rows  []int        // positions in the batch of the rows of Frame
	Frame *table.Frame // the columns that the stage adds
	Bad   []BadRow
	Files []File // new images; an image of Frame has the name of its file as path
	Notes []string
	Err   *table.Error
}

// BadRow is a row that cannot be computed.
type BadRow struct {
	Row    int    `json:"row"` // position in the batch
	Column string `json:"column"`
	Reason string `json:"reason"`
}

// File is a new image.
type File struct {
	Name      string `json:"name"`
	Extension string `json:"extension"`
	Size      int    `json:"size"`
	Data      []byte `json:"-"` // follows the message
}

// Types of messages of the parent.
const (
	helloType  = "hello"
	batchType  = "batch"
	cancelType = "cancel"
	closeType  = "close" // no more batches of a stage
)

// Types of messages of the child.
const (
	readyType = "ready"
	beatType  = "beat"
	beganType = "began"
	stepType  = "step"
	doneType  = "done"
)

// message is a line: fields of all types of messages.
type message struct {
	Type  string `json:"type"`
	Batch int64  `json:"batch,omitempty"`

	Setup *Setup `json:"setup,omitempty"` // of hello
	Stage *Stage `json:"stage,omitempty"` // of batch
	Job   string `json:"job,omitempty"`   // of batch
	Key   string `json:"key,omitempty"`   // of close

	Description string `json:"description,omitempty"` // of ready
	Done        int    `json:"done,omitempty"`        // of step
	Total       int    `json:"total,omitempty"`       // of step

	// of done
	Rows  []int        `json:"rows,omitempty"`
	Bad   []BadRow     `json:"bad,omitempty"`
	Files []File       `json:"files,omitempty"`
	Notes []string     `json:"notes,omitempty"`
	Error *table.Error `json:"error,omitempty"`

	// of beat and done
	Memory *client.MemoryStatus `json:"memory,omitempty"`
	Models []client.ModelStatus `json:"models,omitempty"`

	FrameBytes int64        `json:"frame_bytes,omitempty"`
	frame      *table.Frame // nil = none; follows the line
}

// writer sends messages. It is safe for concurrent use.
type writer struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func newWriter(out io.Writer) *writer { return &writer{out: bufio.NewWriterSize(out, 1<<16)} }

func (w *writer) send(m message) error {
	var rows bytes.Buffer
	if m.frame != nil {
		if err := m.frame.Encode(&rows); err != nil {
			return err
		}
		m.FrameBytes = int64(rows.Len())
	}
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.out.Write(append(line, '\n'))
	_, frameErr := w.out.Write(rows.Bytes())
	err = errors.Join(err, frameErr)
	for _, f := range m.Files {
		_, fileErr := w.out.Write(f.Data)
		err = errors.Join(err, fileErr)
	}
	return errors.Join(err, w.out.Flush())
}

// maxFile is the largest new image, in bytes.
const maxFile = 1 << 30

// receive reads a message. A truncated one is an error.
func receive(in *bufio.Reader) (m message, err error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("not a message: %w", err)
	}
	if m.FrameBytes > 0 {
		rest := &io.LimitedReader{R: in, N: m.FrameBytes}
		if m.frame, err = table.Decode(rest); err != nil {
			return m, err
		}
		if _, err := io.Copy(io.Discard, rest); err != nil {
			return m, err
		}
	}
	for i := range m.Files {
		f := &m.Files[i]
		if f.Size < 0 || f.Size > maxFile {
			return m, fmt.Errorf("not a message: a file of %d bytes", f.Size)
		}
		f.Data = make([]byte, f.Size)
		if _, err := io.ReadFull(in, f.Data); err != nil {
			return m, err
		}
	}
	return m, nil
}

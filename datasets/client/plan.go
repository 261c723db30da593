package client

import (
	"context"
	"fmt"
	"io"
	"sync"

	"antipode/datasets/table"
)

// Request is a plan and the options of its run.
type Request struct {
	Plan *table.Plan `json:"plan"`
	// SkipBad leaves out and lists bad rows instead of failing at the first one.
	SkipBad bool `json:"skip_bad,omitempty"`
	// RetryFailed computes the rows again whose stored outcome is "failed".
	RetryFailed bool `json:"retry_failed,omitempty"`
	Batch       int  `json:"batch,omitempty"`  // rows per call of a model; 0 = the stage's default
	Counts      bool `json:"counts,omitempty"` // return counts without rows
	// Save is the absolute path of a .parquet or .csv file that the backend also writes.
	Save       string   `json:"save,omitempty"`
	Columns    []string `json:"columns,omitempty"`     // with Save: the columns; empty = all but earlier vectors
	AllColumns bool     `json:"all_columns,omitempty"` // with Save: every column
	// Samples requests thumbnails of new images in the resident backend's progress; see [table.Sample].
	Samples bool `json:"samples,omitempty"`

	// Careful computes batches in a process of their own, and those that end it row by row: a row that ends it alone is
	// a bad row. [Backend.Run] sets it after the backend died.
	Careful bool `json:"careful,omitempty"`

	// Trace requests [Result.Trace].
	Trace bool `json:"trace,omitempty"`

	// Secrets are environment variables of the client that a stage needs, such as the key of an image API. No record,
	// log or digest contains them. nil = those of the process that runs the request; the resident backend uses none.
	Secrets map[string]string `json:"secrets,omitempty"`
}

// Result is the result of a run.
type Result struct {
	Frame    *table.Frame   `json:"-"`
	Rows     int            `json:"rows"`
	Bad      []table.BadRow `json:"bad,omitempty"`
	Computed int            `json:"computed"` // items computed in this run
	Found    int            `json:"found"`    // items found in the store
	Notes    []string       `json:"notes,omitempty"`
	Record   string         `json:"record,omitempty"` // id of the run record in the store
	Trace    *Trace         `json:"trace,omitempty"`  // what the run used, where [Request.Trace] is set
}

// Trace is what a run used, whether it computed its items or found them in the store.
type Trace struct {
	Results map[string]string `json:"results,omitempty"` // ids of its scores, by the digests of their plans
	Models  map[string]string `json:"models,omitempty"`  // SHA-256 of its models, by name
	Files   map[string]string `json:"files,omitempty"`   // SHA-256 of the files of tables and images that it read, by path
}

// Executor runs plans: the resident backend, or the engine that package kernel/backend/all registers in the process.
type Executor interface {
	Run(ctx context.Context, req Request, progress func(table.Progress)) (*Result, error)
}

var (
	executorMu sync.Mutex
	executor   Executor
)

// Register sets the executor of this process; nil = the resident backend.
func Register(e Executor) {
	executorMu.Lock()
	defer executorMu.Unlock()
	executor = e
}

// Registered returns the executor that [Register] set, or nil.
func Registered() Executor {
	executorMu.Lock()
	defer executorMu.Unlock()
	return executor
}

// Default returns the executor of plans: the registered one, or a client of the resident backend. say receives lines
// for the user.
func Default(say func(string)) (Executor, error) {
	if e := Registered(); e != nil {
		return e, nil
	}
	b, err := Connect()
	if err != nil {
		return nil, err
	}
	b.Say = say
	return b, nil
}

// readFrame reads a frame of so many bytes. The error is errDied if there are fewer.
func readFrame(in io.Reader, size int64) (*table.Frame, error) {
	rest := &io.LimitedReader{R: in, N: size}
	f, err := table.Decode(rest)
	if err == nil {
		return f, nil
	}
	if _, _ = io.Copy(io.Discard, rest); rest.N > 0 {
		return nil, errDied
	}
	return nil, fmt.Errorf("cannot read the backend's reply: %w", err)
}

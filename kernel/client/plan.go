package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Plan is one node of a table's plan: an operation, its arguments and the plans it reads. A Plan is data: making one does no work.
type Plan struct {
	Op     string          `json:"op"`               // for example "csv", "where", "embed", "score"
	Args   json.RawMessage `json:"args,omitempty"`   // the operation's own arguments
	Inputs []*Plan         `json:"inputs,omitempty"` // the tables it reads, in the operation's order
	Line   string          `json:"line,omitempty"`   // where the table was made, "file:line"; no part of the digest
}

// Digest identifies what the plan asks for: two plans with equal digests give the same table as long as the files they read are the same.
func (p *Plan) Digest() string {
	h := sha256.New()
	var walk func(*Plan)
	walk = func(p *Plan) {
		fmt.Fprintf(h, "%s\x00%d\x00%s\x00%d\x00", p.Op, len(p.Args), p.Args, len(p.Inputs))
		for _, in := range p.Inputs {
			walk(in)
		}
	}
	walk(p)
	return hex.EncodeToString(h.Sum(nil))
}

// Progress is one report on running work.
type Progress struct {
	Stage    string  `json:"stage"`          // what is being done, for example "embed archipelago-vit"
	Done     int     `json:"done"`           // items finished, found ones among them
	Total    int     `json:"total"`          // items in all; 0 = not known
	Computed int     `json:"computed"`       // items computed in this run
	Found    int     `json:"found"`          // items found in the store
	Rate     float64 `json:"rate,omitempty"` // computed items a second; 0 = not known yet
	Note     string  `json:"note,omitempty"` // a line for the user, for example a warning; shown once

	// The batch in flight, where its stage tells: steps done and in all, and how many items' worth of work that is.
	Step  int     `json:"step,omitempty"`
	Steps int     `json:"steps,omitempty"`
	Part  float64 `json:"part,omitempty"`

	// Samples are the pictures that were made last, oldest first, MaxSamples at most; nil = as in the stage's last report.
	Samples []Sample `json:"samples,omitempty"`
}

// MaxSamples is how many pictures progress shows at most.
const MaxSamples = 8

// Sample is a finished picture, for show.
type Sample struct {
	Caption string `json:"caption"` // the row's prompt or id, cut where it is long; not escaped
	Image   Image  `json:"image,omitzero"`
	Thumb   []byte `json:"thumb,omitempty"` // a small JPEG of it; none = not to be shown
}

// Left is how long the rest of the stage's work takes at the present rate; 0 = none is left, or not known.
func (p Progress) Left() time.Duration {
	left := float64(p.Total-p.Done) - p.Part
	if p.Rate <= 0 || left <= 0 {
		return 0
	}
	return time.Duration(left / p.Rate * float64(time.Second))
}

// BadRow is a row that could not be used, with the reason.
type BadRow struct {
	Row    int    `json:"row"`    // position in the table the stage read, from 1
	ID     string `json:"id"`     // the row's id, where it has one
	Column string `json:"column"` // the column that holds the culprit
	Reason string `json:"reason"` // one line: what is wrong, with the file, and the mend
}

func (b BadRow) Error() string {
	return fmt.Sprintf("row %d (id %q), column %s: %s", b.Row, b.ID, b.Column, b.Reason)
}

// Request is a plan to run and how.
type Request struct {
	Plan       *Plan    `json:"plan"`
	SkipBad    bool     `json:"skip_bad,omitempty"`    // leave bad rows out and list them, instead of failing at the first
	Batch      int      `json:"batch,omitempty"`       // rows a model takes at a time; 0 = the stage's own choice
	Counts     bool     `json:"counts,omitempty"`      // send no rows, only the Result's numbers
	Save       string   `json:"save,omitempty"`        // absolute path: the backend also writes the table there (.parquet or .csv)
	Columns    []string `json:"columns,omitempty"`     // with Save: the columns kept; empty = all but earlier vectors
	AllColumns bool     `json:"all_columns,omitempty"` // with Save: keep every column
	Samples    bool     `json:"samples,omitempty"`     // the resident backend's progress brings small pictures along; see Sample

	// Secrets are environment variables of the asking process that a stage may need, such as a key for an image API. They go
	// to the backend and no further: no record, log or digest holds them.
	Secrets map[string]string `json:"secrets,omitempty"`
}

// Result is what a run gives.
type Result struct {
	Frame    *Frame   `json:"-"`
	Rows     int      `json:"rows"`
	Bad      []BadRow `json:"bad,omitempty"`
	Computed int      `json:"computed"` // items computed in this run
	Found    int      `json:"found"`    // items found in the store
	Notes    []string `json:"notes,omitempty"`
	Record   string   `json:"record,omitempty"` // id of the run record in the store
}

// Executor runs plans. The resident backend is one; so is the in-process one of package gomlxmodels/all.
type Executor interface {
	Run(ctx context.Context, req Request, progress func(Progress)) (*Result, error)
}

var (
	executorMu sync.Mutex
	executor   Executor
)

// Register makes e the executor of this process, in place of the resident backend.
func Register(e Executor) {
	executorMu.Lock()
	defer executorMu.Unlock()
	executor = e
}

// Registered returns the executor of this process, or nil where plans go to the resident backend.
func Registered() Executor {
	executorMu.Lock()
	defer executorMu.Unlock()
	return executor
}

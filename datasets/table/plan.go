package table

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Plan is one node of a table's plan: an operation, its arguments and the plans it reads. A Plan is data: making one
// does no work.
type Plan struct {
	Op     string          `json:"op"`               // for example "csv", "where", "embed", "score"
	Args   json.RawMessage `json:"args,omitempty"`   // the operation's own arguments
	Inputs []*Plan         `json:"inputs,omitempty"` // the tables it reads, in the operation's order
	Line   string          `json:"line,omitempty"`   // where the table was made, "file:line"; no part of the digest

	// Secrets are the environment variables that the operation needs, such as the key of an image API; no part of the
	// digest. The process that requests a run sends their values to the backend, and no others.
	Secrets []string `json:"secrets,omitempty"`

	// Local computes Args in the process that requests a run, for a function that only this process has; see
	// [Plan.Resolved]. It is no part of the digest.
	Local func(ctx context.Context) (json.RawMessage, error) `json:"-"`
}

// Resolved returns the plan with the Args that the functions Local of it and its inputs compute.
func (p *Plan) Resolved(ctx context.Context) (*Plan, error) {
	done := map[*Plan]*Plan{}
	var resolve func(p *Plan) (*Plan, error)
	resolve = func(p *Plan) (_ *Plan, err error) {
		if done[p] != nil {
			return done[p], nil
		}
		out := *p
		out.Inputs = slices.Clone(p.Inputs)
		for i, in := range p.Inputs {
			if out.Inputs[i], err = resolve(in); err != nil {
				return nil, err
			}
		}
		if p.Local != nil {
			if out.Args, err = p.Local(ctx); err != nil {
				return nil, err
			}
			out.Local = nil
		}
		done[p] = &out
		return &out, nil
	}
	return resolve(p)
}

// All yields the plans that the plan reads, each after its own inputs, and the plan itself.
func (p *Plan) All() iter.Seq[*Plan] {
	return func(yield func(*Plan) bool) { p.walk(yield) }
}

// walk yields as All does, until yield returns false; it returns whether all were.
func (p *Plan) walk(yield func(*Plan) bool) bool {
	for _, in := range p.Inputs {
		if !in.walk(yield) {
			return false
		}
	}
	return yield(p)
}

// AllSecrets lists the Secrets of the plan and of its inputs.
func (p *Plan) AllSecrets() (names []string) {
	for q := range p.All() {
		names = append(names, q.Secrets...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Files lists the names of the files and folders that the plan and its inputs read, without their folders.
func (p *Plan) Files() (names []string) {
	for q := range p.All() {
		var source struct{ Path string }
		if len(q.Inputs) == 0 && json.Unmarshal(q.Args, &source) == nil && source.Path != "" {
			if strings.Contains(source.Path, "://") { // without the options of a URL
				source.Path, _, _ = strings.Cut(source.Path, "?")
			}
			names = append(names, filepath.Base(source.Path))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// InFiles puts the names of the [Plan.Files] in front of an error; a plan that reads none leaves it as it is.
func (p *Plan) InFiles(err error) error {
	if files := p.Files(); len(files) > 0 {
		return fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
	}
	return err
}

// A plan may have at most MaxDepth operations one after another, and MaxOperations in all.
const (
	MaxDepth      = 1000
	MaxOperations = 10_000
)

// Check reports a plan of more than [MaxDepth] operations one after another or [MaxOperations] in all.
func (p *Plan) Check() error {
	n := 0
	var walk func(p *Plan, depth int) error
	walk = func(p *Plan, depth int) error {
		if n++; n > MaxOperations || depth > MaxDepth {
			return fmt.Errorf("the plan has more than %d operations one after another, or more than %d in all; save a "+
				"table in between and read it again", MaxDepth, MaxOperations)
		}
		for _, in := range p.Inputs {
			if in == nil {
				return fmt.Errorf("the input of %q is missing", p.Op)
			}
			if err := walk(in, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(p, 1)
}

// Digest identifies the result of the plan: two plans with equal digests give the same table as long as the files
// they read are the same.
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

	// Samples are the images that were made last, oldest first, MaxSamples at most; nil = as in the stage's last
	// report.
	Samples []Sample `json:"samples,omitempty"`
}

// MaxSamples is how many images progress shows at most.
const MaxSamples = 8

// Sample is a finished image, for show.
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
	Column string `json:"column"` // the column that holds the offending value
	Reason string `json:"reason"` // one line: what is wrong, with the file, and the fix
}

func (b BadRow) Error() string {
	if b.Column == "" { // the whole row
		return fmt.Sprintf("row %d (id %q): %s", b.Row, b.ID, b.Reason)
	}
	return fmt.Sprintf("row %d (id %q), column %s: %s", b.Row, b.ID, b.Column, b.Reason)
}

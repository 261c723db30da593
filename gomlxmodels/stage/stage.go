// Package stage says what a row-wise stage is: something that gives each row of a table new columns, one row at a time
// as far as anyone can tell, and whose results are therefore kept row by row in the store.
package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"antipode/kernel/client"
)

// Stage is a kind of row-wise work, for example "embed". It is registered once, by the package that implements it.
type Stage struct {
	Name    string // the plan's Op
	Version int    // raised in the commit that may move an output by more than float noise

	// Open makes the stage ready for one set of arguments: resolves the model, reads its configuration. It must be
	// quick and must not touch the device: Worker.Load does that, and only if a row is not in the store yet.
	Open func(ctx context.Context, env Env, args json.RawMessage) (Worker, error)
}

// Env is what the engine lends a stage.
type Env interface {
	// Device opens the accelerator's handle the first time; its dynamic type is *device.Device of gomlxmodels/device.
	Device() (any, error)
	// DeviceKind is the kind of the device ("xla:cpu", "xla:cuda", "go") without opening it: it is part of every item's digest.
	DeviceKind() (string, error)
	// FileDigest hashes a file through the store's index of path, size, time and inode.
	FileDigest(path string) (string, error)
	// PutBlob stores bytes and returns where: used by stages that make pictures.
	PutBlob(data []byte, extension string) (client.Image, error)
	// Shared returns a counted, shared, costly value (a loaded model) under the memory budget; release it when done.
	Shared(key string, open func() (value any, bytes int64, close func(), err error)) (value any, release func(), err error)
	// OnDevice runs f on the one goroutine that owns the device.
	OnDevice(ctx context.Context, f func() error) error
	// ModelDir is the folder of models in the store.
	ModelDir() string
}

// Row is one row as a stage sees it.
type Row struct {
	Frame *client.Frame
	Index int
}

// Text returns a text value, "" where the column is missing.
func (r Row) Text(column string) string {
	if v := r.Frame.Texts(column); v != nil {
		return v[r.Index]
	}
	return ""
}

// Image returns an image value, the zero Image where the column is missing.
func (r Row) Image(column string) client.Image {
	if v := r.Frame.Images(column); v != nil {
		return v[r.Index]
	}
	return client.Image{}
}

// Mask returns a mask value, the zero Mask where the column is missing.
func (r Row) Mask(column string) client.Mask {
	if v := r.Frame.Masks(column); v != nil {
		return v[r.Index]
	}
	return client.Mask{}
}

// Value is one output value; the field of the output column's kind is used.
type Value struct {
	Text   string
	Number float64
	Image  client.Image
	Mask   client.Mask
	Vector []float32
}

// Worker does a stage's work for one set of arguments.
type Worker interface {
	// Label is what progress shows, for example "embed archipelago-vit".
	Label() string
	// Digest covers all a result depends on besides the row: parameters, model digest, dtype, device kind.
	Digest() string
	// Check says what is wrong with the table's columns, before any work.
	Check(columns []client.ColumnSpec) error
	// Outputs are the columns the stage adds to a table of these columns.
	Outputs(columns []client.ColumnSpec) []client.ColumnSpec
	// Key names the row's own inputs (content hashes, text, seed): rows with equal keys get equal results.
	Key(row Row) string
	// Batch is how many rows Compute takes at once, at most.
	Batch() int
	// Load makes the model ready; called once, before the first Prepare, only if there is work.
	Load(ctx context.Context) error
	// Prepare does a row's host work (decode, resize) and may run on several goroutines at once. Its error makes the row bad.
	Prepare(ctx context.Context, row Row) (prepared any, column string, err error)
	// Compute takes prepared rows, at most Batch of them, and gives for each the values of Outputs in their order.
	// It calls Env.OnDevice itself for what needs the device.
	Compute(ctx context.Context, prepared []any) ([][]Value, error)
	// Close releases what the worker holds. The model itself may stay in the shared pool.
	Close()
}

type stepsKey struct{}

// WithSteps gives a context whose [Step] calls tell. The engine gives such a one to Compute.
func WithSteps(ctx context.Context, tell func(done, total int)) context.Context {
	return context.WithValue(ctx, stepsKey{}, tell)
}

// Step tells how far the batch that Compute has in hand is: done of total steps, for example of denoising. It costs next to nothing,
// may come at any rate and from any goroutine, and does nothing where nobody listens. A Compute that takes longer than a
// second or two should call it, with the context it was given:
//
//	sampler.Generate(ctx, requests, func(p diffusion.Progress) { stage.Step(ctx, p.Step, p.Steps) })
func Step(ctx context.Context, done, total int) {
	if tell, ok := ctx.Value(stepsKey{}).(func(done, total int)); ok {
		tell(done, total)
	}
}

// Keeper is a [Worker] whose results are not all kept: one that another run should try to better, such as a request that timed
// out, is given for this run alone.
type Keeper interface {
	Keep(values []Value) bool
}

// Decodable is the stage that decodes a row's picture and holds its mask against it: rows whose picture cannot be used
// are bad. It gives the number column [Pixels], whose name no table of a user's has.
const (
	Decodable = "decodable"
	Pixels    = "\x00pixels"
)

var stages = map[string]Stage{}

// Register makes a stage known under its name. It panics on a second registration: that is a mistake in the program.
func Register(s Stage) {
	if _, twice := stages[s.Name]; twice {
		panic(fmt.Sprintf("stage: %q registered twice", s.Name))
	}
	stages[s.Name] = s
}

// Find returns the stage of that name.
func Find(name string) (Stage, bool) {
	s, ok := stages[name]
	return s, ok
}

// Names lists the registered stages.
func Names() []string {
	var names []string
	for n := range stages {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

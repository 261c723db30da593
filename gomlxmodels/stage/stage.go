// Package stage defines row-wise stages: operations that add columns to each row of a table, where a row's result
// depends on that row alone. The store therefore caches results by row.
//
// A stage registers itself with [Register]; the engine calls its Open for the arguments of a plan and drives the
// [Worker] that it returns [Opened]. Workers share [Load] (one loaded model for several runs), [ReadImage], [Needs] and
// [Precision]. The stages are in the folders below this one.
package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/gomlx/compute"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// Stage is a kind of row-wise work, for example "embed". It is registered once, by the package that implements it.
type Stage struct {
	Name    string // the plan's Op
	Version int    // raised in the commit that may move an output by more than float noise

	// Open prepares the stage for one set of arguments: it finds the model and reads its configuration. It must be
	// quick: [Env.DeviceKind] may open the device, but only Worker.Load and Compute use it, and only if a row is not in
	// the store yet.
	Open func(ctx context.Context, env Env, args json.RawMessage) (*Opened, error)
}

// Env is what the engine provides to a stage.
type Env interface {
	// Backend returns the accelerator, which is opened the first time. Only [Env.OnDevice] may use it.
	Backend() (compute.Backend, error)
	// DeviceKind returns the kind of the device ("xla:cpu", "xla:cuda", "go"), which is opened the first time. The kind
	// is part of the digest of a stage that uses the device.
	DeviceKind() (string, error)
	// OnDevice runs f on the one goroutine that owns the device.
	OnDevice(ctx context.Context, f func() error) error
	// Shared returns a shared, reference-counted value (a loaded model), which counts towards the memory budget;
	// release it when done.
	Shared(key string, open func() (value any, bytes int64, close func(), err error)) (value any, release func(),
		err error)
	// FileDigest returns the SHA-256 of a file, from the store's index if path, size, time and inode are unchanged.
	FileDigest(path string) (string, error)
	// PutBlob stores the bytes of a new image.
	PutBlob(data []byte, extension string) (table.Image, error)
	// ModelDir is the folder of models in the store.
	ModelDir() string
	// NoteModel adds a model's digest to the record of the run, and where it comes from, such as OWNER/NAME@COMMIT of
	// the hub; "" = not known.
	NoteModel(model, digest, source string)
	// Note shows the user a line, for example a warning, once, and adds it to the record of the run.
	Note(format string, args ...any)
	// First reports whether it is called with this key for the first time in the run.
	First(key string) bool
	// Secret returns an environment variable of the process that requested the run, else of this one. The plan must
	// list it in its Secrets; see [table.Plan].
	Secret(name string) string
}

// Row is one row as a stage sees it. Its frame may lack columns of vectors, which stages do not read.
type Row struct {
	Frame *table.Frame
	Index int
}

// Text returns a text value, or a number as text; "" where the column is missing.
func (r Row) Text(column string) string {
	if c := r.Frame.Column(column); c != nil {
		return c.Text(r.Index)
	}
	return ""
}

// Number returns a number, NaN where the column is missing.
func (r Row) Number(column string) float64 {
	if c := r.Frame.Column(column); c != nil && c.Kind == table.KindNumber {
		return c.Numbers[r.Index]
	}
	return math.NaN()
}

// Seed returns the value of the column seed, a whole number from 0 to 2^64−1.
func (r Row) Seed() (uint64, error) { return datasets.Seed(r.Frame, r.Index) }

// SeedKey returns the value of the column seed as part of a key.
func (r Row) SeedKey() string {
	if seed := r.Number("seed"); seed == seed {
		return fmt.Sprint(seed)
	}
	return r.Text("seed")
}

// Image returns an image value, the zero Image where the column is missing.
func (r Row) Image(column string) table.Image {
	if v := r.Frame.Images(column); v != nil {
		return v[r.Index]
	}
	return table.Image{}
}

// Mask returns a mask value, the zero Mask where the column is missing.
func (r Row) Mask(column string) table.Mask {
	if v := r.Frame.Masks(column); v != nil {
		return v[r.Index]
	}
	return table.Mask{}
}

// Reader is a [Worker] that reports what reading the rows' values lost or guessed, such as texts that were cut.
type Reader interface {
	// Readings returns the readings of rows with the columns of Outputs; it is called for results that the store had
	// too.
	Readings(rows *table.Frame) []table.Reading
}

// Worker computes a stage for one set of arguments. P is a prepared row.
type Worker[P any] interface {
	Common
	// Prepare does a row's work on the host (decode, resize). It may run on several goroutines at once. An error makes
	// the row bad; column is the column with the offending value.
	Prepare(ctx context.Context, row Row) (prepared P, column string, err error)
	// Compute takes at most Batch prepared rows and returns, for each, the values of Outputs in their order. It calls
	// Env.OnDevice for what needs the device. With an error it may return the values of the rows that are done, nil for
	// the others: they are stored.
	Compute(ctx context.Context, prepared []P) ([][]table.Value, error)
}

// Common is what does not depend on the type of a [Worker]'s prepared rows.
type Common interface {
	// Label is what progress shows, for example "embed archipelago-vit".
	Label() string
	// Digest covers everything a result depends on besides the row: parameters, model digest, dtype, device kind.
	Digest() string
	// Check reports what is wrong with the table's columns, before any work.
	Check(columns []table.ColumnSpec) error
	// Outputs are the columns the stage adds to a table of these columns.
	Outputs(columns []table.ColumnSpec) []table.ColumnSpec
	// Key identifies the row's inputs (content hashes, text, seed): rows with equal keys have equal results.
	Key(row Row) string
	// Batch is the largest number of rows per call of Compute.
	Batch() int
	// Load loads the model. It is called once, before the first Prepare, and only if there is work.
	Load(ctx context.Context) error
	// Close releases the worker's resources. The model may stay loaded for other runs. Label, Key and
	// [Reader.Readings] may be called after it.
	Close()
}

// Opened is a [Worker] as the engine drives it, whatever its prepared rows are.
type Opened struct {
	Common                  // may be a [Reader], [Keeper], [RowChecker] and [Paid], too
	Rows   func(n int) Rows // begins a batch of n rows
}

// Rows are the rows of a batch, by position.
type Rows interface {
	// Prepare is the worker's. It may run on several goroutines at once, for different positions.
	Prepare(ctx context.Context, at int, row Row) (column string, err error)
	// Compute is the worker's, for prepared rows.
	Compute(ctx context.Context, at []int) ([][]table.Value, error)
}

// Of returns a worker for the engine.
func Of[P any](w Worker[P]) *Opened {
	return &Opened{w, func(n int) Rows { return &rows[P]{w, make([]P, n)} }}
}

type rows[P any] struct {
	w        Worker[P]
	prepared []P
}

func (r *rows[P]) Prepare(ctx context.Context, at int, row Row) (column string, err error) {
	r.prepared[at], column, err = r.w.Prepare(ctx, row)
	return column, err
}

func (r *rows[P]) Compute(ctx context.Context, at []int) ([][]table.Value, error) {
	list := make([]P, len(at))
	for i, k := range at {
		list[i] = r.prepared[k]
	}
	return r.w.Compute(ctx, list)
}

type stepsKey struct{}

// WithSteps returns a context whose [Step] calls report. The engine passes such a context to Compute.
func WithSteps(ctx context.Context, report func(done, total int)) context.Context {
	return context.WithValue(ctx, stepsKey{}, report)
}

// Step reports the progress of the batch that Compute works on: done of total steps, for example of denoising. It is
// cheap, may be called from any goroutine, and does nothing for other contexts. A Compute that takes longer than a
// second should call it with the context it was given:
//
//	sampler.Generate(ctx, requests, func(p diffusion.Progress) { stage.Step(ctx, p.Step, p.Steps) })
func Step(ctx context.Context, done, total int) {
	if report, ok := ctx.Value(stepsKey{}).(func(done, total int)); ok {
		report(done, total)
	}
}

// Keeper is a [Worker] of which not every result is stored: a result that another run should compute again, such as a
// request that timed out, is returned in this run only.
type Keeper interface {
	Keep(values []table.Value) bool
}

// RowChecker is a [Worker] that refuses some rows. The engine calls CheckRow for each row before any work; an error
// ends the run, while an error of Prepare makes one row bad.
type RowChecker interface {
	CheckRow(row Row) error
}

// Paid is a [Worker] whose items are paid for. Price returns the price of one in US dollars, NaN if it is not known
// before the request, and in words for people: its date, or why there is none.
type Paid interface {
	Price() (dollars float64, words string)
}

// Decodable is the stage that decodes a row's image and checks its mask against it: rows whose image cannot be used
// are bad. It adds the number column [Pixels], a name that no table of a user has.
const (
	Decodable = "decodable"
	Pixels    = "\x00pixels"
)

var registered sync.Map // Stages by name

// Find returns the registered stage of a name.
func Find(name string) (s Stage, known bool) {
	found, known := registered.Load(name)
	if known {
		s = found.(Stage)
	}
	return s, known
}

// Register registers a stage as an operation of plans, under its name. It panics if the name is taken: that is a
// mistake in the program.
func Register(s Stage) {
	if _, taken := registered.LoadOrStore(s.Name, s); taken || operation.EvaluatorOf(s.Name) != nil {
		panic(fmt.Sprintf("stage: %q is registered twice", s.Name))
	}
}

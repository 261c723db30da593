package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
)

func init() {
	stage.Register(stage.Stage{Name: datasets.CutOp, Version: 1, Open: openCutter})
}

// importedSource lists the images of a folder as package datasets does, and hashes them with the store's index.
func (r *run) importedSource(p *table.Plan, a datasets.ImportedArgs) (*table.Frame, error) {
	f, err := a.Evaluate(r.note)
	if err != nil {
		return nil, err
	}
	return r.resolve(f, &source{origin: origin{name: filepath.Base(a.Dir), dir: a.Dir, folder: true}, plan: p})
}

// cutter is the row-wise stage that splits grids into their images. It needs no device.
type cutter struct {
	datasets.CutArgs
	env stage.Env

	mu   sync.Mutex
	open []openGrid // recently used grids, the latest last; the rows of a grid are adjacent
}

// openGrid is a grid that is decoded by the first call of decode.
type openGrid struct {
	digest string
	decode func() (*preprocess.RGB, error)
}

func openCutter(_ context.Context, env stage.Env, args json.RawMessage) (*stage.Opened, error) {
	c := &cutter{env: env}
	if err := json.Unmarshal(args, &c.CutArgs); err != nil {
		return nil, err
	}
	if c.Grid < 1 {
		return nil, fmt.Errorf("a grid of %d × %[1]d images", c.Grid)
	}
	return stage.Of(c), nil
}

func (c *cutter) Label() string              { return "cut grids" }
func (c *cutter) Digest() string             { return fmt.Sprintf("%d %d %d", c.Grid, c.Margin, c.Gap) }
func (c *cutter) Batch() int                 { return 64 }
func (c *cutter) Load(context.Context) error { return nil }
func (c *cutter) Close()                     {}

func (c *cutter) Check(columns []table.ColumnSpec) error {
	return stage.Needs("cut", columns, datasets.Columns("image:image", "cell:number")...)
}

func (c *cutter) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("image:image")
}

func (c *cutter) Key(row stage.Row) string {
	return fmt.Sprintf("%s %v", stage.ImageKey(row.Image("image")), row.Frame.Numbers("cell")[row.Index])
}

func (c *cutter) Prepare(_ context.Context, row stage.Row) ([]table.Value, string, error) {
	cell := row.Frame.Numbers("cell")[row.Index]
	if !(cell >= 1 && cell <= float64(c.Grid*c.Grid)) {
		return nil, "cell", fmt.Errorf("a grid of %d × %[1]d has no image %v", c.Grid, cell)
	}
	grid, err := c.grid(row.Image("image"))()
	if err != nil {
		return nil, "image", err
	}
	cut, err := c.cut(grid, int(cell)-1)
	if err != nil {
		return nil, "image", fmt.Errorf("%s: %w", filepath.Base(row.Image("image").Path), err)
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, cut); err != nil {
		return nil, "image", err
	}
	blob, err := c.env.PutBlob(b.Bytes(), ".png")
	return []table.Value{{Image: blob}}, "image", err
}

func (c *cutter) Compute(_ context.Context, prepared [][]table.Value) ([][]table.Value, error) {
	return prepared, nil
}

// grid returns the function that decodes a grid. Calls for the same file share one decoded image while it is recent.
func (c *cutter) grid(file table.Image) func() (*preprocess.RGB, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.open, func(g openGrid) bool { return g.digest == file.SHA256 })
	if at < 0 {
		c.open = append(c.open[max(0, len(c.open)-runtime.NumCPU()):],
			openGrid{file.SHA256, sync.OnceValues(func() (*preprocess.RGB, error) {
				return stage.ReadImage(file)
			})})
		at = len(c.open) - 1
	}
	return c.open[at].decode
}

// cut returns image number cell of a grid, counted from 0, row by row.
func (c *cutter) cut(grid *preprocess.RGB, cell int) (image.Image, error) {
	around := 2*c.Margin + (c.Grid-1)*c.Gap
	width, height := (grid.Width-around)/c.Grid, (grid.Height-around)/c.Grid
	if width < 1 || height < 1 || width*c.Grid+around != grid.Width || height*c.Grid+around != grid.Height {
		return nil, fmt.Errorf("%d×%d pixels are no grid of %d × %[3]d images of one size with margin %d and gap %d",
			grid.Width, grid.Height, c.Grid, c.Margin, c.Gap)
	}
	left, top := c.Margin+cell%c.Grid*(width+c.Gap), c.Margin+cell/c.Grid*(height+c.Gap)
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		from, to := grid.Pix[3*((top+y)*grid.Width+left):], out.Pix[y*out.Stride:]
		for x := range width {
			to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = from[3*x], from[3*x+1], from[3*x+2], 255
		}
	}
	return out, nil
}

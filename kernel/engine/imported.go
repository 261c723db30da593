package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"antipode/datasets"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
)

func init() {
	builtinSources[datasets.ImportedOp] = (*run).importedSource
	stage.Register(stage.Stage{Name: datasets.CutOp, Version: 1, Open: openCutter})
}

// importedSource lists a folder's pictures as package datasets does, and hashes them through the store's index.
func (r *run) importedSource(raw json.RawMessage) (*client.Frame, error) {
	var a datasets.ImportedArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	f, err := datasets.FindSource(datasets.ImportedOp)(r.ctx, raw, datasets.SourceEnv{Home: r.e.Store.Dir(), Note: r.note})
	if err != nil {
		return nil, err
	}
	return r.resolve(f, filepath.Base(a.Dir), filepath.Join(a.Dir, "."), a.Dir)
}

// cutter is the row-wise stage that cuts grids into their pictures. It needs no device.
type cutter struct {
	datasets.CutArgs
	env stage.Env

	mu    sync.Mutex
	grids map[string]func() ([]client.Image, error) // by the grid's digest: its pictures, row by row, cut at the first call
}

func openCutter(_ context.Context, env stage.Env, args json.RawMessage) (stage.Worker, error) {
	c := &cutter{env: env, grids: map[string]func() ([]client.Image, error){}}
	if err := json.Unmarshal(args, &c.CutArgs); err != nil {
		return nil, err
	}
	if c.Grid < 1 {
		return nil, fmt.Errorf("a grid of %d × %[1]d pictures", c.Grid)
	}
	return c, nil
}

func (c *cutter) Label() string              { return "cut grids" }
func (c *cutter) Digest() string             { return fmt.Sprintf("%d %d %d", c.Grid, c.Margin, c.Gap) }
func (c *cutter) Batch() int                 { return 64 }
func (c *cutter) Load(context.Context) error { return nil }
func (c *cutter) Close()                     {}

func (c *cutter) Check(columns []client.ColumnSpec) error {
	for _, need := range datasets.Columns("image:image", "cell:number") {
		if !slices.Contains(columns, need) {
			return fmt.Errorf("cut needs the column %q (%s); there are: %s", need.Name, need.Kind, client.NameList(columns))
		}
	}
	return nil
}

func (c *cutter) Outputs([]client.ColumnSpec) []client.ColumnSpec {
	return datasets.Columns("image:image")
}

func (c *cutter) Key(row stage.Row) string {
	return fmt.Sprintf("%s %v", row.Image("image").SHA256, row.Frame.Numbers("cell")[row.Index])
}

func (c *cutter) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	cell := row.Frame.Numbers("cell")[row.Index]
	if !(cell >= 1 && cell <= float64(c.Grid*c.Grid)) {
		return nil, "cell", fmt.Errorf("a grid of %d × %[1]d has no picture %v", c.Grid, cell)
	}
	grid := row.Image("image")
	c.mu.Lock()
	cut := c.grids[grid.SHA256]
	if cut == nil {
		cut = sync.OnceValues(func() ([]client.Image, error) { return c.cut(grid) })
		c.grids[grid.SHA256] = cut
	}
	c.mu.Unlock()
	pictures, err := cut()
	if err != nil {
		return nil, "image", err
	}
	return pictures[int(cell)-1], "", nil
}

func (c *cutter) Compute(_ context.Context, prepared []any) ([][]stage.Value, error) {
	out := make([][]stage.Value, len(prepared))
	for i, p := range prepared {
		out[i] = []stage.Value{{Image: p.(client.Image)}}
	}
	return out, nil
}

// cut keeps a grid's pictures in the store, row by row.
func (c *cutter) cut(file client.Image) ([]client.Image, error) {
	if file.Path == "" {
		return nil, errors.New("the row has no grid to cut")
	}
	data, err := os.ReadFile(file.Path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", filepath.Base(file.Path), plain(err))
	}
	grid, err := preprocess.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file.Path), err)
	}
	around := 2*c.Margin + (c.Grid-1)*c.Gap
	width, height := (grid.Width-around)/c.Grid, (grid.Height-around)/c.Grid
	if width < 1 || height < 1 || width*c.Grid+around != grid.Width || height*c.Grid+around != grid.Height {
		return nil, fmt.Errorf("%s: %d×%d pixels are no grid of %d × %[4]d pictures of one size with margin %d and gap %d",
			filepath.Base(file.Path), grid.Width, grid.Height, c.Grid, c.Margin, c.Gap)
	}
	out := make([]client.Image, 0, c.Grid*c.Grid)
	for row := range c.Grid {
		for column := range c.Grid {
			cell := image.NewNRGBA(image.Rect(0, 0, width, height))
			draw.Draw(cell, cell.Rect, grid, image.Pt(c.Margin+column*(width+c.Gap), c.Margin+row*(height+c.Gap)), draw.Src)
			var b bytes.Buffer
			if err := png.Encode(&b, cell); err != nil {
				return nil, err
			}
			blob, err := c.env.PutBlob(b.Bytes(), ".png")
			if err != nil {
				return nil, err
			}
			out = append(out, blob)
		}
	}
	return out, nil
}

package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"antipode/datasets/cell"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
)

// Rows runs the table and returns its rows.
func (t Table) Rows(ctx context.Context) (*Frame, error) {
	if t.frame != nil {
		return t.frame, nil
	}
	res, err := t.request(ctx, client.Request{}, true)
	if err != nil {
		return nil, err
	}
	return res.Frame, nil
}

// RunE runs the table without fetching its rows and returns the counts of rows and items.
func (t Table) RunE(ctx context.Context) (*client.Result, error) {
	return t.request(ctx, client.Request{Counts: true}, false)
}

// Run runs the table and prints one line: the numbers of rows, of items computed, and of items found in the store. On
// failure it ends a notebook cell with one line, and panics elsewhere.
func (t Table) Run() {
	ctx, stop := cell.Context()
	defer stop()
	res, err := t.RunE(ctx)
	if err != nil {
		cell.Fail(err)
		return
	}
	name := t.name
	if name == "" && t.plan != nil {
		name = t.plan.Op
	}
	cell.Print(Summary(name, res))
}

// Summary returns the line that [Table.Run] prints.
func Summary(name string, res *client.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d rows", name, res.Rows)
	if res.Computed+res.Found > 0 {
		fmt.Fprintf(&b, ", %d items computed, %d found in the store", res.Computed, res.Found)
	}
	if len(res.Bad) > 0 {
		fmt.Fprintf(&b, ", %d bad rows left out", len(res.Bad))
	}
	b.WriteByte('\n')
	return b.String()
}

// SaveE is [Table.Save] for programs: it returns errors.
func (t Table) SaveE(ctx context.Context, path string) (*client.Result, error) {
	switch objecturl.Ext(path) {
	case ".parquet", ".csv":
	default:
		return nil, fmt.Errorf("save %s: unknown format; use a name that ends in .parquet or .csv", path)
	}
	abs, err := objecturl.Resolve(path)
	if err != nil {
		return nil, err
	}
	return t.request(ctx, client.Request{Counts: true, Save: abs, AllColumns: true}, false)
}

// Save runs the table and writes it to a .parquet or .csv file, or to an object with a URL such as
// s3://BUCKET/NAME.parquet. On failure it ends a notebook cell with one line, and
// panics elsewhere.
func (t Table) Save(path string) {
	ctx, stop := cell.Context()
	defer stop()
	res, err := t.SaveE(ctx, path)
	if err != nil {
		cell.Fail(err)
		return
	}
	cell.Print(Summary(objecturl.Base(path), res))
}

// request sends the plan to the executor. With estimate, work of more than a minute is announced with one line.
func (t Table) request(ctx context.Context, req client.Request, estimate bool) (*client.Result, error) {
	exec, req, err := t.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	req.Samples, req.Trace = cell.InNotebook(), os.Getenv(client.JournalVar) != ""
	bar := cell.NewProgress()
	defer bar.Close()
	announced := !estimate
	defer cell.Caches(time.Now())
	res, err := exec.Run(ctx, req, func(p table.Progress) {
		if left := p.Left(); !announced && left > time.Minute {
			bar.Announce(fmt.Sprintf("%s: %d items, about %.0f min", p.Stage, p.Total-p.Done, left.Minutes()))
			announced = true
		}
		bar.Update(p)
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var remote *table.Error
		if errors.As(err, &remote) {
			return nil, remote
		}
		return nil, err
	}
	if req.Trace {
		err = client.AppendJournal(os.Getenv(client.JournalVar), req, res)
	}
	return res, err
}

// prepare returns the executor, and the request with the plan.
func (t Table) prepare(ctx context.Context, req client.Request) (client.Executor, client.Request, error) {
	plan, err := t.Plan()
	if err == nil {
		req.Plan, err = plan.Resolved(ctx)
	}
	if err != nil {
		return nil, req, err
	}
	exec, err := client.Default(cell.Say)
	return exec, req, err
}

// Settled returns the table with the columns that it has when it runs, for which the source of an open one is read,
// unless they are given. A table that cannot be read is in error.
func (a Author) Settled(columns ...table.ColumnSpec) Author {
	if !a.open || a.err != nil {
		return a
	}
	if columns != nil {
		a.columns, a.open = slices.Clone(columns), false
		return a
	}
	ctx, stop := cell.Context()
	defer stop()
	exec, req, err := a.Head(0).prepare(ctx, client.Request{})
	if err != nil {
		return a.Fail(err)
	}
	res, err := exec.Run(ctx, req, func(table.Progress) {}) // what it notes is noted again when the table runs
	if err != nil {
		return a.Fail(err)
	}
	a.columns, a.open = res.Frame.Specs(), false
	return a
}

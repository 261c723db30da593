package blas_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/gomlxmodels/blas"
	"antipode/gomlxmodels/device"
	_ "antipode/gomlxmodels/device/xla" // compiles products in milliseconds
	"antipode/internal/near"
	"antipode/test/modeltest"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Products on a device equal gonum's, for every layout, with rows that are parts of longer ones, with one and several
// blocks, and where the device fails.
func TestMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(rows, cols int) blas64.General {
		g := blas64.General{Rows: rows, Cols: cols, Stride: cols + 3, Data: make([]float64, rows*(cols+3))}
		for i := range g.Data {
			g.Data[i] = r.NormFloat64()
		}
		return g
	}
	d := modeltest.Device(t, device.XLACPU)
	for _, size := range [][3]int{{300, 200, 300}, {1100, 130, 1300}, {70, 1500, 2100}} {
		for layout := range 4 {
			m, n, k := size[0], size[1], size[2]
			tx, ty, x, y := gonum.NoTrans, gonum.NoTrans, random(m, k), random(k, n)
			if layout&1 > 0 {
				tx, x = gonum.Trans, random(k, m)
			}
			if layout&2 > 0 {
				ty, y = gonum.Trans, random(n, k)
			}
			want := random(m, n)
			got, failed := want, want
			got.Data, failed.Data = slices.Clone(want.Data), slices.Clone(want.Data)
			blas64.Gemm(tx, ty, 1.5, x, y, 0, want)
			var count int
			b := blas.Use(d.Backend, func(_ context.Context, f func() error) error { count++; return f() })
			blas64.Gemm(tx, ty, 1.5, x, y, 0, got)
			b.Close()
			b = blas.Use(d.Backend, func(context.Context, func() error) error { return errors.New("closed") })
			blas64.Gemm(tx, ty, 1.5, x, y, 0, failed)
			b.Close()
			if count == 0 {
				t.Error("the device was not used")
			}
			name := fmt.Sprintf("%v, layout %d", size, layout)
			near.Check(t, name, got.Data, want.Data, 1e-12, 1e-12)
			near.Check(t, name+", device failed", failed.Data, want.Data, 0, 0)
		}
	}
}

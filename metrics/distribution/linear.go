package distribution

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Vectors are the two sets that a score compares, as rows of equal length.
type Vectors struct{ Real, Generated [][]float32 }

// check returns the length of the vectors, or an error about sets of fewer than least rows or rows of unequal length.
func (v Vectors) check(least int) (width int, err error) {
	for side, rows := range [][][]float32{v.Real, v.Generated} {
		if len(rows) < least {
			return 0, fmt.Errorf("%d %s vectors; at least %d are needed", len(rows), []string{"reference",
				"generated"}[side], least)
		}
		for _, row := range rows {
			if width == 0 {
				width = len(row)
			}
			if len(row) != width || width == 0 {
				return 0, fmt.Errorf("vectors of %d and %d numbers; use vectors of one model", width, len(row))
			}
		}
	}
	return width, nil
}

// pick returns the vectors of a pair's positions in two sets.
func (p pair) pick(real, generated [][]float32) Vectors {
	v := Vectors{Real: pick(real, p.real)}
	if p.held {
		generated = real
	}
	v.Generated = pick(generated, p.generated)
	return v
}

// dense copies vectors to a matrix.
func dense(rows [][]float32) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, v := range rows {
		to := m.RawRowView(i)
		for j, x := range v {
			to[j] = float64(x)
		}
	}
	return m
}

// center subtracts the means of two matrices' columns; it returns the squared distance of the means and the traces of
// the covariances.
func center(a, b *mat.Dense) (distance float64, traces [2]float64) {
	var means [2][]float64
	for side, m := range []*mat.Dense{a, b} {
		n, d := m.Dims()
		sum := make([]float64, d)
		for i := range n {
			floats.Add(sum, m.RawRowView(i))
		}
		floats.Scale(1/float64(n), sum)
		for i := range n {
			row := m.RawRowView(i)
			floats.Sub(row, sum)
			traces[side] += floats.Dot(row, row) / float64(n-1)
		}
		means[side] = sum
	}
	floats.Sub(means[0], means[1])
	return floats.Dot(means[0], means[0]), traces
}

// gram sets s to scale·MMᵀ. (Package blas64 multiplies by Gemm faster than by Syrk.)
func gram(s *mat.SymDense, scale float64, m mat.Matrix) {
	n, _ := m.Dims()
	out, trans := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}, blas.NoTrans
	if t, is := m.(mat.Transpose); is {
		m, trans = t.Matrix, blas.Trans
	}
	raw := m.(*mat.Dense).RawMatrix()
	other := blas.Trans
	if trans == blas.Trans {
		other = blas.NoTrans
	}
	blas64.Gemm(trans, other, scale, raw, raw, 0, out)
	*s = *mat.NewSymDense(n, out.Data)
}

// eigenvalues returns the eigenvalues of a symmetric matrix, ascending.
func eigenvalues(s *mat.SymDense) ([]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		return nil, errors.New("the eigenvalues did not converge; are the vectors finite?")
	}
	return e.Values(nil), nil
}

// shuffled returns the rows in a random order that depends on the seed only.
func shuffled(rows [][]float32, seed uint64) [][]float32 {
	out := make([][]float32, len(rows))
	for i, j := range rand.New(rand.NewPCG(seed, 0)).Perm(len(rows)) {
		out[i] = rows[j]
	}
	return out
}

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

// of returns a pair's vectors.
func (p pair) of(v Vectors) Vectors {
	from := v.Generated
	if p.held {
		from = v.Real
	}
	return Vectors{pick(v.Real, p.real), pick(from, p.generated)}
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

// gram sets s to scale·MMᵀ, of which it computes the upper triangle. (Gemm of blocks is faster than blas64.Syrk.)
func gram(s *mat.SymDense, scale float64, m mat.Matrix) {
	n, _ := m.Dims()
	t, transposed := m.(mat.Transpose)
	if transposed {
		m = t.Matrix
	}
	raw := m.(*mat.Dense).RawMatrix()
	out := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	const block = 192
	for i := 0; i < n; i += block {
		rows := min(block, n-i)
		to := blas64.General{Rows: rows, Cols: n - i, Stride: n, Data: out.Data[i*n+i:]}
		if transposed {
			blas64.Gemm(blas.Trans, blas.NoTrans, scale, columns(raw, i, rows), columns(raw, i, n-i), 0, to)
		} else {
			blas64.Gemm(blas.NoTrans, blas.Trans, scale, rowsOf(m.(*mat.Dense), i, i+rows), rowsOf(m.(*mat.Dense), i, n), 0, to)
		}
	}
	*s = *mat.NewSymDense(n, out.Data)
}

// columns returns some columns of a matrix, which it shares.
func columns(m blas64.General, from, count int) blas64.General {
	m.Data, m.Cols = m.Data[from:], count
	return m
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

package distribution

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

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

// center subtracts the means of the columns, which it returns.
func center(m *mat.Dense) []float64 {
	n, d := m.Dims()
	mean := make([]float64, d)
	for i := range n {
		floats.AddScaled(mean, 1/float64(n), m.RawRowView(i))
	}
	for i := range n {
		floats.Sub(m.RawRowView(i), mean)
	}
	return mean
}

// gram returns MᵀM, or MMᵀ. It is symmetric: the upper triangle is computed. (Gemm of blocks is faster than Syrk.)
func gram(m *mat.Dense, columns bool) *mat.Dense {
	n, d := m.Dims()
	raw, block := m.RawMatrix(), 512
	if columns {
		n, d = d, n
	}
	out := mat.NewDense(n, n, nil)
	for i := 0; i < n; i += block {
		rows := min(block, n-i)
		to := blas64.General{Rows: rows, Cols: n - i, Stride: n, Data: out.RawMatrix().Data[i*n+i:]}
		if columns {
			left := blas64.General{Rows: d, Cols: rows, Stride: raw.Stride, Data: raw.Data[i:]}
			right := blas64.General{Rows: d, Cols: n - i, Stride: raw.Stride, Data: raw.Data[i:]}
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, left, right, 0, to)
		} else {
			blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(m, i, i+rows), rowsOf(m, i, n), 0, to)
		}
	}
	for i := range n {
		for j := range i {
			out.Set(i, j, out.At(j, i))
		}
	}
	return out
}

// rowsOf returns some rows of a matrix, which it shares.
func rowsOf(m *mat.Dense, from, to int) blas64.General {
	return m.Slice(from, to, 0, m.RawMatrix().Cols).(*mat.Dense).RawMatrix()
}

// products returns the inner products of the rows from … to of x with the rows … of y.
func products(x, y *mat.Dense, from, to, fromY, toY int) blas64.General {
	out := blas64.General{Rows: to - from, Cols: toY - fromY, Stride: toY - fromY,
		Data: make([]float64, (to-from)*(toY-fromY))}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(x, from, to), rowsOf(y, fromY, toY), 0, out)
	return out
}

// eigenvalues returns the eigenvalues of a symmetric matrix, ascending.
func eigenvalues(m *mat.Dense) ([]float64, error) {
	n, _ := m.Dims()
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, m.RawMatrix().Data), false) {
		return nil, errors.New("the eigenvalues did not converge; are the vectors finite?")
	}
	return e.Values(nil), nil
}

package parquet

import (
	"math/big"
	"testing"

	"antipode/internal/must"

	pq "github.com/parquet-go/parquet-go"
)

// TestDecimal: a decimal that a number would round is exact as text.
func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		units string
		scale int
		want  string
	}{{"9007199254740993", 0, "9007199254740993"}, {"1234567890123456789012", 2, "12345678901234567890.12"},
		{"900719925474099300", 2, "9007199254740993"}, {"150", 2, "1.5"}, {"7", 0, "7"}} {
		n, _ := new(big.Int).SetString(c.units, 10)
		text, _ := decimal(pq.FixedLenByteArray, c.scale)
		must.Equal(t, text(pq.FixedLenByteArrayValue(append([]byte{0}, n.Bytes()...))), c.want, c.units, "of scale",
			c.scale)
	}
}

package parquet

import (
	"antipode/datasets/table"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// conversions convert the values of a type to text and numbers. Integers are converted to text exactly.
func conversions(t pq.Type) (text func(pq.Value) string, number func(pq.Value) float64) {
	l := t.LogicalType()
	if l == nil {
		l = &format.LogicalType{}
	}
	short := func(f func(pq.Value) float64) func(pq.Value) string {
		return func(v pq.Value) string { return table.NumberText(f(v)) }
	}
	switch {
	case l.Decimal != nil:
		return decimal(t.Kind(), int(l.Decimal.Scale))
	case l.Integer != nil && !l.Integer.IsSigned:
		return func(v pq.Value) string { return strconv.FormatUint(unsigned(v), 10) },
			func(v pq.Value) float64 { return float64(unsigned(v)) }
	case l.Date != nil:
		return func(v pq.Value) string { return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly) },
			plain
	case l.Time != nil:
		return func(v pq.Value) string { return at(whole(v), l.Time.Unit).Format("15:04:05.999999999") }, plain
	case l.Timestamp != nil && l.Timestamp.IsAdjustedToUTC:
		return func(v pq.Value) string { return at(whole(v), l.Timestamp.Unit).Format(time.RFC3339Nano) }, plain
	case l.Timestamp != nil:
		return func(v pq.Value) string {
			return at(whole(v),
				l.Timestamp.Unit).Format("2006-01-02T15:04:05.999999999")
		}, plain
	case l.UUID != nil:
		return func(v pq.Value) string {
			s := hex.EncodeToString(v.ByteArray())
			if len(s) != 32 {
				return s
			}
			return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
		}, plain
	}
	switch t.Kind() {
	case pq.FixedLenByteArray:
		if t.Length() == halfBytes {
			return short(float16), float16
		}
	case pq.Float, pq.Double:
		return short(plain), plain
	case pq.Int96: // nanoseconds of the day, and the Julian day
		return func(v pq.Value) string {
			i := v.Int96()
			days, nanos := int64(i[2])-2440588, int64(i[1])<<32|int64(i[0])
			return time.Unix(days*86400, nanos).UTC().Format("2006-01-02T15:04:05.999999999")
		}, plain
	}
	return pq.Value.String, plain
}

// plain returns a boolean, an integer or a float as a number.
func plain(v pq.Value) float64 {
	switch v.Kind() {
	case pq.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	case pq.Int32, pq.Int64:
		return float64(whole(v))
	case pq.Float:
		return float64(v.Float())
	default:
		return v.Double()
	}
}

func whole(v pq.Value) int64 {
	if v.Kind() == pq.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func unsigned(v pq.Value) uint64 {
	if v.Kind() == pq.Int32 {
		return uint64(v.Uint32())
	}
	return v.Uint64()
}

// halfBytes is the length of a 16-bit float. The library does not expose the logical type; no other type has this
// length.
const halfBytes = 2

func float16(v pq.Value) float64 {
	b := v.ByteArray()
	if len(b) != 2 {
		return math.NaN()
	}
	bits := binary.LittleEndian.Uint16(b)
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// decimal converts an integer, stored as one or as big-endian bytes, of units of 10^-scale.
func decimal(kind pq.Kind, scale int) (text func(pq.Value) string, number func(pq.Value) float64) {
	divisor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	units := func(v pq.Value) *big.Int {
		n := new(big.Int)
		if kind == pq.Int32 || kind == pq.Int64 {
			n.SetInt64(whole(v))
		} else if b := v.ByteArray(); len(b) > 0 {
			n.SetBytes(b)
			if b[0]&0x80 != 0 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		return n
	}
	number = func(v pq.Value) float64 {
		x, _ := new(big.Float).Quo(new(big.Float).SetInt(units(v)), new(big.Float).SetInt(divisor)).Float64()
		return x
	}
	text = func(v pq.Value) string {
		if x := number(v); math.Abs(x) < 1<<53 {
			return table.NumberText(x)
		}
		exact := new(big.Rat).SetFrac(units(v), divisor).FloatString(scale)
		if scale > 0 {
			exact = strings.TrimRight(strings.TrimRight(exact, "0"), ".")
		}
		return exact
	}
	return text, number
}

// at returns the time n units after the start of 1970, in UTC.
func at(n int64, unit format.TimeUnit) time.Time {
	switch {
	case unit.Millis != nil:
		return time.UnixMilli(n).UTC()
	case unit.Micros != nil:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

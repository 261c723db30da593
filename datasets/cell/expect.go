package cell

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

// Expect checks a number or text that a notebook quotes: it prints "ok NAME: VALUE" if got equals want, and otherwise
// fails the cell with one line, as [Fail] does.
//
// Numbers of any type are compared by value, up to rounding errors: Expect("rows", 3, 3.0) holds. A want of type
// string and a got that is a number compare at the number of decimals of want, as a printed number does:
// Expect("alpha", 0.3871, "0.39") holds. Slices are compared element by element.
func Expect(name string, got, want any) {
	if equal(reflect.ValueOf(got), reflect.ValueOf(want)) {
		Say(fmt.Sprintf("ok %s: %v", name, want))
		return
	}
	err := fmt.Errorf("%s: got %v, want %v", name, got, want)
	if _, file, line, ok := runtime.Caller(1); ok {
		if !InNotebook() {
			file = filepath.Base(file)
		}
		err = fmt.Errorf("%s:%d: %w", file, line, err)
	}
	Fail(err)
}

// equal compares two values as [Expect] does.
func equal(got, want reflect.Value) bool {
	if !got.IsValid() || !want.IsValid() {
		return got.IsValid() == want.IsValid()
	}
	if got.Kind() == reflect.Slice && want.Kind() == reflect.Slice {
		same := got.Len() == want.Len()
		for i := 0; same && i < got.Len(); i++ {
			same = equal(element(got, i), element(want, i))
		}
		return same
	}
	g, isNumber := number(got)
	if !isNumber {
		return reflect.DeepEqual(got.Interface(), want.Interface())
	}
	if w, ok := number(want); ok {
		return math.Abs(g-w) <= 1e-9*max(1, math.Abs(w)) || g == w || math.IsNaN(g) && math.IsNaN(w)
	}
	if want.Kind() != reflect.String {
		return false
	}
	w, err := strconv.ParseFloat(want.String(), 64)
	_, decimals, _ := strings.Cut(want.String(), ".")
	return err == nil && math.Abs(g-w) <= 0.5*math.Pow10(-len(decimals))+1e-9
}

// element returns an element of a slice; that of a []any without its interface.
func element(slice reflect.Value, i int) reflect.Value {
	v := slice.Index(i)
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// number returns the value of a number of any type.
func number(v reflect.Value) (float64, bool) {
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

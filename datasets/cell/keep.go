package cell

import (
	"go/scanner"
	"go/token"
	"os"
	"reflect"
	"runtime"
	"strings"
)

// Keepable is a value that [Keep] stores; datasets.Table is one.
type Keepable[T any] interface {
	// Kept returns the value stored for the name, the inputs and the source of compute, or that of compute.
	Kept(name, source string, compute func() T, inputs []any) T
}

// Keep returns what compute returns, and computes it once: it stores the result under name, the contents of the inputs
// (tables, texts, numbers, bools, and lists of these) and the source of compute, and later cells read it from there. So
// a var of a notebook may compute:
//
//	var features = cell.Keep("features", func() datasets.Table { … }, photos, minimum)
//
// What compute reads apart from inputs, and the functions it calls, must not change; name another version otherwise.
// A failure of the store or of an input ends the cell.
func Keep[T Keepable[T]](name string, compute func() T, inputs ...any) T {
	var none T
	return none.Kept(name, Source(compute), compute, inputs)
}

// Source returns the source of a function, without spaces that do not matter; "" if its file is missing.
func Source(f any) string {
	pc := reflect.ValueOf(f).Pointer()
	file, line := runtime.FuncForPC(pc).FileLine(pc)
	data, err := os.ReadFile(file)
	lines := strings.SplitAfter(string(data), "\n")
	if err != nil || line > len(lines) {
		return ""
	}
	text := []byte(strings.Join(lines[line-1:], ""))
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	var b strings.Builder
	for started, open := false, 0; ; {
		_, tok, literal := s.Scan()
		if started = started || tok == token.FUNC; !started {
			if tok == token.EOF {
				return ""
			}
			continue
		}
		b.WriteString(tok.String() + " " + literal + "\n")
		switch tok {
		case token.LBRACE:
			open++
		case token.RBRACE:
			open--
		}
		if tok == token.EOF || tok == token.RBRACE && open == 0 {
			return b.String()
		}
	}
}

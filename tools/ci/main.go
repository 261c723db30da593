// Command ci reads what go test -json prints, for .ci/run:
//
//	go test -json ./... | ci report COUNTS    report packages and failures; add the counts to the file COUNTS
//	ci total COUNTS                           print "N passed, N failed, N skipped" of all reports
//
// It counts tests and examples, subtests included; a package that does not build, or fails outside its tests,
// counts as one failure.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ci report|total COUNTS")
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "report":
		err = reportTo(os.Args[2])
	case "total":
		err = total(os.Args[2], os.Stdout)
	default:
		err = fmt.Errorf("no command %q", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ci:", err)
		os.Exit(1)
	}
}

func reportTo(path string) error {
	c, err := report(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(f, c.passed, c.failed, c.skipped); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if c.failed > 0 {
		return fmt.Errorf("%d failed", c.failed)
	}
	return nil
}

func total(path string, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var sum, c counts
	for {
		n, err := fmt.Fscanln(f, &c.passed, &c.failed, &c.skipped)
		if n == 0 {
			break
		}
		if err != nil {
			return err
		}
		sum.passed, sum.failed, sum.skipped = sum.passed+c.passed, sum.failed+c.failed, sum.skipped+c.skipped
	}
	_, err = fmt.Fprintln(w, sum)
	return err
}

type counts struct{ passed, failed, skipped int }

func (c counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// event is one line of go test -json (see go doc test2json); a build's lines have an ImportPath in place of a
// Package.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

// report reports of each package in one line, of each skip by name and of each failure in full, and counts.
func report(r io.Reader, w io.Writer) (counts, error) {
	var c counts
	outputs := map[[2]string][]string{} // by package and test
	failures := map[string]int{}        // tests that failed, by package
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	seen := false
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(w, lines.Text()) // go itself, not a test
			continue
		}
		seen = true
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Fprint(w, e.Output)
		case "output":
			outputs[key] = append(outputs[key], e.Output)
		case "pass", "fail", "skip":
			c.end(w, e, outputs[key], failures)
			delete(outputs, key)
		}
	}
	if err := lines.Err(); err != nil {
		return c, err
	}
	for _, key := range sortedKeys(outputs) { // tests that never ended: their package's end counted as the failure
		if key[1] != "" {
			fmt.Fprintf(w, "--- did not end: %s %s\n%s", key[0], key[1], strings.Join(outputs[key], ""))
		}
	}
	if !seen {
		return c, fmt.Errorf("nothing to report: go test printed no JSON")
	}
	return c, nil
}

// end reports how a test or, where it has no name, a package ended.
func (c *counts) end(w io.Writer, e event, output []string, failures map[string]int) {
	text := strings.Join(output, "")
	switch {
	case e.Test != "" && e.Action == "pass":
		c.passed++
	case e.Test != "" && e.Action == "skip":
		c.skipped++
		fmt.Fprintf(w, "skip  %s %s: %s\n", e.Package, e.Test, reason(output))
	case e.Test != "":
		c.failed++
		failures[e.Package]++
		fmt.Fprintf(w, "FAIL  %s %s\n%s", e.Package, e.Test, text)
	case e.Action == "fail":
		if failures[e.Package] == 0 { // it did not build, it died, or it ran out of time
			c.failed++
			fmt.Fprint(w, text)
		}
		fmt.Fprintf(w, "FAIL  %s %.1f s\n", e.Package, e.Elapsed)
	case e.Action == "pass":
		fmt.Fprintf(w, "ok    %s %.1f s\n", e.Package, e.Elapsed)
	}
}

// reason is the line a test was skipped with.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return line
		}
	}
	return "no reason given"
}

func sortedKeys(m map[[2]string][]string) [][2]string {
	return slices.SortedFunc(maps.Keys(m), func(a, b [2]string) int {
		return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1])
	})
}

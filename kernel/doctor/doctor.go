package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"antipode/kernel/jupyter"
)

// State is the result of a check.
type State string

// The states of a check.
const (
	OK   State = "ok"   // works
	Warn State = "warn" // something is slower or missing; everything essential works
	Fail State = "fail" // Antipode cannot work
)

// Check is the result for one component.
type Check struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`        // finding, one line
	Fix    string `json:"fix,omitempty"` // suggested fix, one line
}

// limit is how long one check may take.
const limit = 1500 * time.Millisecond

// findGo puts Go on PATH as the kernel does.
var findGo = jupyter.FindGo

// Report runs all checks, for the store at home and the module's source in moduleDir ("" = not found).
// The order of the checks is fixed.
func Report(ctx context.Context, home, moduleDir string) []Check {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = findGo() // the check reports a missing one
	parts := []struct {
		name  string
		check func() Check
	}{
		{"go", func() Check { return goCommand(ctx, moduleDir) }},
		{"c compiler", func() Check { return cCompiler(ctx) }},
		{"module", func() Check { return module(moduleDir) }},
		{"plugin", func() Check { return xlaPlugin(home) }},
		{"device", func() Check { return accelerator(home) }},
		{"store", func() Check { return storeFolder(ctx, home) }},
		{"disk", func() Check { return disk(home) }},
		{"backend", func() Check { return backend(ctx, home) }},
		{"kernel", func() Check { return kernelTools(home) }},
		{"jupyter", func() Check { return jupyterState() }},
	}
	answers := make([]chan Check, len(parts))
	for i, p := range parts {
		answers[i] = make(chan Check, 1) // so that a late check can end
		go func() {
			c := p.check()
			c.Name = p.name
			answers[i] <- c
		}()
	}
	out := make([]Check, len(parts))
	for i, p := range parts {
		select {
		case out[i] = <-answers[i]:
			continue
		case <-ctx.Done():
		}
		select {
		case out[i] = <-answers[i]: // arrived in the meantime
		default:
			out[i] = Check{p.name, Warn, fmt.Sprintf("no answer within %v", limit),
				"run antipode doctor again on a less busy machine"}
		}
	}
	return out
}

// Failed reports whether anything essential does not work: antipode doctor ends with status 1 then.
func Failed(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c.State == Fail })
}

// Text prints the checks as text: one line each, and one below it with the fix.
func Text(w io.Writer, checks []Check) error {
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%-4s  %-*s  %s\n", c.State, width, c.Name, c.Detail)
		if c.Fix != "" {
			fmt.Fprintf(&b, "%*s  → %s\n", width+6, "", c.Fix)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON prints the checks as one JSON array.
func JSON(w io.Writer, checks []Check) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(checks)
}

func ok(format string, args ...any) Check {
	return Check{State: OK, Detail: fmt.Sprintf(format, args...)}
}

func warn(fix, format string, args ...any) Check {
	return Check{State: Warn, Detail: fmt.Sprintf(format, args...), Fix: fix}
}

func fail(fix, format string, args ...any) Check {
	return Check{State: Fail, Detail: fmt.Sprintf(format, args...), Fix: fix}
}

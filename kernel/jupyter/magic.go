package jupyter

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	timeLine  = regexp.MustCompile(`(?m)^(%%?)time(?:[ \t]+(.*))?$`)
	whoLine   = regexp.MustCompile(`(?m)^%whos?[ \t]*$`)
	rmLine    = regexp.MustCompile(`(?m)^%(?:rm|remove)[ \t](.*)$`)
	reset     = regexp.MustCompile(`(?m)^%reset[ \t]*$`)
	getLine   = regexp.MustCompile(`(?m)^!\*?[ \t]*go get\b`)
	otherMain = regexp.MustCompile(`(?m)^%(?:test|wasm|exec)\b|^func main\(`)
	mainLine  = regexp.MustCompile(`(?m)^(?:%%(?:[ \t]|$)|%main\b)`)
)

// timing removes the commands %time and %%time from a cell and reports whether it has one. What follows %time is a
// statement. Lines keep their numbers, except where a cell without a line %% needs one.
func timing(code string) (string, bool) {
	timed := false
	for m := timeLine.FindStringSubmatchIndex(code); m != nil; m = timeLine.FindStringSubmatchIndex(code) {
		timed = true
		statement := ""
		if m[4] >= 0 {
			statement = code[m[4]:m[5]]
		}
		if hasMain := mainLine.MatchString(code); !hasMain && statement != "" {
			statement = "%%\n" + statement
		} else if !hasMain && m[3]-m[2] == 2 {
			statement = "%%"
		}
		code = code[:m[0]] + statement + code[m[1]:]
	}
	return code, timed
}

// commands replaces the commands of IPython that GoNB does not have: %who lists the variables, and go get may download.
func (k *Kernel) commands(code string, t *tidier) string {
	if reset.MatchString(code) {
		clear(k.variables)
	}
	for _, m := range rmLine.FindAllStringSubmatch(code, -1) {
		for _, name := range strings.Fields(m[1]) {
			delete(k.variables, name)
		}
	}
	if whoLine.MatchString(code) {
		list := "no variables\n"
		if len(k.variables) > 0 {
			list = strings.Join(slices.Sorted(maps.Keys(k.variables)), "\t") + "\n"
		}
		t.send("stream", StreamContent{"stdout", list})
		code = whoLine.ReplaceAllLiteralString(code, "")
	}
	proxy := os.Getenv("GOPROXY")
	return getLine.ReplaceAllLiteralString(code, "!*GOPROXY='"+proxy+"' GOFLAGS=-mod=mod go get")
}

// took returns the line that %time prints.
func took(start time.Time) StreamContent {
	return StreamContent{"stdout", fmt.Sprintf("time: %.3g s\n", time.Since(start).Seconds())}
}

// light is the name by which the code that the kernel writes imports package cell; users may declare others.
const light = "antipode_cell"

// clocked returns the cell with every variable's initializer that calls something timed by [cell.Took]. Line numbers do
// not change.
func (s source) clocked() string {
	files := token.NewFileSet()
	file, err := s.parseDeclarations(files)
	if err != nil {
		return s.code
	}
	at := func(p token.Pos) int { return files.Position(p).Offset - len("package p; ") }
	type insertion struct {
		offset int
		text   string
	}
	var all []insertion
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, x := range g.Specs {
			v := x.(*ast.ValueSpec)
			kind := ""
			if v.Type != nil {
				kind = "[" + s.code[at(v.Type.Pos()):at(v.Type.End())] + "]"
			}
			for i, value := range v.Values {
				if len(v.Values) == len(v.Names) && calls(value) {
					open := fmt.Sprintf("%s.Took%s(%q, %[1]s.Start(), ", light, kind, v.Names[i].Name)
					all = append(all, insertion{at(value.Pos()), open}, insertion{at(value.End()), ")"})
				}
			}
		}
	}
	code := s.code
	for _, n := range slices.Backward(all) {
		code = code[:n.offset] + n.text + code[n.offset:]
	}
	return code
}

// calls reports whether an expression contains a call.
func calls(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		_, isCall := n.(*ast.CallExpr)
		_, isFunction := n.(*ast.FuncLit)
		found = found || isCall
		return !isFunction
	})
	return found
}

// described returns the cell with calls that tell the kernel the columns of the tables that it declares. Line numbers
// do not change.
func (s source) described() string {
	var b strings.Builder
	for _, name := range s.variables() {
		if name != "_" {
			fmt.Fprintf(&b, "%s.Columns(%[2]q, %[2]s); ", light, name)
		}
	}
	switch {
	case b.Len() == 0 || otherMain.MatchString(s.code):
		return s.code
	case s.Main < 0:
		return s.code + "\n%%\n" + b.String()
	}
	if !strings.HasSuffix(s.code[:s.Main], "\n") { // the cell ends with %%
		return s.code[:s.Main] + "\n" + b.String()
	}
	return s.code[:s.Main] + b.String() + s.code[s.Main:]
}

package runner

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"antipode/kernel/jupyter/notebook"
)

// The tags of the cells with a notebook's parameters.
const (
	parametersTag = "parameters"
	injectedTag   = "injected-parameters"
)

// UsageError is an invalid run request; no cell has run.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Inject adds a cell with the parameters, each "name=value", after the cell tagged "parameters". Every name must be a
// variable of that cell, every value must have its type; else the error is a [UsageError]. It replaces a cell that an
// earlier run added.
func Inject(nb *notebook.Notebook, params []string) error {
	if len(params) == 0 {
		return nil
	}
	at := -1
	for i, c := range nb.Cells {
		if c.Type == notebook.Code && c.Tagged(parametersTag) {
			at = i
			break
		}
	}
	if at < 0 {
		return usage("-p %s: the notebook has no cell tagged %q", params[0], parametersTag)
	}
	variables, err := variablesOf(nb.Cells[at].Source)
	if err != nil {
		return usage("the cell tagged %q does not parse: %v", parametersTag, err)
	}
	values := map[string]string{}
	var order []string
	for _, p := range params {
		name, value, found := strings.Cut(p, "=")
		if name = strings.TrimSpace(name); !found || name == "" {
			return usage("-p %s: write -p name=value", p)
		}
		kind, known := variables[name]
		if !known {
			return usage("-p %s: the notebook has no parameter %q (it has: %s)", p, name, names(variables))
		}
		literal, err := literalOf(kind, value)
		if err != nil {
			return usage("-p %s: %v", p, err)
		}
		if _, twice := values[name]; !twice {
			order = append(order, name)
		}
		values[name] = "var " + name + " " + kind + " = " + literal
	}
	lines := []string{"// Set by -p"}
	for _, name := range order {
		lines = append(lines, values[name])
	}
	cell := &notebook.Cell{
		Type: notebook.Code, Source: strings.Join(lines, "\n"),
		Metadata: map[string]any{"tags": []any{injectedTag}},
	}
	if nb.Minor >= 5 {
		cell.ID = freeID(nb, injectedTag)
	}
	var cells []*notebook.Cell
	for i, c := range nb.Cells {
		if !c.Tagged(injectedTag) {
			cells = append(cells, c)
		}
		if i == at {
			cells = append(cells, cell)
		}
	}
	nb.Cells = cells
	return nil
}

// freeID returns an id that no cell has.
func freeID(nb *notebook.Notebook, want string) string {
	taken := map[string]bool{}
	for _, c := range nb.Cells {
		if !c.Tagged(injectedTag) {
			taken[c.ID] = true
		}
	}
	id := want
	for n := 2; taken[id]; n++ {
		id = want + "-" + strconv.Itoa(n)
	}
	return id
}

// timePackage declares what the types of parameters need of package time.
const timePackage = `package time
type Duration int64
const (
	Nanosecond Duration = 1
	Microsecond = 1000 * Nanosecond
	Millisecond = 1000 * Microsecond
	Second = 1000 * Millisecond
	Minute = 60 * Second
	Hour = 60 * Minute
)`

// timeOnly imports package time only.
type timeOnly struct{ pkg *types.Package }

func (t timeOnly) Import(path string) (*types.Package, error) {
	if path == "time" {
		return t.pkg, nil
	}
	return nil, fmt.Errorf("package %s is not resolved", path)
}

// variablesOf returns the variables that a cell declares, with their types as Go source; "" if a type depends on code
// outside the cell.
func variablesOf(source string) (map[string]string, error) {
	files := token.NewFileSet()
	timeFile, err := parser.ParseFile(files, "time.go", timePackage, 0)
	if err != nil {
		return nil, err
	}
	timePkg, err := new(types.Config).Check("time", files, []*ast.File{timeFile}, nil)
	if err != nil {
		return nil, err
	}
	// The package clause is on the first line, so that positions in messages are the cell's.
	declarations := notebook.SplitCode(source).Declarations()
	file, err := parser.ParseFile(files, "cell", "package cell; "+declarations, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	// Cells may use package time without importing it.
	spec := &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: `"time"`}}
	file.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}}}, file.Decls...)
	file.Imports = append(file.Imports, spec)
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: timeOnly{timePkg}, Error: func(error) {}} // unresolved names have no type
	_, _ = config.Check("cell", files, []*ast.File{file}, info)
	found := map[string]string{}
	for ident, object := range info.Defs {
		if v, ok := object.(*types.Var); ok && v.Parent() != nil && v.Parent().Parent() == types.Universe {
			found[ident.Name] = typeName(v.Type())
		}
	}
	return found, nil
}

// typeName returns the type of a parameter as Go source, or "" if it cannot be one.
func typeName(t types.Type) string {
	if basic, ok := t.(*types.Basic); ok {
		if basic.Info()&(types.IsString|types.IsBoolean|types.IsInteger|types.IsFloat) != 0 &&
			basic.Kind() != types.Uintptr {
			return basic.Name()
		}
		return ""
	}
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "time" &&
		named.Obj().Name() == "Duration" {
		return "time.Duration"
	}
	return ""
}

// literalOf returns a value as a Go literal of the type.
func literalOf(kind, value string) (string, error) {
	bad := func(want string) error { return fmt.Errorf("%q is not %s", value, want) }
	switch kind {
	case "string":
		return strconv.Quote(value), nil
	case "bool":
		if value != "true" && value != "false" {
			return "", bad("a bool: write true or false")
		}
		return value, nil
	case "float64", "float32":
		bits := map[string]int{"float64": 64, "float32": 32}[kind]
		f, err := strconv.ParseFloat(value, bits)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return "", bad("a " + kind + ": write a number, for example 0.5")
		}
		return strconv.FormatFloat(f, 'g', -1, bits), nil
	case "time.Duration":
		d, err := time.ParseDuration(value)
		if err != nil {
			return "", bad("a duration: write for example 90s or 1h30m")
		}
		return strconv.FormatInt(int64(d), 10) + " // " + d.String(), nil
	case "":
		return "", fmt.Errorf("its type is not one that -p can set: string, bool, a number or time.Duration")
	}
	if bits, ok := map[string]int{"int": 64, "int8": 8, "int16": 16, "int32": 32, "rune": 32, "int64": 64}[kind]; ok {
		if n, err := strconv.ParseInt(value, 10, bits); err == nil {
			return strconv.FormatInt(n, 10), nil
		}
	}
	if bits, ok := map[string]int{"uint": 64, "uint8": 8, "byte": 8, "uint16": 16, "uint32": 32,
		"uint64": 64}[kind]; ok {
		if n, err := strconv.ParseUint(value, 10, bits); err == nil {
			return strconv.FormatUint(n, 10), nil
		}
	}
	return "", bad("an " + kind + ": write a whole number in its range")
}

func names(variables map[string]string) string {
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(variables)), ", "), "none")
}

package jupyter

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"

	"antipode/datasets/table"
)

// Hints about a table, by its name and a column.
const (
	columnHint = `$1.Select("$2") has that column only, and $1.MustRows().Texts("$2") its values`
	lengthHint = "$1.MustRows().Len() is the number of rows"
	quoteHint  = `text is written in double quotes: "text"`
	printHint  = "to print, write fmt.Println(x), or end the cell with x"
)

// habits are mistakes of users of Python, by the message or a line that is not Go, and what to write instead.
var habits = []struct {
	message, line *regexp.Regexp
	table         bool // the first group is to be a table
	hint          string
}{
	{message: regexp.MustCompile(`cannot index (\w+) \(variable of (?:struct )?type datasets\.Table`),
		hint: strings.ReplaceAll(columnHint, "$2", "region")},
	{message: regexp.MustCompile(`argument: (\w+) \(variable of (?:struct )?type datasets\.Table\) for built-in len`),
		hint: lengthHint},
	{message: regexp.MustCompile(`cannot range over (\w+) \(variable of (?:struct )?type datasets\.Table`),
		hint: `the values of a column are $1.MustRows().Texts("id")`},
	{message: regexp.MustCompile(`^(\w+)\.([a-z]\w*) undefined \(type datasets\.Table has no field or method \w+\)`),
		table: true, hint: columnHint},
	{message: regexp.MustCompile(`more than one character in rune literal|illegal rune literal|rune literal not term`),
		hint: quoteHint},
	{message: regexp.MustCompile(`(?:illegal|invalid) character U\+0023`), hint: "a comment begins with //"},
	{message: regexp.MustCompile(`undefined: (?:True|False)$`), hint: "write true or false"},
	{message: regexp.MustCompile(`undefined: None$`), hint: "write nil"},
	{line: regexp.MustCompile(`^\s*for\s+\w+(?:\s*,\s*\w+)?\s+in\b`),
		hint: "a loop is written for i := range 10 { … } or for _, x := range list { … }"},
	{line: regexp.MustCompile(`^\s*(?:import\s+[\pL_][\w.]*(?:\s+as\s+\w+)?|from\s+[\w.]+\s+import\b.*)\s*$`),
		hint: `cells are Go: tables come from package datasets, for example datasets.CSV("photos.csv"), and other ` +
			`packages are imported as import "path"`},
	{line: regexp.MustCompile(`^\s*def\s+\w+\(`), hint: "a function is written func f(x int) int { … }"},
	{line: regexp.MustCompile(`(\w+)\[["'](\w+)["']\]`), table: true, hint: columnHint},
	{line: regexp.MustCompile(`\blen\((\w+)\)`), table: true, hint: lengthHint},
	{line: regexp.MustCompile(`^\s*print\(`), hint: printHint},
	{line: regexp.MustCompile(`'[^']{2,}'`), hint: quoteHint},
}

// syntax matches the messages of code that is not Go.
var syntax = regexp.MustCompile(`expected |import path`)

// hint returns what to write instead of the code in a line about which the compiler reports message, or "".
func (x *resultIndex) hint(message, line string, variables map[string]int, tables map[string][]string) string {
	for _, h := range habits {
		pattern, text := h.message, message
		if pattern == nil && (message == "" || syntax.MatchString(message)) {
			pattern, text = h.line, line
		}
		if pattern == nil {
			continue
		}
		at := pattern.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		if h.table {
			if _, known := tables[text[at[2]:at[3]]]; !known {
				continue
			}
		}
		return "; " + string(pattern.ExpandString(nil, h.hint, text, at))
	}
	return x.similar(message, line, variables)
}

var (
	undefined   = regexp.MustCompile(`undefined: (?:(\w+)\.)?(\w+)$`)
	noMember    = regexp.MustCompile(`undefined \(type \*?(\w+\.\w+) has no field or method (\w+)\)$`)
	noField     = regexp.MustCompile(`unknown field (\w+) in struct literal of type (\w+\.\w+)$`)
	notAPackage = regexp.MustCompile(`^(\w+)\.\w+ undefined \(type .* has no field or method`)
)

// similar returns the name that was probably meant by an undefined one, as the end of a message, or "".
func (x *resultIndex) similar(message, line string, variables map[string]int) string {
	if m := noMember.FindStringSubmatch(message); m != nil {
		return table.Hint(m[2], x.names[m[1]])
	}
	if m := noField.FindStringSubmatch(message); m != nil {
		return table.Hint(m[1], x.names[m[2]])
	}
	if m := notAPackage.FindStringSubmatch(message); m != nil && variables[m[1]] > 0 && x.names[m[1]] != nil {
		return fmt.Sprintf("; the notebook's variable %s hides package %[1]s: rename it and restart the kernel", m[1])
	}
	m := undefined.FindStringSubmatch(message)
	if m == nil || len(m[2]) < 3 {
		return ""
	}
	if x.names[m[2]] != nil { // a package none of whose exported names is used
		used := regexp.MustCompile(`\b` + m[2] + `\.(\w+)`).FindStringSubmatch(line)
		if used == nil {
			return ""
		}
		m[1], m[2] = m[2], used[1]
	}
	packages := slices.Sorted(maps.Keys(x.names))
	if m[1] == "" {
		hint := table.Hint(m[2], slices.Sorted(maps.Keys(variables)))
		if hint != "" || !token.IsExported(m[2]) {
			return hint
		}
	} else if near := table.Nearest(m[2], x.names[m[1]]); near != "" {
		return fmt.Sprintf("; did you mean %q?", m[1]+"."+near)
	}
	var names, full []string
	for _, p := range packages {
		for _, name := range x.names[p] {
			if p == m[1] || strings.Contains(p, ".") || !token.IsExported(name) {
				continue
			}
			if name == m[2] {
				return fmt.Sprintf("; did you mean %q?", p+"."+name)
			}
			names, full = append(names, name), append(full, p+"."+name)
		}
	}
	if near := table.Nearest(m[2], names); near != "" {
		return fmt.Sprintf("; did you mean %q?", full[slices.Index(names, near)])
	}
	return ""
}

// note adds the names that a declaration exports: PACKAGE → its names, PACKAGE.TYPE → methods and fields.
func (x *resultIndex) note(pkg string, d ast.Decl) {
	add := func(key string, name *ast.Ident) {
		if name.IsExported() {
			x.names[key] = append(x.names[key], name.Name)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(pkg, d.Name)
			return
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		add(cmp.Or(typeOf(pkg, receiver), pkg+"."), d.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					add(pkg, n)
				}
			case *ast.TypeSpec:
				add(pkg, s.Name)
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						for _, n := range f.Names {
							add(pkg+"."+s.Name.Name, n)
						}
					}
				}
			}
		}
	}
}

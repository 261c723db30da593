package datasets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"antipode/kernel/client"
)

// The operations of [Imported]: the source, which lists a folder's pictures, and the row-wise stage that cuts those that are grids. The
// stage reads the columns image (the grid) and cell (a number from 1) and gives the column image.
const (
	ImportedOp = "imported"
	CutOp      = "cut"
)

// CutArgs are the arguments of the stage that cuts grids; see [ImportOptions].
type CutArgs struct {
	Grid   int `json:"grid"`
	Margin int `json:"margin"`
	Gap    int `json:"gap"`
}

// ImportOptions say what the pictures of [Imported] are.
type ImportOptions struct {
	Model    string // the generator's name, for the column model; needed unless the names or the sidecar say
	Language string // the prompts' language, for the column language; "" = no such column unless the names or the sidecar say

	// Names are patterns of file names, of which the first that fits counts: the name without its ending, or with a / in the pattern the
	// path below the folder. {column} stands for a column's value and {*} for anything; the rest stands for itself. Values are texts as
	// short as fits, or as {column:KIND} says: "words", where the spaces are written _; "number", digits, which make a number
	// column; "uuid". Of patterns that differ in their columns, the missing ones hold no value. See [MidjourneyNames].
	Names []string

	// Sidecar is a CSV with a row for every picture: the column file is its path below the folder, the others become the table's.
	// A relative path is one below the folder. A sidecar and names can be combined, if they share no column.
	Sidecar string

	// Grid cuts each picture, of Grid × Grid pictures, row by row from the top left, as DALL·E mini shows its nine. Each becomes a row, with
	// the text column grid (the file) and the number column cell (from 1). 0 and 1 cut nothing. A grid is cut once; its pictures are kept in
	// the store. One that cannot be cut is as many bad rows.
	Grid   int
	Margin int // pixels around the grid
	Gap    int // pixels between its pictures
}

// MidjourneyNames are the names of pictures that Midjourney exports: the user, the prompt's first words, a job's id and, of one of its four
// pictures, which (in the column variant). The prompt is cut after about 60 letters and has lost its punctuation; give the whole one in a sidecar.
var MidjourneyNames = []string{"{*}_{prompt:words}_{job:uuid}_{variant:number}", "{*}_{prompt:words}_{job:uuid}"}

// ImportedArgs are the arguments of [Imported].
type ImportedArgs struct {
	Dir     string              `json:"dir"` // absolute
	Options ImportOptions       `json:"options"`
	Sidecar []client.ColumnSpec `json:"sidecar,omitempty"` // the sidecar's columns, as its head shows them
}

// Imported is the table of pictures that a generator elsewhere made: all images in the folder and those below it, of the formats
// that [Folder] reads, sorted by path. Columns: id (the path below the folder, with the cell's number behind # where the picture is
// cut), image, source ("generated"), model, language, and what the names or the sidecar say, such as prompt and seed.
//
// A picture whose name fits no pattern, a picture without a row in the sidecar, and a row without a picture are errors that list them.
func Imported(dir string, o ImportOptions) Table {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Table{}.Fail(fmt.Errorf("%s: %w", dir, err))
	}
	if info, err := os.Stat(abs); err != nil {
		return Table{}.Fail(fmt.Errorf("cannot read the folder %s: %w", dir, plainPathError(err)))
	} else if !info.IsDir() {
		return Table{}.Fail(fmt.Errorf("%s is a file, not a folder", dir))
	}
	args := ImportedArgs{Dir: abs, Options: o}
	if o.Sidecar != "" {
		if !filepath.IsAbs(o.Sidecar) {
			args.Options.Sidecar = filepath.Join(abs, o.Sidecar)
		}
		f, err := os.Open(args.Options.Sidecar)
		if err != nil {
			return Table{}.Fail(fmt.Errorf("cannot read the sidecar %s: %w", o.Sidecar, plainPathError(err)))
		}
		defer f.Close()
		if args.Sidecar, err = SniffCSV(f, filepath.Base(o.Sidecar)); err != nil {
			return Table{}.Fail(err)
		}
	}
	columns, err := args.columns()
	if err != nil {
		return Table{}.Fail(fmt.Errorf("the pictures in %s: %w", dir, err))
	}
	t := New(ImportedOp, args, columns).Named(filepath.Base(abs))
	if o.Grid > 1 {
		t = t.Derive(CutOp, CutArgs{o.Grid, o.Margin, o.Gap}, client.ColumnSpec{Name: "image", Kind: client.Picture})
	}
	return t
}

// importedOwn are the columns that the source fills itself.
var importedOwn = []string{"id", "image", "mask", "source", "grid", "cell"}

// columns are the table's, or what is wrong with the options.
func (a *ImportedArgs) columns() ([]client.ColumnSpec, error) {
	o := &a.Options
	switch {
	case o.Grid < 0 || o.Grid > 64 || o.Margin < 0 || o.Gap < 0:
		return nil, fmt.Errorf("a grid of %d × %[1]d with margin %d and gap %d: give 0 to 64 pictures a side and no negative pixels", o.Grid, o.Margin, o.Gap)
	case o.Grid <= 1 && (o.Margin > 0 || o.Gap > 0):
		return nil, errors.New("a margin and a gap are of a grid: say of how many pictures a side it is")
	}
	columns := Columns("id:text", "image:image", "source:text")
	if o.Grid > 1 {
		columns = append(columns, Columns("grid:text", "cell:number")...)
	}
	patterns, err := o.patterns()
	if err != nil {
		return nil, err
	}
	var named []client.ColumnSpec // of all patterns
	for _, p := range patterns {
		for _, c := range p.columns {
			at := slices.IndexFunc(named, func(n client.ColumnSpec) bool { return n.Name == c.Name })
			if at < 0 {
				named = append(named, c)
			} else if named[at].Kind != c.Kind {
				return nil, fmt.Errorf("column %q is a number in one pattern of Names and text in another", c.Name)
			}
		}
	}
	if len(a.Sidecar) > 0 && !slices.ContainsFunc(a.Sidecar, func(c client.ColumnSpec) bool { return c.Name == "file" }) {
		return nil, fmt.Errorf("the sidecar %s has no column file (there are: %s)", filepath.Base(o.Sidecar), client.NameList(a.Sidecar))
	}
	for _, c := range append(named, a.Sidecar...) {
		switch {
		case c.Name == "file" && len(a.Sidecar) > 0:
			continue
		case slices.Contains(importedOwn, c.Name):
			return nil, fmt.Errorf("column %q of the names or the sidecar is one that the import fills itself", c.Name)
		case slices.ContainsFunc(columns, func(n client.ColumnSpec) bool { return n.Name == c.Name }):
			return nil, fmt.Errorf("column %q stands in both the names and the sidecar", c.Name)
		}
		if c.Kind != client.Number {
			c.Kind = client.Text
		}
		columns = append(columns, c)
	}
	for _, c := range []struct{ name, value string }{{"model", o.Model}, {"language", o.Language}} {
		known := slices.ContainsFunc(columns, func(n client.ColumnSpec) bool { return n.Name == c.name })
		switch {
		case known && c.value != "":
			return nil, fmt.Errorf("the option %s is %q, but the names or the sidecar have a column of that name", c.name, c.value)
		case c.value != "":
			columns = append(columns, client.ColumnSpec{Name: c.name, Kind: client.Text})
		case c.name == "model" && !known:
			return nil, errors.New("name the generator, for example midjourney-v6: as the model, or in a column model of the names or the sidecar")
		}
	}
	return columns, nil
}

// namePattern is one of [ImportOptions.Names].
type namePattern struct {
	text    string
	match   *regexp.Regexp
	columns []client.ColumnSpec // of the groups of match, in order
	words   []bool              // where _ stands for a space
	path    bool                // it is of the path, not of the name
}

var (
	patternField = regexp.MustCompile(`\{[^{}]*\}`)
	fieldName    = regexp.MustCompile(`^([a-z][a-z0-9_]*)(:words|:number|:uuid)?$`)
)

// patterns reads Names.
func (o *ImportOptions) patterns() ([]namePattern, error) {
	var out []namePattern
	for _, text := range o.Names {
		p := namePattern{text: text, path: strings.Contains(text, "/")}
		expression, rest := "(?s)^", text
		for {
			at := patternField.FindStringIndex(rest)
			if at == nil {
				break
			}
			field := rest[at[0]+1 : at[1]-1]
			expression += regexp.QuoteMeta(rest[:at[0]])
			rest = rest[at[1]:]
			if field == "*" {
				expression += ".*?"
				continue
			}
			m := fieldName.FindStringSubmatch(field)
			if m == nil {
				return nil, fmt.Errorf("pattern %q: {%s} is none of {*}, {column}, {column:words}, {column:number} and {column:uuid}", text, field)
			}
			c := client.ColumnSpec{Name: m[1], Kind: client.Text}
			switch m[2] {
			case ":number":
				c.Kind = client.Number
				expression += `([0-9]+)`
			case ":uuid":
				expression += `([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})`
			default:
				expression += `(.+?)`
			}
			if c.Kind == client.Number && slices.Contains(textNames, c.Name) || c.Kind == client.Text && slices.Contains(numberNames, c.Name) {
				return nil, fmt.Errorf("pattern %q: column %s holds no %s values", text, c.Name, c.Kind)
			}
			if slices.ContainsFunc(p.columns, func(o client.ColumnSpec) bool { return o.Name == c.Name }) {
				return nil, fmt.Errorf("pattern %q: {%s} stands twice", text, c.Name)
			}
			p.columns, p.words = append(p.columns, c), append(p.words, m[2] == ":words")
		}
		if strings.ContainsAny(rest, "{}") || len(p.columns) == 0 {
			return nil, fmt.Errorf("pattern %q: it holds no column, or a brace without the other", text)
		}
		var err error
		if p.match, err = regexp.Compile(expression + regexp.QuoteMeta(rest) + "$"); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", text, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// values are what the name of a file says, by column; false where no pattern fits. file is the path below the folder.
func values(patterns []namePattern, file string) (map[string]string, bool) {
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	for _, p := range patterns {
		name := stem
		if !p.path {
			name = stem[strings.LastIndexByte(stem, '/')+1:]
		}
		found := p.match.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		out := map[string]string{}
		for i, c := range p.columns {
			v := found[i+1]
			if p.words[i] {
				v = strings.Join(strings.Fields(strings.ReplaceAll(v, "_", " ")), " ")
			}
			out[c.Name] = v
		}
		return out, true
	}
	return nil, false
}

// some lists texts for a message: the first ten and how many there are.
func some(texts []string) string {
	const most = 10
	list := make([]string, 0, most)
	for _, t := range texts[:min(most, len(texts))] {
		list = append(list, strconv.Quote(t))
	}
	more := ""
	if len(texts) > most {
		more = fmt.Sprintf(" and %d more", len(texts)-most)
	}
	return strings.Join(list, ", ") + more
}

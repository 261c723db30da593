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

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
)

// The operations of [Imported]: the source, which lists a folder's images, and the row-wise stage that cuts grids. The
// stage reads the columns image (the grid) and cell (a number from 1) and writes the column image.
const (
	ImportedOp = "imported"
	CutOp      = "cut"
)

// CutArgs are the arguments of the operation [CutOp]; see [ImportOptions].
type CutArgs struct {
	Grid   int `json:"grid"`
	Margin int `json:"margin"`
	Gap    int `json:"gap"`
}

// ImportOptions are the options of [Imported].
type ImportOptions struct {
	// Model is the generator, for the column model; required if neither Names nor Sidecar has the column.
	Model string `json:"model,omitempty" help:"the generator's NAME, for the column model; needed unless the names or the sidecar contain it"`
	// Language is that of the prompts, for the column language; "" = none, or the column of Names or Sidecar.
	Language string `json:"language,omitempty" help:"the prompts' language, for the column language"`

	// Names are patterns of file names; the first that matches is used. A pattern matches the name without its
	// extension or, if it contains a /, the path relative to the folder. {column} matches a column's value, {*} any
	// text, and other characters themselves. {column} is the shortest text that matches; {column:words} is text with _
	// for spaces, {column:number} digits for a number column, and {column:uuid} a UUID. A row has no value in the
	// columns of other patterns. See [MidjourneyNames].
	Names []string `json:"names,omitempty" repeated:"true" help:"a pattern of file names without their ending, such as {prompt:words}_{seed:number}: {column}, {column:words} (_ for spaces), {column:number}, {column:uuid}, {*} = anything; with a / it matches the path below DIR. Of several the first that matches is used"`

	// Sidecar is a CSV file with a row for every image: the column file is the image's path relative to the folder, the
	// others are columns of the table. A relative path is relative to the folder. Names and Sidecar must not have the
	// same column.
	Sidecar string `json:"sidecar,omitempty" help:"a CSV file, here or in DIR, with a row for every image: its column file is the path below DIR, the others are added to the table"`

	// Grid cuts each image into Grid × Grid images, row by row from the top left, for generators that return grids such
	// as DALL·E mini. Each is a row, with the text column grid (the file) and the number column cell (from 1). 0 and 1
	// cut nothing. The images are stored; all rows of a grid that cannot be cut are bad rows.
	Grid   int `json:"grid,omitempty" min:"0" max:"64" help:"split each image into N × N, row by row, as DALL·E mini arranges its nine"`
	Margin int `json:"margin,omitempty" min:"0" help:"pixels around such a grid"`
	Gap    int `json:"gap,omitempty" min:"0" help:"pixels between its images"`
}

// MidjourneyNames are the patterns of the file names that Midjourney exports: the user, the first words of the prompt,
// the job's id and the number of one of its four images (column variant). The names contain about 60 letters of the
// prompt without punctuation; for whole prompts use a sidecar.
var MidjourneyNames = []string{"{*}_{prompt:words}_{job:uuid}_{variant:number}", "{*}_{prompt:words}_{job:uuid}"}

// ImportedArgs are the arguments of [Imported].
type ImportedArgs struct {
	Dir     string             `json:"dir"` // absolute
	Options ImportOptions      `json:"options"`
	Sidecar []table.ColumnSpec `json:"sidecar,omitempty"` // the sidecar's columns
}

// Imported returns the table of images that a generator outside Antipode made: the images in a folder and its
// subfolders, in the formats of [Folder], sorted by path. Columns: id (the path relative to the folder, with # and the
// cell's number for cut images), image, source ("generated"), model, language, and the columns of the names or the
// sidecar, such as prompt and seed.
//
// Images whose names match no pattern, images without a row in the sidecar, and rows without an image are errors that
// list them.
func Imported(dir string, options ...ImportOptions) Table {
	o, err := table.One(options)
	if err == nil {
		err = operation.OptionsOf[ImportOptions]().Check(&o)
	}
	if err != nil {
		return Table{}.failed(fmt.Errorf("Imported: %w", err))
	}
	if objecturl.IsRemote(dir) {
		return Table{}.failed(errors.New("Imported: its folder is read from a disk only; copy the objects there"))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Table{}.failed(fmt.Errorf("%s: %w", dir, err))
	}
	if info, err := os.Stat(abs); err != nil {
		return Table{}.failed(fmt.Errorf("cannot read the folder %s: %w", dir, plainPathError(err)))
	} else if !info.IsDir() {
		return Table{}.failed(fmt.Errorf("%s is a file, not a folder", dir))
	}
	args := ImportedArgs{Dir: abs, Options: o}
	if o.Sidecar != "" {
		if !filepath.IsAbs(o.Sidecar) {
			args.Options.Sidecar = filepath.Join(abs, o.Sidecar)
		}
		header, err := csvHeader(args.Options.Sidecar, o.Sidecar)
		if err != nil {
			return Table{}.failed(err)
		}
		args.Sidecar = headerKinds(header)
	}
	columns, err := args.columns()
	if err != nil {
		return Table{}.failed(fmt.Errorf("import %s: %w", dir, err))
	}
	t := New(ImportedOp, args, columns).named(filepath.Base(abs))
	if o.Grid > 1 {
		t = t.derive(CutOp, CutArgs{o.Grid, o.Margin, o.Gap}, table.ColumnSpec{Name: "image", Kind: table.KindImage})
	}
	return t
}

// importedOwn are the columns that Imported sets.
var importedOwn = []string{"id", "image", "mask", "source", "grid", "cell"}

// columns returns the table's columns, or an error in the options.
func (a *ImportedArgs) columns() ([]table.ColumnSpec, error) {
	o := &a.Options
	switch {
	case o.Grid <= 1 && (o.Margin > 0 || o.Gap > 0):
		return nil, errors.New("margin and gap need a grid: set the number of images a side")
	}
	columns := Columns("id:text", "image:image", "source:text")
	if o.Grid > 1 {
		columns = append(columns, Columns("grid:text", "cell:number")...)
	}
	patterns, err := o.patterns()
	if err != nil {
		return nil, err
	}
	var named []table.ColumnSpec // of all patterns
	for _, p := range patterns {
		for _, c := range p.columns {
			at := table.Position(named, c.Name)
			if at < 0 {
				named = append(named, c)
			} else if named[at].Kind != c.Kind {
				return nil, fmt.Errorf("column %q is a number in one pattern of Names and text in another", c.Name)
			}
		}
	}
	if len(a.Sidecar) > 0 && table.Position(a.Sidecar, "file") < 0 {
		return nil, fmt.Errorf("the sidecar %s has no column \"file\" (columns: %s)", filepath.Base(o.Sidecar),
			table.NameList(a.Sidecar))
	}
	for _, c := range append(named, a.Sidecar...) {
		switch {
		case c.Name == "file" && len(a.Sidecar) > 0:
			continue
		case slices.Contains(importedOwn, c.Name):
			return nil, fmt.Errorf("column %q of the names or the sidecar is set by the import; rename it", c.Name)
		case table.Position(columns, c.Name) >= 0:
			return nil, fmt.Errorf("column %q is in both the names and the sidecar", c.Name)
		}
		columns = append(columns, c)
	}
	for _, c := range []struct{ name, value string }{{"model", o.Model}, {"language", o.Language}} {
		known := table.Position(columns, c.name) >= 0
		switch {
		case known && c.value != "":
			return nil, fmt.Errorf("the option %s is %q, but the names or the sidecar have a column of that name",
				c.name, c.value)
		case c.value != "":
			columns = append(columns, table.ColumnSpec{Name: c.name, Kind: table.KindText})
		case c.name == "model" && !known:
			return nil, errors.New("no model: name the generator, for example midjourney-v6, as the option model or " +
				"in a column model of the names or the sidecar")
		}
	}
	return columns, nil
}

// namePattern is one of [ImportOptions.Names].
type namePattern struct {
	text    string
	match   *regexp.Regexp
	columns []table.ColumnSpec // of the groups of match, in order
	words   []bool             // _ is a space
	path    bool               // it matches the path, not only the name
}

var (
	patternField = regexp.MustCompile(`\{[^{}]*\}`)
	fieldName    = regexp.MustCompile(`^([a-z][a-z0-9_]*)(:words|:number|:uuid)?$`)
)

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
				return nil, fmt.Errorf("pattern %q: {%s} is not one of {*}, {column}, {column:words}, {column:number} "+
					"or {column:uuid}", text, field)
			}
			c := table.ColumnSpec{Name: m[1], Kind: table.KindText}
			switch m[2] {
			case ":number":
				c.Kind = table.KindNumber
				expression += `([0-9]+)`
			case ":uuid":
				expression += `([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})`
			default:
				expression += `(.+?)`
			}
			if by := table.KindByName(c.Name); by != c.Kind && (by == table.KindText || by == table.KindNumber) {
				return nil, fmt.Errorf("pattern %q: column %s cannot contain %s values", text, c.Name, c.Kind)
			}
			if table.Position(p.columns, c.Name) >= 0 {
				return nil, fmt.Errorf("pattern %q: {%s} occurs twice", text, c.Name)
			}
			p.columns, p.words = append(p.columns, c), append(p.words, m[2] == ":words")
		}
		if strings.ContainsAny(rest, "{}") || len(p.columns) == 0 {
			return nil, fmt.Errorf("pattern %q: no column, or an unmatched brace", text)
		}
		var err error
		if p.match, err = regexp.Compile(expression + regexp.QuoteMeta(rest) + "$"); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", text, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// values returns the values in a file's name by column, false if no pattern matches. file is relative to the folder.
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

// some lists texts for a message: the first ten and the number of others.
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

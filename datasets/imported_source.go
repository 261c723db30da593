package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"antipode/datasets/table"
)

type importedRow struct {
	file   string // path relative to the folder, with /
	values map[string]string
}

// Evaluate evaluates [Imported]. It opens no image: the caller hashes the files. note adds a line for the user.
func (a *ImportedArgs) Evaluate(note func(format string, args ...any)) (*Frame, error) {
	columns, err := a.columns()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(a.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", a.Dir, plainPathError(err))
	}
	defer root.Close()
	rows, err := a.rows(root, note)
	if err != nil {
		return nil, err
	}
	return a.frame(columns, rows)
}

// rows returns the images in the folder with the values of their names and of the sidecar.
func (a *ImportedArgs) rows(root *os.Root, note func(string, ...any)) ([]importedRow, error) {
	listed, err := ListImageFiles(root.FS())
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", a.Dir, plainPathError(err))
	}
	if err := listed.None(a.Dir); err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(a.Dir, a.Options.Sidecar); err == nil && filepath.IsLocal(rel) {
		listed.Without(rel)
	}
	if line := listed.Note(filepath.Base(a.Dir)); line != "" {
		note("%s", line)
	}
	files := listed.Paths
	slices.Sort(files)
	if odd := slices.DeleteFunc(slices.Clone(files), utf8.ValidString); len(odd) > 0 {
		return nil, fmt.Errorf("%d of %d names in %s are not UTF-8: %s; rename the files", len(odd), len(files),
			a.Dir,
			some(odd))
	}
	if outside := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		_, err := root.Stat(filepath.FromSlash(file))
		return err == nil || errors.Is(err, fs.ErrNotExist) // a missing file is a bad row
	}); len(outside) > 0 {
		return nil, fmt.Errorf("%d of %d images in %s cannot be opened because they are links that leave the "+
			"folder: %s; copy the files into it", len(outside), len(files), a.Dir, some(outside))
	}
	patterns, err := a.Options.patterns()
	if err != nil {
		return nil, err
	}
	var sidecar map[string]map[string]string
	if a.Options.Sidecar != "" {
		if sidecar, err = a.readSidecar(files); err != nil {
			return nil, err
		}
	}
	var rows []importedRow
	var unparsed []string
	for _, file := range files {
		row := importedRow{file, map[string]string{}}
		if len(patterns) > 0 {
			found, fits := values(patterns, file)
			if !fits {
				unparsed = append(unparsed, file)
				continue
			}
			row.values = found
		}
		for name, v := range sidecar[file] {
			row.values[name] = v
		}
		rows = append(rows, row)
	}
	if len(unparsed) > 0 {
		return nil, fmt.Errorf("%d of %d names in %s match none of the patterns (%s): %s", len(unparsed), len(files),
			a.Dir, some(a.Options.Names), some(unparsed))
	}
	return rows, nil
}

// readSidecar returns the sidecar's values by file and column. It must have one row for each file.
func (a *ImportedArgs) readSidecar(files []string) (map[string]map[string]string, error) {
	name := filepath.Base(a.Options.Sidecar)
	f, err := os.Open(a.Options.Sidecar)
	if err != nil {
		return nil, fmt.Errorf("cannot read the sidecar %s: %w", name, plainPathError(err))
	}
	defer f.Close()
	cr, err := OpenCSV(f, name)
	if err != nil {
		return nil, err
	}
	header := cr.Header
	if !slices.EqualFunc(header, a.Sidecar, func(h string, c table.ColumnSpec) bool { return h == c.Name }) {
		return nil, fmt.Errorf("%s: its columns have changed since the table was created", name)
	}
	here, like := map[string]bool{}, map[string][]string{}
	folded := func(file string) string { return strings.ToLower(norm.NFC.String(file)) }
	for _, file := range files {
		here[file] = true
		like[folded(file)] = append(like[folded(file)], file)
	}
	out, lines := map[string]map[string]string{}, map[string]int{}
	var without []string
	for {
		record, line, err := cr.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, h := range header {
			row[h] = record[i]
		}
		file := path.Clean(strings.ReplaceAll(row["file"], `\`, "/"))
		delete(row, "file")
		if same := like[folded(file)]; !here[file] && len(same) == 1 {
			file = same[0] // written in other case, or with accents as characters of their own
		}
		switch {
		case lines[file] > 0:
			return nil, fmt.Errorf("%s, line %d: %q is also in line %d", name, line, file, lines[file])
		case !here[file]:
			without = append(without, fmt.Sprintf("line %d: %s", line, file))
		}
		out[file], lines[file] = row, line
	}
	if len(without) > 0 {
		return nil, fmt.Errorf("%s: %d rows name files that are not images in %s: %s", name, len(without), a.Dir,
			some(without))
	}
	missing := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return lines[file] > 0 })
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: %d of %d images have no row: %s", name, len(missing), len(files), some(missing))
	}
	return out, nil
}

// exactSeeds reports whether numbers keep all digits of seeds, which may begin with zeros.
func exactSeeds(seeds []string) bool {
	trimmed := make([]string, len(seeds))
	for i, s := range seeds {
		if trimmed[i] = strings.TrimLeft(s, "0"); trimmed[i] == "" {
			trimmed[i] = s[:min(len(s), 1)]
		}
	}
	return table.CSVColumn("seed", trimmed, table.NumberFormat{}).Kind == table.KindNumber
}

// frame returns the rows as a frame: one row for each file, or for each image of a grid.
func (a *ImportedArgs) frame(specs []table.ColumnSpec, rows []importedRow) (*Frame, error) {
	cells := max(1, a.Options.Grid*a.Options.Grid)
	f := table.NewFrame(specs)
	for _, row := range rows {
		for cell := range cells {
			own := map[string]string{"id": row.file, "source": "generated", "model": a.Options.Model,
				"language": a.Options.Language, "grid": row.file, "cell": strconv.Itoa(cell + 1)}
			if cells > 1 {
				own["id"] += "#" + own["cell"]
			}
			for at := range f.Columns {
				c := &f.Columns[at]
				v, given := row.values[c.Name]
				if !given {
					v = own[c.Name]
				}
				if c.Kind == table.KindImage {
					c.Images = append(c.Images, table.Image{Path: filepath.Join(a.Dir, filepath.FromSlash(row.file))})
					continue
				}
				c.Texts = append(c.Texts, v)
			}
		}
	}
	for at := range f.Columns {
		c := &f.Columns[at]
		switch kind := c.Kind; kind {
		case table.KindNumber: // of the names, or the seed
			numbers := make([]float64, len(c.Texts))
			for i, v := range c.Texts {
				var err error
				if numbers[i], err = math.NaN(), nil; v != "" {
					numbers[i], err = strconv.ParseFloat(v, 64)
				}
				if err != nil {
					return nil, fmt.Errorf("%q: column %s: %q is not a number", rows[i/cells].file, c.Name, v)
				}
			}
			if c.Name == "seed" && !exactSeeds(c.Texts) {
				f.Columns[at] = table.TextColumn(c.Name, c.Texts)
			} else {
				f.Columns[at] = table.NumberColumn(c.Name, numbers)
			}
		case "": // of the sidecar
			f.Columns[at] = table.CSVColumn(c.Name, c.Texts, table.NumberFormat{})
		}
	}
	return f, f.Check()
}

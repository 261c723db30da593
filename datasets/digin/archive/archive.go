// Package archive reads the reference sets of DIG In, GeoDE and DollarStreet, from their archives as released: an index in CSV
// and the folders of pictures beside it. Packages geode and dollarstreet say how theirs are laid out, by a [Layout].
//
// Nothing is fetched and no picture is opened here. Every picture an index names must be a file inside the archive's folder, reached
// without leaving it (by .. , by an absolute path or by a link); what an index says wrong is an error of one line with file, line and column.
package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
)

// Photo is one row of the table: a picture and an object in it.
type Photo struct {
	ID      string  // unique in the table
	Path    string  // of the picture: in the index's own words from Layout.Photos, below the archive's folder, with /, from [Layout.Read]
	Object  string  // in words with spaces, as prompts have it
	Region  string  // the region's key: "SouthEastAsia"
	Country string  // "" where the index has none
	Income  float64 // of the household, US dollars a month (purchasing power parity); NaN where the index has none
}

// Layout says how an archive is laid out and what its index means.
type Layout struct {
	Name    string     // of the data set, in [manifest]
	Page    string     // the page to get it from
	Shape   string     // what an unpacked archive looks like, in a line
	Indexes [][]string // alternatives, the first that is there counts: patterns ([path.Match]) below the archive's folder; all their files are read, in order
	Folders []string   // the index's paths start in one of these, below the index's own folder; the first that holds the picture counts
	Path    string     // the index's column with the picture's path
	Need    []string   // the other columns that must be there
	Income  bool       // the table has a column income

	// Photos are the rows that a row of the index stands for.
	Photos func(s *manifest.Sheet, row int) ([]Photo, error)
}

// Options say which archive, and how strictly it is read.
type Options struct {
	Dir     string `json:"dir,omitempty"`     // folder of the unpacked archive; "" = found, see [manifest.Find]
	Present bool   `json:"present,omitempty"` // leave out the rows whose picture is missing (part of an archive); else a missing picture is an error
}

// endings are those of the pictures that [datasets.Folder] finds.
var endings = []string{".jpg", ".jpeg", ".png", ".gif", ".webp"}

// Read reads the index of the archive in a folder. missing counts the rows left out by Options.Present.
func (l Layout) Read(o Options) (photos []Photo, missing int, err error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, 0, l.absent(o.Dir)
	}
	defer root.Close()
	names, err := l.indexes(root.FS(), o.Dir)
	if err != nil {
		return nil, 0, err
	}
	first := map[string]string{}
	for _, name := range names {
		data, err := fs.ReadFile(root.FS(), name)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", l.Name, err)
		}
		s, err := manifest.ReadSheet(name, data, append([]string{l.Path}, l.Need...)...)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", l.Name, err)
		}
		for row := range s.Len() {
			found, err := l.Photos(s, row)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", l.Name, err)
			}
			for _, p := range found {
				if at, twice := first[p.ID]; twice {
					return nil, 0, fmt.Errorf("%s: %s, line %d: the id %q stands in %s already; remove one of the two rows", l.Name, s.Name, s.Line(row), p.ID, at)
				}
				first[p.ID] = fmt.Sprintf("%s, line %d,", s.Name, s.Line(row))
				p.Path, err = l.locate(root, path.Dir(name), p.Path)
				switch {
				case errors.Is(err, fs.ErrNotExist) && o.Present:
					missing++
					continue
				case err != nil:
					return nil, 0, fmt.Errorf("%s: %w", l.Name, s.Errorf(row, s.Column(l.Path), "%v", err))
				}
				photos = append(photos, p)
			}
		}
	}
	if len(photos) == 0 {
		return nil, 0, fmt.Errorf("%s: %s in %s name no picture that is there; %s", l.Name, strings.Join(names, ", "), o.Dir, l.Shape)
	}
	return photos, missing, nil
}

// indexes are the index files there are, below the root.
func (l Layout) indexes(fsys fs.FS, dir string) ([]string, error) {
	for _, patterns := range l.Indexes {
		var names []string
		for _, p := range patterns {
			found, err := fs.Glob(fsys, p)
			if err != nil {
				return nil, err
			}
			names = append(names, found...)
		}
		if len(names) > 0 {
			return names, nil
		}
	}
	return nil, l.absent(dir)
}

func (l Layout) absent(dir string) error {
	if dir == "" {
		dir = "the store's data folder"
	}
	return fmt.Errorf("%s: no index in %s: get the archive from %s and unpack it (%s), then name its folder, or set ANTIPODE_DATA to the folder that holds it as %s", l.Name, dir, l.Page, l.Shape, l.Name)
}

// locate is a picture's path below the root. It wraps [fs.ErrNotExist] where no such file is there.
func (l Layout) locate(root *os.Root, dir, name string) (string, error) {
	if name == "" {
		return "", errors.New("the path is empty")
	}
	clean := path.Clean(name)
	if path.IsAbs(clean) || strings.ContainsAny(clean, "\\\x00") || slices.ContainsFunc(strings.Split(clean, "/"), func(part string) bool { return strings.HasPrefix(part, ".") }) {
		return "", fmt.Errorf("the path %q leaves the archive's folder or is hidden; a path is relative, with /, and no part of it starts with a dot", name)
	}
	if !slices.Contains(endings, strings.ToLower(path.Ext(clean))) {
		return "", fmt.Errorf("%q is no picture; its name ends in none of %s", name, strings.Join(endings, " "))
	}
	for _, folder := range l.Folders {
		full := path.Join(dir, folder, clean)
		info, err := root.Stat(filepath.FromSlash(full))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("%q cannot be read inside the archive's folder; a link must not leave it", name)
		case !info.Mode().IsRegular():
			return "", fmt.Errorf("%q is no file", name)
		default:
			for at := path.Dir(full); at != "."; at = path.Dir(at) {
				if info, err := root.Lstat(filepath.FromSlash(at)); err != nil || !info.IsDir() {
					return "", fmt.Errorf("%q lies behind the link %s, which is not followed; put the folder itself there", name, at)
				}
			}
			return full, nil
		}
	}
	return "", missingError(name)
}

// missingError is the path of a picture that is not there.
type missingError string

func (e missingError) Error() string {
	return fmt.Sprintf("the picture %s is missing; unpack the archive again, or read only what is present", string(e))
}

func (e missingError) Is(target error) bool { return target == fs.ErrNotExist }

func (l Layout) columns(rest ...string) []string {
	names := append(rest, "object:text", "region:text", "country:text")
	if l.Income {
		names = append(names, "income:number")
	}
	return names
}

// Table is the table of the archive's pictures: id, image, object, region, country, and income where the layout has it. The
// files of all pictures in the folder are read once, for their content hashes, when the table first runs; a hash is kept as
// long as its file does not change.
func (l Layout) Table(o Options) datasets.Table {
	o.Dir = manifest.Here(l.Name, o.Dir)
	if o.Dir == "" {
		return datasets.Table{}.Fail(l.absent(""))
	}
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return datasets.Table{}.Fail(l.absent(o.Dir))
	}
	o.Dir = dir
	index := datasets.New(l.op(), o, datasets.Columns(l.columns("id:text", "path:text")...))
	var keep []string
	for _, c := range l.columns("id:text", "image:image") {
		keep = append(keep, strings.Split(c, ":")[0])
	}
	return index.Join(datasets.Folder(dir).Rename("id", "path"), "path").Select(keep...).Named(l.Name)
}

func (l Layout) op() string { return l.Name + "-index" }

// Register makes the layout's table known, under the data set's name, and the source it reads.
func (l Layout) Register() {
	manifest.RegisterTable(l.Name, func() datasets.Table { return l.Table(Options{}) })
	datasets.RegisterSource(l.op(), func(_ context.Context, raw json.RawMessage, env datasets.SourceEnv) (*datasets.Frame, error) {
		var o Options
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		photos, missing, err := l.Read(o)
		if err != nil {
			return nil, err
		}
		if missing > 0 && env.Note != nil {
			env.Note("%s: %d rows left out: their pictures are not in %s", l.Name, missing, o.Dir)
		}
		return l.frame(photos), nil
	})
}

func (l Layout) frame(photos []Photo) *datasets.Frame {
	n := len(photos)
	ids, paths, objects, regions, countries, incomes := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]float64, n)
	for i, p := range photos {
		ids[i], paths[i], objects[i], regions[i], countries[i], incomes[i] = p.ID, p.Path, p.Object, p.Region, p.Country, p.Income
	}
	f := &datasets.Frame{Columns: []client.Column{client.TextColumn("id", ids), client.TextColumn("path", paths),
		client.TextColumn("object", objects), client.TextColumn("region", regions), client.TextColumn("country", countries)}}
	if l.Income {
		f.Columns = append(f.Columns, client.NumberColumn("income", incomes))
	}
	return f
}

// Cell is the text of a column in a row, "" where the index has no such column.
func Cell(s *manifest.Sheet, row int, column string) string {
	if at := s.Column(column); at >= 0 {
		return strings.TrimSpace(s.Rows[row][at])
	}
	return ""
}

// Number is the number of a column in a row, NaN where the cell is empty or the index has no such column.
func Number(s *manifest.Sheet, row int, column string) (float64, error) {
	if at := s.Column(column); at >= 0 {
		return s.Number(row, at)
	}
	return math.NaN(), nil
}

// Words is a name as prompts have it: lower case, spaces for underscores.
func Words(name string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "_", " ")), " ")
}

package digin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
	"antipode/datasets/table"
)

// Photo is one row of the table: an image and an object in it.
type Photo struct {
	ID      string  // unique in the table
	Path    string  // of the image: from Archive.Photos as in the index, from [Archive.Read] below the archive's folder
	Object  string  // words with spaces, as in prompts
	Region  string  // the region's key: "SouthEastAsia"
	Country string  // "" if the index has none
	Income  float64 // of the household, US dollars a month (purchasing power parity); NaN if the index has none
	Missing bool    // whether the image is not in the archive's folder; set by [Archive.Read]
}

// Archive describes the files of an archive and the columns of its index.
type Archive struct {
	Name  string // of the data set, in [manifest]
	Page  string // the page that offers it
	Shape string // the files of an unpacked archive, in one line
	// Alternatives, of which the first that exists is used: patterns ([path.Match]) in the archive's folder. All
	// matching files are read, in order.
	Indexes [][]string
	Folders []string // folders next to the index that its paths are relative to; the first that has the image is used
	Path    string   // the index's column with the image's path
	Need    []string // the other required columns
	Income  bool     // the table has a column income

	Published Published // what [Archive.Check] compares the archive with

	// Photos returns the rows of the table for a row of the index.
	Photos func(s *manifest.Sheet, row int) ([]Photo, error)
}

// PhotoOptions are the options of a table of reference images.
type PhotoOptions struct {
	Dir     string `json:"dir,omitempty"`     // folder of the unpacked archive; "" = found, see [manifest.Find]
	Present bool   `json:"present,omitempty"` // omit rows whose image is missing, which have the outcome failed otherwise
}

// Read reads the index of the archive in a folder. missing is the number of rows whose image is missing; they are
// omitted by PhotoOptions.Present. An archive without any of its images is an error.
func (a Archive) Read(o PhotoOptions) (photos []Photo, missing int, err error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, 0, a.absent(o.Dir)
	}
	defer root.Close()
	names, err := a.indexes(root.FS(), o.Dir)
	if err != nil {
		return nil, 0, err
	}
	first, present := map[string]string{}, 0
	for _, name := range names {
		data, err := fs.ReadFile(root.FS(), name)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", a.Name, err)
		}
		s, err := manifest.ReadSheet(name, data, append([]string{a.Path}, a.Need...)...)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", a.Name, err)
		}
		for row := range s.Len() {
			found, err := a.Photos(s, row)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", a.Name, err)
			}
			for _, p := range found {
				if at, twice := first[p.ID]; twice {
					return nil, 0, fmt.Errorf("%s: %s, line %d: the id %q is in %s already; remove one of "+
						"the two rows", a.Name, s.Name, s.Line(row), p.ID, at)
				}
				first[p.ID] = fmt.Sprintf("%s, line %d,", s.Name, s.Line(row))
				switch file, err := a.locate(root, path.Dir(name), p.Path); {
				case errors.Is(err, fs.ErrNotExist):
					missing++
					if o.Present {
						continue
					}
					p.Missing = true
				case err != nil:
					return nil, 0, fmt.Errorf("%s: %w", a.Name, s.Errorf(row, s.Column(a.Path), "%v", err))
				default:
					present++
					p.Path = file
				}
				photos = append(photos, p)
			}
		}
	}
	if present == 0 {
		return nil, 0, fmt.Errorf("%s: none of the images in %s exists in %s; unpack %s", a.Name,
			strings.Join(names, ", "), o.Dir, a.Shape)
	}
	return photos, missing, nil
}

// indexes returns the paths of the existing index files.
func (a Archive) indexes(fsys fs.FS, dir string) ([]string, error) {
	for _, patterns := range a.Indexes {
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
	return nil, a.absent(dir)
}

func (a Archive) absent(dir string) error {
	dir = cmp.Or(dir, "the store's data folder")
	return fmt.Errorf("%s: no index in %s: get the archive from %s and unpack it (%s), then name its folder, or set "+
		"ANTIPODE_DATA to the folder that holds it as %s", a.Name, dir, a.Page, a.Shape, a.Name)
}

// locate returns an image's path below the root. The error wraps [fs.ErrNotExist] if there is no such file.
func (a Archive) locate(root *os.Root, dir, name string) (string, error) {
	if name == "" {
		return "", errors.New("the path is empty")
	}
	clean := path.Clean(name)
	if path.IsAbs(clean) || strings.ContainsAny(clean, "\\\x00") || slices.ContainsFunc(strings.Split(clean, "/"),
		func(part string) bool { return strings.HasPrefix(part, ".") }) {
		return "", fmt.Errorf("the path %q leaves the archive's folder or is hidden; a path is relative, with /, and "+
			"no part of it starts with a dot", name)
	}
	if !datasets.IsImage(clean) {
		return "", fmt.Errorf("%q is not an image; its name ends as in a.jpg or a.png", name)
	}
	for _, folder := range a.Folders {
		full := path.Join(dir, folder, clean)
		info, err := root.Stat(filepath.FromSlash(full))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("%q cannot be read inside the archive's folder; a link must not leave it", name)
		case !info.Mode().IsRegular():
			return "", fmt.Errorf("%q is not a file", name)
		default:
			for at := path.Dir(full); at != "."; at = path.Dir(at) {
				if info, err := root.Lstat(filepath.FromSlash(at)); err != nil || !info.IsDir() {
					return "", fmt.Errorf("%q is behind the link %s, which is not followed; replace the link by "+
						"the folder", name, at)
				}
			}
			return full, nil
		}
	}
	return "", fs.ErrNotExist
}

func (a Archive) columns() []table.ColumnSpec {
	names := []string{"id:text", "path:text", "object:text", "region:text", "country:text", "outcome:text",
		"reason:text"}
	if a.Income {
		names = append(names, "income:number")
	}
	return datasets.Columns(names...)
}

// Table returns the archive's images: id, image, object, region, country, outcome, reason, and income if the layout has
// it. The outcome is ok, or failed without an image where its file is missing. The first run reads the files of all
// images in the folder to compute their content hashes; a hash is cached until its file changes.
func (a Archive) Table(options ...PhotoOptions) datasets.Table {
	o, err := table.One(options)
	if err != nil {
		return datasets.Failed(err)
	}
	o.Dir = manifest.Here(a.Name, o.Dir)
	if o.Dir == "" {
		return datasets.Failed(a.absent(""))
	}
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return datasets.Failed(a.absent(o.Dir))
	}
	o.Dir = dir
	columns := a.columns()
	keep := []string{"id", "image"}
	for _, c := range columns[2:] {
		keep = append(keep, c.Name)
	}
	index := datasets.New(a.op(), o, columns)
	return datasets.Extend(index.Join(datasets.Folder(dir).Rename("id", "path"), "path").Select(keep...)).
		Named(a.Name).Table
}

func (a Archive) op() string { return a.Name + "-index" }

// Register registers the layout's table under the data set's name, and the source that it reads.
func (a Archive) Register() {
	manifest.RegisterTable(a.Name, func() datasets.Table { return a.Table() })
	source.Register(a.op(), func(_ context.Context, o PhotoOptions, call *datasets.Call) (*datasets.Frame, error) {
		photos, missing, err := a.Read(o)
		if err != nil {
			return nil, err
		}
		if missing > 0 {
			what := "have no image and the outcome failed"
			if o.Present {
				what = "are left out"
			}
			call.Notef("%s: %d rows %s: their images are not in %s; see `antipode data check %s`", a.Name, missing,
				what, o.Dir, a.Name)
		}
		return a.frame(photos), nil
	})
}

func (a Archive) frame(photos []Photo) *datasets.Frame {
	f := table.NewFrame(a.columns())
	for _, p := range photos {
		texts := []string{p.ID, p.Path, p.Object, p.Region, p.Country, "ok", ""}
		if p.Missing {
			texts[5], texts[6] = "failed", fmt.Sprintf("the image %s is missing in the archive's folder", p.Path)
		}
		if a.Income {
			f.Add(texts, p.Income)
		} else {
			f.Add(texts)
		}
	}
	return f
}

// Words returns a name as in prompts: lower case, spaces for underscores.
func Words(name string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "_", " ")), " ")
}

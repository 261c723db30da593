package digin

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/check"
	"antipode/datasets/manifest"
)

// Published is what the description of a data set states about the complete archive. Zero values state nothing.
type Published struct {
	Images    int      // rows of the index
	Regions   []string // their keys
	Objects   []string // as in the table
	Countries int
	Balanced  []string // objects of which every region has at least Least images
	Least     int
}

// CheckOptions are the options of [Archive.Check].
type CheckOptions struct {
	N      int                // images to decode, evenly spaced; 0 = all
	Decode func([]byte) error // whether the file of an image can be decoded
}

type checking struct {
	Archive
	root      *os.Root
	report    check.Report
	first     map[string]string // id → its place in an index
	images    []string          // files of the index, each once
	countries map[string]bool
	rows      int
	wrong     []string       // rows that cannot be read
	missing   []string       // images that the index names and the folder lacks
	lacking   map[string]int // their number by region
}

// Check compares an unpacked archive with what the loader expects: index files, columns, rows, regions, objects, and
// the files of the images, of which it decodes some. Differences that the loader cannot live with are marked. An error
// means that the folder cannot be read.
func (a Archive) Check(dir string, o CheckOptions) (*check.Report, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the folder %s; %w", a.Name, dir, a.absent(dir))
	}
	defer root.Close()
	c := &checking{Archive: a, root: root, first: map[string]string{}, countries: map[string]bool{},
		lacking: map[string]int{}}
	c.report.Counts = check.Counts{}
	files, err := datasets.ListImageFiles(root.FS())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	c.report.Fact("%s: %d files of images", dir, len(files.Paths))
	names, err := a.indexes(root.FS(), dir)
	if err != nil {
		c.report.Lack("%s", strings.TrimPrefix(err.Error(), a.Name+": "))
		return &c.report, nil
	}
	for _, name := range names {
		if err := c.index(name); err != nil {
			c.report.Lack("%v", err)
		}
	}
	c.compare()
	c.files(files)
	c.decode(o)
	return &c.report, nil
}

// index reads an index file.
func (c *checking) index(name string) error {
	data, err := fs.ReadFile(c.root.FS(), name)
	if err != nil {
		return err
	}
	s, err := manifest.ReadSheet(name, data, append([]string{c.Path}, c.Need...)...)
	if err != nil {
		return err
	}
	named := slices.DeleteFunc(slices.Clone(s.Header), func(column string) bool { return column == "" })
	c.report.Fact("%s: %d rows, columns %s", name, s.Len(), strings.Join(named, ", "))
	c.columns(s)
	c.rows += s.Len()
	for row := range s.Len() {
		photos, err := c.Photos(s, row)
		if err != nil {
			c.wrong = append(c.wrong, err.Error())
			continue
		}
		for _, p := range photos {
			if at, twice := c.first[p.ID]; twice {
				c.wrong = append(c.wrong, fmt.Sprintf("%s, line %d: the id %q is in %s already", s.Name, s.Line(row),
					p.ID, at))
				continue
			}
			c.first[p.ID] = fmt.Sprintf("%s, line %d", s.Name, s.Line(row))
			c.report.Counts.Add(p.Object, p.Region)
			if p.Country != "" {
				c.countries[p.Country] = true
			}
			switch file, err := c.locate(c.root, path.Dir(name), p.Path); {
			case errors.Is(err, fs.ErrNotExist):
				c.missing = append(c.missing, p.Path)
				c.lacking[p.Region]++
			case err != nil:
				c.wrong = append(c.wrong, s.Errorf(row, s.Column(c.Path), "%v", err).Error())
			case len(c.images) == 0 || c.images[len(c.images)-1] != file: // the rows of a photo are adjacent
				c.images = append(c.images, file)
			}
		}
	}
	return nil
}

// columns compares the columns of an index with those that the data set is described with.
func (c *checking) columns(s *manifest.Sheet) {
	m, err := manifest.Get(c.Name)
	if err != nil {
		return
	}
	var known []string
	for _, f := range m.Files {
		known = append(known, f.Columns...)
	}
	without := func(all, others []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
			return name == "" || slices.Contains(others, name)
		})
	}
	if lacking := without(known, s.Header); len(lacking) > 0 {
		c.report.Differ("%s: optional columns are missing: %s", s.Name, strings.Join(lacking, ", "))
	}
	if other := without(s.Header, known); len(other) > 0 {
		c.report.Fact("%s: columns that are not read: %s", s.Name, strings.Join(other, ", "))
	}
}

// compare compares the rows with the published numbers.
func (c *checking) compare() {
	p := c.Published
	if len(c.wrong) > 0 {
		c.report.Lack("rows that cannot be read, %s", check.First(c.wrong))
	}
	if p.Images > 0 && c.rows != p.Images {
		c.report.Differ("%d rows; the data set is described with %d", c.rows, p.Images)
	}
	if p.Countries > 0 && len(c.countries) != p.Countries {
		c.report.Differ("%d countries; the data set is described with %d", len(c.countries), p.Countries)
	}
	regions := map[string]bool{}
	for _, counts := range c.report.Counts {
		for region := range counts {
			regions[region] = true
		}
	}
	lacks := func(what string, want []string, has func(string) bool) {
		var list []string
		for _, name := range want {
			if !has(name) {
				list = append(list, name)
			}
		}
		if len(list) > 0 {
			c.report.Differ("%s without a row, %s", what, check.First(list))
		}
	}
	lacks("regions", p.Regions, func(region string) bool { return regions[region] })
	lacks("objects", p.Objects, func(object string) bool { return c.report.Counts[object] != nil })
	var other, small []string
	for _, object := range slices.Sorted(maps.Keys(c.report.Counts)) {
		if len(p.Objects) > 0 && !slices.Contains(p.Objects, object) {
			other = append(other, object)
		}
	}
	if len(other) > 0 {
		c.report.Differ("objects that are not in the published list, %s", check.First(other))
	}
	for _, object := range p.Balanced {
		for _, region := range p.Regions {
			if n := c.report.Counts[object][region]; n < p.Least && c.report.Counts[object] != nil {
				small = append(small, fmt.Sprintf("%s in %s %d", object, region, n))
			}
		}
	}
	if len(small) > 0 {
		c.report.Differ("fewer than %d images of an object and region that the published selection has, %s", p.Least,
			check.First(small))
	}
}

// files compares the files of the folder with those that the index names.
func (c *checking) files(listed datasets.ImageFiles) {
	if n := len(c.missing); n > 0 {
		var by []string
		for _, region := range slices.Sorted(maps.Keys(c.lacking)) {
			by = append(by, fmt.Sprintf("%s %d", region, c.lacking[region]))
		}
		c.report.Lack("missing images (%s), %s", strings.Join(by, ", "), check.First(c.missing))
	}
	slices.Sort(c.images)
	c.images = slices.Compact(c.images)
	named := map[string]bool{}
	for _, file := range c.images {
		named[file] = true
	}
	var other []string
	for _, file := range listed.Paths {
		if !named[file] {
			other = append(other, file)
		}
	}
	if len(other) > 0 {
		c.report.Differ("images that no row names, %s", check.First(other))
	}
}

// decode decodes some images.
func (c *checking) decode(o CheckOptions) {
	var damaged []string
	chosen := check.Spread(len(c.images), o.N)
	for _, i := range chosen {
		data, err := c.root.ReadFile(filepath.FromSlash(c.images[i]))
		if err == nil {
			err = o.Decode(data)
		}
		if err != nil {
			damaged = append(damaged, fmt.Sprintf("%s (%v)", c.images[i], err))
		}
	}
	c.report.Fact("%d of %d images decoded", len(chosen)-len(damaged), len(chosen))
	if len(damaged) > 0 {
		c.report.Lack("damaged images among the %d decoded, %s", len(chosen), check.First(damaged))
	}
}

// Keys returns the keys of regions.
func Keys(regions []Region) []string {
	keys := make([]string, len(regions))
	for i, r := range regions {
		keys[i] = r.Key
	}
	return keys
}

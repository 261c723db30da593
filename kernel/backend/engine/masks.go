package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
	"antipode/internal/imagefile"
	"antipode/internal/objecturl"
)

// masksFrom adds the masks of a folder to a table with images.
func (r *run) masksFrom(_ *table.Plan, a datasets.MasksArgs, in []*table.Frame) (*table.Frame, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("masks: %d tables are given, not 1", len(in))
	}
	f := in[0]
	ids, errID := f.Need("id", table.KindText)
	images, errImage := f.Need("image", table.KindImage)
	if err := cmp.Or(errID, errImage); err != nil {
		return nil, err
	}
	n := f.Len()
	m := &maskRows{f: f, ids: ids.Texts, paths: make([]string, n), masks: make([]table.Mask, n),
		guesses: make([]mask.Guess, n), outcome: make([]string, n), reason: make([]string, n),
		unmasked: make([]bool, n), failed: make([]error, n)}
	for row, img := range images.Images {
		m.paths[row] = r.pathOf(img)
	}
	var err error
	if m.names, m.find, err = r.filesIn(a.Dir, m.paths); err != nil {
		return nil, fmt.Errorf("the folder of the masks, %s: %w", a.Dir, plain(err))
	}
	fault.Spread(n, origin{dir: a.Dir}.workers(), func(row int) { m.read(row, a.MaskThreshold) })
	if m.broken.is() {
		return nil, fmt.Errorf("the folder of the masks: %w", m.broken.err)
	}
	source := objecturl.Base(a.Dir)
	lost := table.Reading{Source: source, Column: "mask", What: "unmasked"}
	if first := slices.Index(m.unmasked, true); first >= 0 {
		lost.First = m.reason[first]
		if strings.HasPrefix(lost.First, "no mask file ") {
			lost.First += m.names.examples()
		}
	}
	r.reading(lost.Count(f, func(row int) (bool, bool) {
		return m.unmasked[row], m.outcome[row] == "ok" || m.unmasked[row]
	}))
	r.readMasks(source, "mask", a.MaskThreshold, f, m.masks, m.guesses)
	var good []int
	for row, err := range m.failed {
		if err == nil {
			good = append(good, row)
		} else if err := r.report(table.BadRow{Row: f.RowNumber(row), ID: m.ids[row], Column: "mask",
			Reason: err.Error()}); err != nil {
			return nil, err
		}
	}
	for _, c := range []string{"mask", "outcome", "reason"} {
		r.added[c] = true
	}
	return keep(f.With(table.MaskColumn("mask", m.masks), table.TextColumn("outcome", m.outcome),
		table.TextColumn("reason", m.reason)), good), nil
}

// maskRows are the masks of a table's rows, while they are read.
type maskRows struct {
	f               *table.Frame
	ids, paths      []string
	names           *maskNames
	find            func(name string) (string, error)
	masks           []table.Mask
	guesses         []mask.Guess
	outcome, reason []string
	unmasked        []bool
	failed          []error
	broken          broken
}

// read reads the mask of a row. Several rows may be read at a time.
func (m *maskRows) read(row int, threshold float64) {
	if m.broken.is() {
		return
	}
	earlier := stage.Row{Frame: m.f, Index: row}
	m.outcome[row], m.reason[row] = earlier.Text("outcome"), earlier.Text("reason")
	if stage.Absent(earlier) {
		return
	}
	var file string
	name, err := m.names.of(m.paths[row], m.ids[row])
	if err == nil && name != "" {
		if file, err = m.find(name); m.broken.set(err) {
			return
		}
	}
	if err == nil && name == "" {
		m.unmasked[row] = true
		if m.outcome[row] != "unmasked" {
			m.outcome[row], m.reason[row] = "unmasked", "no mask file "+m.ids[row]+".png"
			if base := path.Base(stem(m.paths[row])); base != m.ids[row] {
				m.reason[row] += " or " + base + ".png"
			}
		}
		return
	}
	if err == nil {
		if m.masks[row], m.guesses[row], err = readMask(file, threshold); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	m.failed[row], m.outcome[row], m.reason[row] = err, "ok", ""
	if n, err := mask.Area(m.masks[row]); err == nil && n == 0 {
		m.masks[row], m.outcome[row], m.reason[row] = table.Mask{}, "unmasked", name+" has no object pixel"
		m.unmasked[row] = true
	}
}

// stem returns a path without its extension.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// pathOf returns the path that an image has in its table, with slashes.
func (r *run) pathOf(img table.Image) string {
	if original := r.originals[img.Path]; original != "" {
		img.Path = original
	}
	if u, known := r.e.objects.URL(img.Path); known {
		return u.Key
	}
	return filepath.ToSlash(img.Path)
}

type maskNames struct {
	files  map[string]string    // by path without extension
	bases  map[string][]string  // those of a last element
	depth  int                  // of the files: the most elements of a path
	images map[string][2]string // two of the images whose paths end so, with or without their extension
}

// newMaskNames returns the names of files in a folder, but those of the images.
func newMaskNames(folder string, files, images []string) *maskNames {
	m := &maskNames{files: map[string]string{}, bases: map[string][]string{}, images: map[string][2]string{}}
	known := map[string]bool{}
	for _, img := range images {
		known[img] = true
	}
	for _, file := range files {
		s := stem(file)
		if known[path.Join(folder, file)] {
			continue
		}
		if old, twice := m.files[s]; !twice {
			m.bases[path.Base(s)] = append(m.bases[path.Base(s)], s)
			m.depth = max(m.depth, strings.Count(s, "/")+1)
		} else if path.Ext(old) == ".png" {
			continue
		}
		m.files[s] = file
	}
	for _, img := range images {
		if !known[img] {
			continue
		}
		known[img] = false // once
		for _, end := range m.ends(img) {
			for _, name := range slices.Compact([]string{end, stem(end)}) {
				two := m.images[name]
				if at := slices.Index(two[:], ""); at >= 0 {
					two[at] = img
				}
				m.images[name] = two
			}
		}
	}
	return m
}

// examples names mask files, for a message about an image that has none.
func (m *maskNames) examples() string {
	var files []string
	for _, file := range m.files {
		files = append(files, file)
	}
	if len(files) == 0 {
		return "; the folder has no mask files"
	}
	slices.Sort(files)
	return "; the folder has " + strings.Join(files[:min(len(files), 2)], ", ")
}

// ends returns the ends of a path that a mask file may have, the longest first.
func (m *maskNames) ends(img string) (ends []string) {
	for at := len(img); at > 0 && len(ends) < m.depth; {
		at = strings.LastIndexByte(img[:at], '/')
		ends = append(ends, img[at+1:])
	}
	slices.Reverse(ends)
	return ends
}

// of returns the mask file of an image, "" if there is none.
func (m *maskNames) of(img, id string) (string, error) {
	one := func(file, end string) (string, error) {
		if two := m.images[end]; two[0] != "" && two[1] != "" {
			return "", fmt.Errorf("the mask %s fits the images %s and %s; put the masks into folders like those of "+
				"the images, or name them by id", file, two[0], two[1])
		}
		return file, nil
	}
	for _, end := range m.ends(img) {
		for _, name := range []string{end, stem(end)} {
			if file := m.files[name]; file != "" && strings.Contains(name, "/") {
				return one(file, name)
			}
		}
	}
	for _, name := range []string{id, stem(id)} {
		if file := m.files[name]; file != "" && (name == id || len(datasets.ImageFilesOf([]string{id}).Paths) > 0) {
			return file, nil
		}
	}
	for _, base := range []string{path.Base(img), path.Base(stem(img))} {
		switch found := m.bases[base]; {
		case len(found) > 1:
			return "", fmt.Errorf("the masks %s and %s fit the image %s; put the masks into folders like those of "+
				"the images, or name them by id", m.files[found[0]], m.files[found[1]], path.Base(img))
		case len(found) == 1:
			return one(m.files[found[0]], base)
		}
	}
	return "", nil
}

func (r *run) readMasks(source, column string, threshold float64, f *table.Frame, masks []table.Mask,
	guesses []mask.Guess) {
	has := func(row int) bool { return masks[row].Counts != "" }
	for i, how := range []string{"and object is what reaches %g of white",
		"all below %g of white, and object is what is not black"} {
		r.reading(table.Reading{Source: source, Column: column,
			What: "masks have more values than black and another one, " + fmt.Sprintf(how, cmp.Or(threshold, 0.5)),
			Fix:  "MaskThreshold (--mask-threshold) sets another share",
		}.Count(f, func(row int) (bool, bool) {
			return guesses[row] == []mask.Guess{mask.Soft, mask.Numbered}[i], has(row) || guesses[row] != mask.Sure
		}))
	}
	inverted := make([]bool, len(masks))
	fault.Each(len(masks), func(row int) { inverted[row] = has(row) && mask.Inverted(masks[row]) })
	r.reading(table.Reading{Source: source, Column: column, Majority: true,
		What: "masks look inverted: more than half is object, at all borders",
		Fix:  "object is what is not black; invert the masks whose background is white",
	}.Count(f, func(row int) (bool, bool) { return inverted[row], has(row) }))
}

// filesIn returns the names of the image files in a folder, or below the URL of a prefix, but those of the images, and
// a function that returns the file of a name, of an object a copy.
func (r *run) filesIn(dir string, images []string) (names *maskNames, find func(name string) (string, error),
	err error) {
	if !objecturl.IsRemote(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, nil, err
		}
		if info, err := os.Stat(dir); err != nil {
			return nil, nil, err
		} else if !info.IsDir() {
			return nil, nil, errors.New("it is a file")
		}
		list, err := r.imageFiles(dir)
		return newMaskNames(filepath.ToSlash(real), list.Paths, images), func(name string) (string, error) {
			return inside(dir, dir, name, r.store.Dir())
		}, err
	}
	u, err := objecturl.Parse(dir)
	if err != nil {
		return nil, nil, err
	}
	list, err := r.imageFiles(dir)
	if err == nil && len(list.Paths)+len(list.Unread) == 0 {
		err = errors.New("there are no objects below it")
	}
	return newMaskNames(u.Prefix().Key, list.Paths, images), func(name string) (string, error) {
		object, err := u.Prefix().At(name)
		if err != nil {
			return "", err
		}
		file, _, err := r.e.objects.Fetch(r.ctx, object)
		return file, err
	}, err
}

// isInline reports whether a cell of masks holds a mask, and not the path of a file.
func isInline(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") && json.Valid([]byte(text))
}

// inlineMask decodes a mask from JSON: run lengths of pycocotools, compressed or as a list.
func inlineMask(text string) (table.Mask, error) {
	if strings.HasPrefix(text, "[") {
		return table.Mask{}, errors.New("polygons are not read as masks; convert them to run lengths: " +
			"pycocotools.mask.merge(pycocotools.mask.frPyObjects(polygons, height, width))")
	}
	var m struct {
		Size   [2]int          `json:"size"`
		Counts json.RawMessage `json:"counts"`
	}
	var counts string
	var list []int
	err := json.Unmarshal([]byte(text), &m)
	if err == nil && len(m.Counts) > 0 && json.Unmarshal(m.Counts, &counts) != nil {
		if err = json.Unmarshal(m.Counts, &list); err == nil {
			return mask.FromRuns(m.Size[0], m.Size[1], list)
		}
	}
	if err != nil || len(m.Counts) == 0 {
		return table.Mask{}, fmt.Errorf("%.40q is neither a file nor run lengths such as "+
			"{\"size\":[2,2],\"counts\":\"04\"}", text)
	}
	inline := table.Mask{Size: m.Size, Counts: counts}
	if counts == "" {
		return table.Mask{}, nil
	}
	if _, err := mask.Decode(inline); err != nil {
		return table.Mask{}, err
	}
	return inline, nil
}

func readMask(file string, threshold float64) (m table.Mask, guess mask.Guess, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return table.Mask{}, mask.Sure, plain(err)
	}
	m, err = imagefile.Decode(data, func(img image.Image, _ string, _ image.Config) (_ table.Mask, err error) {
		var b mask.Bitmap
		b, guess, err = mask.Read(img, threshold)
		return mask.Encode(b), err
	})
	if err != nil {
		return table.Mask{}, mask.Sure, fmt.Errorf("the mask cannot be read: %w", noEOF(err))
	}
	return m, guess, nil
}

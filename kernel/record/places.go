package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"antipode/datasets/manifest"
	"antipode/datasets/table"
)

// places are folders of the machine and what they are called in a record:
//
//	notebook:/FILE       the notebook's folder; with `store verify` that of --files, or what the record makes again
//	store:/FILE          the store
//	dataset:NAME/FILE    a data set (antipode data pull NAME)
//	files:NAME/FILE      another folder; with `store verify` the folder NAME in that of --files
//	home:/FILE           elsewhere in the user's home folder
type places []place

type place struct {
	name, dir string
	in        *regexp.Regexp // the folder in a text; its first group is what follows
}

func (p *places) add(name, dir string) {
	if dir == "" || dir == string(filepath.Separator) || slices.ContainsFunc(*p, func(q place) bool {
		return q.dir == dir
	}) {
		return
	}
	*p = append(*p, place{name, dir, regexp.MustCompile(regexp.QuoteMeta(dir) + `(/|[^\w.-]|$)`)})
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		p.add(name, real)
	}
	slices.SortStableFunc(*p, func(a, b place) int { return len(b.dir) - len(a.dir) })
}

// placesOf returns the places of a notebook's run.
func placesOf(notebook, home string) (p places, err error) {
	dir, err := filepath.Abs(filepath.Dir(notebook))
	if err != nil {
		return nil, err
	}
	p.add("notebook:", dir)
	for _, name := range manifest.Names() {
		if found, err := manifest.Find(name, manifest.FindOptions{Home: home, From: dir}); err == nil {
			p.add("dataset:"+name, found)
		}
	}
	p.add("store:", home)
	if user, err := os.UserHomeDir(); err == nil {
		p.add("home:", user)
	}
	return p, nil
}

var absolute = regexp.MustCompile(`"(?:exec:)?(/[^"\\]+)"`)

// addFrom adds the folders of the files that a plan names outside all places.
func (p *places) addFrom(plan *table.Plan) {
	for _, m := range absolute.FindAllSubmatch(plan.Args, -1) {
		p.addFile(string(m[1]))
	}
	for _, in := range plan.Inputs {
		p.addFrom(in)
	}
}

func (p *places) addFile(file string) {
	info, err := os.Stat(file)
	if err != nil || p.hide(file) != file {
		return
	}
	if !info.IsDir() {
		file = filepath.Dir(file)
	}
	name := "files:" + filepath.Base(file)
	for n := 2; slices.ContainsFunc(*p, func(q place) bool { return q.name == name }); n++ {
		name = fmt.Sprintf("files:%s-%d", filepath.Base(file), n)
	}
	p.add(name, file)
}

// hide replaces the folders in a text by the names of their places.
func (p places) hide(text string) string {
	for _, q := range p {
		if strings.Contains(text, q.dir) {
			text = q.in.ReplaceAllString(text, strings.ReplaceAll(q.name, "$", "$$")+"${1}")
		}
	}
	return text
}

// hidden returns a copy of a value whose texts name places instead of folders.
func hidden[T any](p places, v *T) (*T, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := new(T)
	return out, json.Unmarshal([]byte(p.hide(string(data))), out)
}

var placed = regexp.MustCompile(`"(exec:)?((?:notebook|store|dataset|files|home):[^"\\]*)"`)

// resolve returns a plan that names the folders of this machine; folder returns that of a path in a place.
func resolve(plan *table.Plan, folder func(placed string) (string, error)) (*table.Plan, error) {
	out := *plan
	out.Inputs = slices.Clone(plan.Inputs)
	var failed error
	out.Args = placed.ReplaceAllFunc(plan.Args, func(m []byte) []byte {
		parts := placed.FindSubmatch(m)
		name, err := folder(string(parts[2]))
		if err != nil {
			failed = err
			return m
		}
		quoted, _ := json.Marshal(string(parts[1]) + name)
		return quoted
	})
	for i, in := range plan.Inputs {
		var err error
		if out.Inputs[i], err = resolve(in, folder); err != nil {
			return nil, err
		}
	}
	return &out, failed
}

// named returns the paths in places that a plan names.
func named(plan *table.Plan) (paths []string) {
	for _, m := range placed.FindAllSubmatch(plan.Args, -1) {
		paths = append(paths, string(m[2]))
	}
	for _, in := range plan.Inputs {
		paths = append(paths, named(in)...)
	}
	return paths
}

// compacted removes the spaces that indentation put into the arguments of a plan, on which its identity depends.
func compacted(p *table.Plan) error {
	if len(p.Args) > 0 {
		var b bytes.Buffer
		if err := json.Compact(&b, p.Args); err != nil {
			return err
		}
		p.Args = b.Bytes()
	}
	for _, in := range p.Inputs {
		if in == nil {
			return fmt.Errorf("an input of %q is missing", p.Op)
		}
		if err := compacted(in); err != nil {
			return err
		}
	}
	return nil
}

// folderOf returns how a record's path is found on this machine, without what the record makes itself: files is the
// user's folder of --files, home the store.
func folderOf(files, home string) func(string) (string, error) {
	return func(placed string) (string, error) {
		kind, rest, _ := strings.Cut(placed, ":")
		if rest = path.Clean("/" + rest); rest != "/" && !filepath.IsLocal(rest[1:]) {
			return "", fmt.Errorf("%s is not a path", placed)
		}
		switch kind {
		case "notebook", "files":
			return filepath.Join(files, filepath.FromSlash(rest)), nil
		case "store":
			return filepath.Join(home, filepath.FromSlash(rest)), nil
		case "dataset":
			name, file, _ := strings.Cut(rest[1:], "/")
			dir, err := manifest.Find(name, manifest.FindOptions{Home: home})
			return filepath.Join(dir, filepath.FromSlash(file)), err
		}
		user, err := os.UserHomeDir()
		return filepath.Join(user, filepath.FromSlash(rest)), err
	}
}

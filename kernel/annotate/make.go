package annotate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
	"antipode/internal/glob"
)

// The names in the folder of [Make].
const (
	PagesDir   = "pages"    // the pages for the raters
	AnswersDir = "answers"  // the raters' files
	KeyFile    = "key.json" // joins answers to images; raters do not get it
)

// Options are the options of [Make]. The zero value has no task, which is an error.
type Options struct {
	Task    string   // one of [Tasks]
	Raters  int      // raters of each item; 0 = 3
	PerPage int      // images of a page, at most 200, for visual attributes; 0 = 50
	Seed    int64    // of the orders, and of the attributes that are not stereotypes
	Axes    string   // of entigen: COLUMN=GROUP/GROUP, …, instead of the paper's axes
	Tags    []string // of tags: the tags to choose from
	// Attributes is what visage needs: pairs of identity and attribute with the columns of visage.Pairs, not masked.
	Attributes *table.Frame
	// ShowOffensive includes attributes that SeeGULL rates offensive for the identity or that were not rated.
	ShowOffensive bool
}

// Made describes what [Make] wrote.
type Made struct {
	Items   int // that each rater answers
	Pages   int // files, of all raters
	Largest int // bytes of the largest page
	Notes   []string
}

// key is the content of [KeyFile].
type key struct {
	Format   string    `json:"format"`
	Study    string    `json:"study"` // digest of the other fields, on every page and in every file of answers
	Task     string    `json:"task"`
	Seed     int64     `json:"seed"`
	Raters   int       `json:"raters"`
	Asks     []ask     `json:"asks"`
	Subjects []subject `json:"subjects"`
	Pages    []sheet   `json:"pages"`
}

const keyFormat = "annotation key 1"

// ask is a question. Subjects share the questions that are the same.
type ask struct {
	Name    string   `json:"name"` // column of the result, or what the question is about
	Text    string   `json:"text"`
	Many    bool     `json:"many,omitempty"`    // any number of options, else exactly one
	Options []option `json:"options"`           // in the order of the tables
	Unsure  string   `json:"unsure,omitempty"`  // the text of the option to give no answer; "" = there is none
	Note    string   `json:"note,omitempty"`    // what a rater who is unsure is asked to write
	Order   string   `json:"order"`             // shuffleEach, shuffleRater, scale
	Needs   *needs   `json:"needs,omitempty"`   // asked only after another answer
	Columns []string `json:"columns,omitempty"` // names of Values of the options
}

// The orders of options.
const (
	shuffleEach  = "each"  // another order for each rater and item
	shuffleRater = "rater" // another order for each rater
	scale        = "scale" // as it is, or reversed, by rater
)

// option is an answer. Values are columns of the result; no value (null) = missing.
type option struct {
	Text   string     `json:"text"`
	Label  string     `json:"label"` // in the ratings
	Values []*float64 `json:"values,omitempty"`
}

// needs is the answer to another question of the subject that a question depends on.
type needs struct{ Ask, Option int }

// subject is what a rater answers about: an image, an attribute, or the images of a concept.
type subject struct {
	ID      string             `json:"id"`
	Texts   map[string]string  `json:"texts,omitempty"`   // columns of the result
	Numbers map[string]float64 `json:"numbers,omitempty"` // the same
	Asks    []int              `json:"asks"`

	heading         string        // shown above the questions
	images, compare []table.Image // shown, and shown as a comparison
}

// sheet is a page of one rater.
type sheet struct {
	Name  string `json:"name"`
	Rater int    `json:"rater"`
	Items []item `json:"items"`
}

// item is a subject on a page, with its questions in parts: the position in Subject.Asks, and the options shown.
type item struct {
	Subject int    `json:"subject"`
	Parts   []part `json:"parts"`
}

type part struct {
	Ask     int   `json:"ask"`
	Options []int `json:"options"`
}

// study is what a task makes of its input.
type study struct {
	asks     []ask
	askAt    map[string]int // by what tells them apart
	subjects []subject
	intro    []string // what the raters do
	boxes    bool     // options can be marked on the image
	each     int      // options shown at a time; 0 = all
	together bool     // the questions of an item are shown at once
	notes    []string
}

// ask returns the position of the question with that identifier, which it adds where it is new.
func (s *study) ask(id string, a ask) int {
	at, known := s.askAt[id]
	if !known {
		if s.askAt == nil {
			s.askAt = map[string]int{}
		}
		at = len(s.asks)
		s.askAt[id], s.asks = at, append(s.asks, a)
	}
	return at
}

// Make writes the pages for a table, and the key, into a new folder. in has the columns that the task needs; rows
// without an image are left out with a note. The same input, options and seed give the same files.
//
// Errors: a folder that has a key already, unknown tasks, missing columns, images that cannot be read.
func Make(in *table.Frame, dir string, o Options) (*Made, error) {
	o.Raters = cmp.Or(o.Raters, 3)
	o.PerPage = cmp.Or(o.PerPage, 50)
	if o.Raters < 0 || o.Raters > 99 || o.PerPage < 0 || o.PerPage > 200 {
		return nil, fmt.Errorf("annotate: %d raters, %d images per page; use at most 99 and 200", o.Raters, o.PerPage)
	}
	prepare, known := tasks[o.Task]
	if !known {
		return nil, fmt.Errorf("annotate: no task %q; tasks: %s%s", o.Task, strings.Join(Tasks, ", "),
			table.Hint(o.Task, Tasks))
	}
	keyPath := filepath.Join(dir, KeyFile)
	if _, err := os.Stat(keyPath); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("annotate: %s exists: its pages may have been sent to raters; use another folder",
			keyPath)
	}
	s, err := prepare(in, o)
	if err != nil {
		return nil, fmt.Errorf("annotate: task %s: %w", o.Task, err)
	}
	if len(s.subjects) == 0 {
		return nil, fmt.Errorf("annotate: task %s: nothing to annotate: %s", o.Task, strings.Join(s.notes, "; "))
	}
	k, err := s.key(o)
	if err != nil {
		return nil, err
	}
	if stale := glob.In(filepath.Join(dir, PagesDir), "*.html"); len(stale) > 0 {
		return nil, fmt.Errorf("annotate: %s holds pages of a run that did not end: remove them",
			filepath.Dir(stale[0]))
	}
	made := &Made{Items: len(s.subjects), Pages: len(k.Pages), Notes: s.notes}
	for _, part := range []string{PagesDir, AnswersDir} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o755); err != nil {
			return nil, err
		}
	}
	var embedded map[string]string // of the raters' pages with the same subjects
	for i, p := range k.Pages {
		if i%o.Raters == 0 {
			if embedded, err = s.embed(p); err != nil {
				return nil, err
			}
		}
		html, err := s.page(k, p, embedded)
		if err != nil {
			return nil, err
		}
		made.Largest = max(made.Largest, len(html))
		if err := atomicfile.Write(filepath.Join(dir, PagesDir, p.Name+".html"), html); err != nil {
			return nil, err
		}
	}
	data, err := json.MarshalIndent(k, "", "\t")
	if err != nil {
		return nil, err
	}
	return made, atomicfile.Write(keyPath, append(data, '\n'))
}

// key arranges the subjects on pages: the same ones for each rater, in another order.
func (s *study) key(o Options) (k *key, err error) {
	k = &key{Format: keyFormat, Task: o.Task, Seed: o.Seed, Raters: o.Raters, Asks: s.asks, Subjects: s.subjects}
	var pages [][]int
	size := 0
	for _, at := range random(o.Seed, "pages").Perm(len(s.subjects)) {
		n := max(1, len(s.subjects[at].images)+len(s.subjects[at].compare))
		if len(pages) == 0 || size+n > o.PerPage {
			pages, size = append(pages, nil), 0
		}
		pages[len(pages)-1] = append(pages[len(pages)-1], at)
		size += n
	}
	for i, subjects := range pages {
		for rater := 1; rater <= o.Raters; rater++ {
			p := sheet{Name: fmt.Sprintf("rater-%d-page-%d", rater, i+1), Rater: rater}
			order := slices.Clone(subjects)
			random(o.Seed, "items", p.Name).Shuffle(len(order), func(i, j int) {
				order[i], order[j] = order[j], order[i]
			})
			for _, at := range order {
				p.Items = append(p.Items, item{at, s.parts(&s.subjects[at], rater, o.Seed)})
			}
			k.Pages = append(k.Pages, p)
		}
	}
	k.Study, err = k.digest()
	return k, err
}

// parts returns the questions about a subject with their options in a rater's order.
func (s *study) parts(sub *subject, rater int, seed int64) (parts []part) {
	for i, at := range sub.Asks {
		a := &s.asks[at]
		options := make([]int, len(a.Options))
		for j := range options {
			options[j] = j
		}
		stream := []string{"options", fmt.Sprint(rater), a.Name}
		if a.Order == shuffleEach {
			stream = append(stream, sub.ID)
		}
		r := random(seed, stream...)
		if a.Order != scale {
			r.Shuffle(len(options), func(i, j int) { options[i], options[j] = options[j], options[i] })
		} else if r.IntN(2) == 1 {
			slices.Reverse(options)
		}
		n := len(options)
		if s.each > 0 { // parts of equal size
			n = (n + (n+s.each-1)/s.each - 1) / ((n + s.each - 1) / s.each)
		}
		for shown := range slices.Chunk(options, max(1, n)) {
			parts = append(parts, part{i, shown})
		}
	}
	return parts
}

// digest identifies a key by its content.
func (k *key) digest() (string, error) {
	other := *k
	other.Study = ""
	data, err := json.Marshal(other)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), err
}

// random returns the generator of a seed for one purpose.
func random(seed int64, purpose ...string) *rand.Rand {
	return rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", seed, strings.Join(purpose, "\x00")))))
}

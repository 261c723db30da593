package annotate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/table"
)

// CollectOptions are the options of [Collect]. The zero value requires every answer.
type CollectOptions struct {
	Partial bool // collect the items that are answered completely, with a note of what is missing
}

// Collected is the result of [Collect].
type Collected struct {
	// Table is what the metrics of the task read:
	//
	//	visage     a row for each rater, image and attribute: identity, image_number, attribute, selected (0 or 1),
	//	           the columns of visage.Pairs, and the box in pixels of a 512×512 image
	//	visual     a row for each attribute: score_asia, score_europe and score_na (1 to 5) of raters 1, 2 and 3
	//	entigen    a row for each rater and image: person and as_described (0 or 1), perceived_…, and the columns of
	//	           the input that the metrics need
	//	failures   a row for each concept of a model in a language that is no success by the majority: kind, ""
	//	           without a majority
	//	tags       a row for each image and tag that the majority chose, with an empty tag for an image without any
	Table *table.Frame
	// Ratings has a row for each answer, for the metric agreement: item (the image, attribute or concept and the
	// question), question, rater, label ("" if the rater could not judge) and note.
	Ratings *table.Frame
	Notes   []string
}

// answers is a file that a rater downloaded.
type answers struct {
	Format string                `json:"format"`
	Study  string                `json:"study"`
	Page   string                `json:"page"`
	Items  map[string]itemAnswer `json:"items"` // by number on the page, from 1
}

type itemAnswer struct {
	Skip    bool              `json:"skip"`
	Answers map[string]answer `json:"answers"` // by number of the question, from 1
}

// answer is an answer to a question: options by number, from 1, or one of the others.
type answer struct {
	Pick   []int                 `json:"pick"`
	None   bool                  `json:"none"`
	Unsure bool                  `json:"unsure"`
	Note   string                `json:"note"`
	Boxes  map[string][4]float64 `json:"boxes"` // by option: left, top, right, bottom, in [0, 1]
}

const answersFormat = "annotation answers 1"

// maxAnswers is the size of the largest file of answers that is read, in bytes.
const maxAnswers = 16 << 20

// vote is a rater's answer to a part of a question about a subject.
type vote struct {
	subject, ask, rater int
	shown, picked       []int // options of the ask
	unsure              bool
	note                string
	boxes               map[int][4]float64
}

// Collect reads the key and the answers in a folder that [Make] wrote, checks them and joins them.
//
// Errors name the file: a missing or changed key; no answers; a file that is damaged, of another study or page, or
// contradicts another one of the same page; unknown items, questions and options; without Partial, pages and items
// without an answer.
func Collect(dir string, o CollectOptions) (*Collected, error) {
	k, err := readKey(filepath.Join(dir, KeyFile))
	if err != nil {
		return nil, err
	}
	found, err := readAnswers(filepath.Join(dir, AnswersDir), k)
	if err != nil {
		return nil, err
	}
	c := &collector{key: k}
	for i := range k.Pages {
		p := &k.Pages[i]
		f, has := found[p.Name]
		if !has {
			c.missing = append(c.missing, fmt.Sprintf("no answers to %s.html", p.Name))
			continue
		}
		if err := c.page(p, f); err != nil {
			return nil, fmt.Errorf("annotate: %s: %w", f.path, err)
		}
	}
	if len(c.missing) > 0 && !o.Partial {
		const most = 4
		more := ""
		if n := len(c.missing); n > most {
			more = fmt.Sprintf("; and %d more", n-most)
		}
		return nil, fmt.Errorf("annotate: not complete: %s%s; --partial collects what exists",
			strings.Join(c.missing[:min(most, len(c.missing))], "; "), more)
	}
	slices.SortStableFunc(c.votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(a.subject, b.subject), cmp.Compare(a.rater, b.rater), cmp.Compare(a.ask, b.ask))
	})
	out := &Collected{Ratings: c.ratings(), Notes: c.missing}
	out.Table = tables[k.Task](c)
	if c.skipped > 0 {
		c.note("%d items were skipped", c.skipped)
	}
	if c.unsure > 0 {
		c.note("%d questions could not be judged", c.unsure)
	}
	out.Notes = append(out.Notes, c.notes...)
	if len(c.votes) == 0 {
		return nil, fmt.Errorf("annotate: no item was judged: %s", strings.Join(out.Notes, "; "))
	}
	return out, nil
}

func readKey(path string) (*key, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("annotate: %s is missing: name the folder that `antipode annotate make` wrote", path)
	}
	if err != nil {
		return nil, err
	}
	k := &key{}
	if err := json.Unmarshal(data, k); err != nil {
		return nil, fmt.Errorf("annotate: %s is damaged: %w", path, err)
	}
	if k.Format != keyFormat {
		return nil, fmt.Errorf("annotate: %s has the format %q; this program reads %q", path, k.Format, keyFormat)
	}
	if is, err := k.digest(); err != nil || is != k.Study || tables[k.Task] == nil {
		return nil, fmt.Errorf("annotate: %s was changed after `antipode annotate make` wrote it: restore it", path)
	}
	return k, nil
}

type file struct {
	path string
	answers
}

// readAnswers reads the files of a folder, by page.
func readAnswers(dir string, k *key) (map[string]file, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("annotate: %s has no .json file: put the files there that the raters downloaded", dir)
	}
	found := map[string]file{}
	for _, path := range paths {
		f := file{path: path}
		if f.answers, err = readFile(path); err != nil {
			return nil, fmt.Errorf("annotate: %s: %w", path, err)
		}
		if f.Study != k.Study {
			return nil, fmt.Errorf("annotate: %s belongs to study %q, and the key to %s: it answers pages of another "+
				"`antipode annotate make`", path, cut(f.Study), k.Study)
		}
		if !slices.ContainsFunc(k.Pages, func(p sheet) bool { return p.Name == f.Page }) {
			return nil, fmt.Errorf("annotate: %s answers the page %q, which the key does not have", path, cut(f.Page))
		}
		if other, twice := found[f.Page]; twice {
			a, errA := json.Marshal(other.answers)
			b, errB := json.Marshal(f.answers)
			if errA != nil || errB != nil || string(a) != string(b) {
				return nil, fmt.Errorf("annotate: %s and %s are different answers to %s: remove one of them",
					other.path, path, f.Page)
			}
		}
		found[f.Page] = f
	}
	return found, nil
}

// escapeGlob makes a folder's name match itself.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// cut shortens text of a file for a message.
func cut(text string) string { return string([]rune(text)[:min(40, len([]rune(text)))]) }

func readFile(path string) (a answers, err error) {
	f, err := os.Open(path)
	if err != nil {
		return a, errors.Unwrap(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAnswers+1))
	if err != nil {
		return a, err
	}
	if len(data) > maxAnswers {
		return a, fmt.Errorf("more than %d bytes: not a file of answers", maxAnswers)
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("damaged: %w; ask the rater to download it again", err)
	}
	if a.Format != answersFormat {
		return a, fmt.Errorf("not a file of answers: format %q, not %q", cut(a.Format), answersFormat)
	}
	return a, nil
}

// collector collects the votes of a study.
type collector struct {
	*key
	votes           []vote
	skipped, unsure int
	missing, notes  []string
}

func (c *collector) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// number parses a number from 1 to most.
func number(what, text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("unknown %s %q: the page has 1 to %d", what, cut(text), most)
	}
	return n, nil
}

// page adds the votes of a page.
func (c *collector) page(p *sheet, f file) error {
	for name := range f.Items {
		if _, err := number("item", name, len(p.Items)); err != nil {
			return err
		}
	}
	var open []string
	for i, it := range p.Items {
		name := strconv.Itoa(i + 1)
		a := f.Items[name]
		if a.Skip {
			c.skipped++
			continue
		}
		done, err := c.item(p, it, a)
		if err != nil {
			return fmt.Errorf("item %s: %w", name, err)
		}
		if !done {
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		const most = 10
		more := ""
		if len(open) > most {
			more = ", …"
		}
		c.missing = append(c.missing, fmt.Sprintf("%s: %d of %d items have no complete answer: %s%s", f.path, len(open),
			len(p.Items), strings.Join(open[:min(most, len(open))], ", "), more))
	}
	return nil
}

// item adds the votes about an item if all its questions are answered, and reports whether they are.
func (c *collector) item(p *sheet, it item, given itemAnswer) (done bool, err error) {
	for name := range given.Answers {
		if _, err := number("question", name, len(it.Parts)); err != nil {
			return false, err
		}
	}
	asks := c.Subjects[it.Subject].Asks
	chosen := map[int][]int{} // options by position of the ask
	done = true
	var votes []vote
	for i, q := range it.Parts {
		a := &c.Asks[asks[q.Ask]]
		if n := a.Needs; n != nil && !slices.Contains(chosen[n.Ask], n.Option) {
			if _, has := given.Answers[strconv.Itoa(i+1)]; has {
				return false, fmt.Errorf("question %d is answered, which the answers before exclude", i+1)
			}
			continue
		}
		from, has := given.Answers[strconv.Itoa(i+1)]
		if !has {
			done = false
			continue
		}
		v := vote{subject: it.Subject, ask: asks[q.Ask], rater: p.Rater, shown: q.Options, unsure: from.Unsure,
			note: from.Note, boxes: map[int][4]float64{}}
		if err := v.read(a, from); err != nil {
			return false, fmt.Errorf("question %d: %w", i+1, err)
		}
		chosen[q.Ask] = v.picked
		votes = append(votes, v)
	}
	if !done {
		return false, nil
	}
	for _, v := range votes {
		if v.unsure && c.Task != Visual { // there it is a score
			c.unsure++
		}
	}
	c.votes = append(c.votes, votes...)
	return true, nil
}

// read reads the options that were picked, and checks them.
func (v *vote) read(a *ask, from answer) error {
	for _, pick := range from.Pick {
		if pick < 1 || pick > len(v.shown) || slices.Contains(v.picked, v.shown[pick-1]) {
			return fmt.Errorf("option %d is unknown or occurs twice: the page has 1 to %d", pick, len(v.shown))
		}
		v.picked = append(v.picked, v.shown[pick-1])
	}
	for name, box := range from.Boxes {
		n, err := number("option of a box", name, len(v.shown))
		if err != nil {
			return err
		}
		if !slices.Contains(v.picked, v.shown[n-1]) || !(0 <= box[0] && box[0] <= box[2] && box[2] <= 1 &&
			0 <= box[1] && box[1] <= box[3] && box[3] <= 1) {
			return fmt.Errorf("the box of option %d is not inside the image, or the option is not chosen", n)
		}
		v.boxes[v.shown[n-1]] = box
	}
	given := 0
	for _, is := range []bool{len(v.picked) > 0, from.None, from.Unsure} {
		if is {
			given++
		}
	}
	if given != 1 || len(v.picked) > 1 && !a.Many || from.None && !a.Many || from.Unsure && a.Unsure == "" {
		return errors.New("the answer is empty or contradicts itself")
	}
	return nil
}

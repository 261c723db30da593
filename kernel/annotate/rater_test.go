package annotate

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/thumb"
	"antipode/test/testengine"
)

// world is the built-in world of the tests, with the disparities that a rater must find.
func world(perCell int) datasets.World {
	return datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: perCell, Injected: true})
}

// evaluator evaluates tables in a store of the test's own.
func evaluator(t *testing.T) func(datasets.Table) *table.Frame {
	t.Helper()
	testengine.Engine(t)
	return func(tab datasets.Table) *table.Frame {
		t.Helper()
		return must.Get(tab.Rows(t.Context()))(t)
	}
}

// pixels identifies an image by what it shows.
func pixels(img image.Image) string {
	rgba := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(rgba, rgba.Rect, img, img.Bounds().Min, draw.Src)
	return fmt.Sprint(rgba.Rect) + string(rgba.Pix)
}

func decoded(t *testing.T, uri string) image.Image {
	t.Helper()
	_, content, _ := strings.Cut(uri, ",")
	data := must.Get(base64.StdEncoding.DecodeString(content))(t)
	img, _ := must.Get2(image.Decode(bytes.NewReader(data)))(t)
	return img
}

// seen is a question as a rater sees it, with the rows of the images shown, which the rater recognizes by their pixels.
type seen struct {
	heading, text string
	options       []string
	rows          []int
}

// reply is the rater's answer: options by position; none of them, or no judgment, where they are empty.
type reply struct {
	pick   []int
	unsure bool
}

// rater answers questions by what the images show.
type rater struct {
	rows   map[string]int // by pixels
	answer func(q seen) reply
}

// newRater returns a rater who recognizes the images of a table.
func newRater(t *testing.T, tr trial) *rater {
	t.Helper()
	r := &rater{map[string]int{}, tr.answer}
	for i, img := range tr.in.Images("image") {
		if img == (table.Image{}) {
			continue
		}
		loaded := must.Get(thumb.Load(img.Path))(t)
		r.rows[pixels(loaded)] = i
	}
	return r
}

// row returns the row of an image on a page.
func (r *rater) row(t *testing.T, uri string) int {
	t.Helper()
	row, known := r.rows[pixels(decoded(t, uri))]
	if !known {
		t.Fatal("an image of the page is not in the table")
	}
	return row
}

// pageData returns what a page holds.
func pageData(t *testing.T, path string) (p shownPage) {
	t.Helper()
	html := must.Get(os.ReadFile(path))(t)
	_, rest, _ := strings.Cut(string(html), `id="page">`)
	text, _, _ := strings.Cut(rest, "</script>")
	must.Do(t, json.Unmarshal([]byte(text), &p))
	return p
}

// fill answers all pages of a folder, as the script of the pages would store the answers.
func (r *rater) fill(t *testing.T, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, PagesDir, "*.html"))
	if err != nil || len(paths) == 0 {
		t.Fatal(err, "no pages")
	}
	for _, path := range paths {
		p := pageData(t, path)
		a := answers{Format: answersFormat, Study: p.Study, Page: p.Page, Items: map[string]itemAnswer{}}
		for i, it := range p.Items {
			given, n := map[string]answer{}, 0
			for _, q := range slices.Concat(it.Steps...) {
				n++
				if q.Needs != nil && !slices.Contains(given[strconv.Itoa(q.Needs[0]+1)].Pick, q.Needs[1]+1) {
					continue
				}
				s := seen{heading: it.Heading, text: q.Text, options: q.Options}
				for _, at := range it.Images {
					s.rows = append(s.rows, r.row(t, p.Images[at]))
				}
				reply := r.answer(s)
				one := answer{None: len(reply.pick) == 0 && !reply.unsure, Unsure: reply.unsure}
				for _, o := range reply.pick {
					one.Pick = append(one.Pick, o+1)
				}
				given[strconv.Itoa(n)] = one
			}
			a.Items[strconv.Itoa(i+1)] = itemAnswer{Answers: given}
		}
		writeAnswers(t, filepath.Join(dir, AnswersDir, p.Page+".json"), a)
	}
}

func writeAnswers(t *testing.T, path string, a answers) {
	t.Helper()
	must.Do(t, os.WriteFile(path, must.Get(json.Marshal(a))(t), 0o644))
}

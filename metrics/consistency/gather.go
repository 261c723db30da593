package consistency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

type group struct {
	values   []string // of the grouping columns
	images   Images
	refused  []int           // by language
	captions []CaptionCounts // by language
	boot     *resamples

	members   []member
	requested map[string]bool   // prompts
	rows      map[cell]*tallies // of a prompt in a language
}

type cell struct{ language, prompt string }

// tallies counts the rows of a cell.
type tallies struct {
	asked, refused int
	captions       CaptionCounts
}

// member is a row with a vector.
type member struct {
	cell
	index string // "" = none
	id    string
	row   int
}

// reader reads the "in" table of the scores on images.
type reader struct {
	selection
	notes              metrics.GroupNotes
	frame              *table.Frame
	captions           []string
	prompt             map[string]string // of each caption
	languages, prompts []string
	ids                []string             // nil = none
	index              func(row int) string // "" = no index
	vectors            [][]float32
	width              int
	wanted             []string // languages, in their order
}

// selection holds the options that select the images of a score.
type selection struct {
	By     []string
	Vector string
	ImageOptions
	metrics.Intervals
	empty   string // keep or skip; "" = captions are not read
	aligned bool   // the score compares images with equal indices
}

// ImageOptions are the options that all scores on images have.
type ImageOptions struct {
	Index     string   `json:"index,omitempty" default:"seed" help:"column that identifies a prompt's images across languages"`
	Languages []string `json:"languages,omitempty" help:"languages of the result; default: those of the table, English first"`
	English   string   `json:"english,omitempty" default:"en" help:"code of English in the column language"`
	Prompts   string   `json:"prompts,omitempty" default:"complete" values:"complete,common" help:"the prompts of each group, or those that all groups have"`
	Missing   string   `json:"missing,omitempty" default:"count" values:"count,fail" help:"missing images are counted, or an error; every prompt with an image has the same weight"`
}

// gather groups the rows of the table of images by the grouping columns, language, prompt and index.
func gather(call *metrics.Call, s selection) ([]*group, error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	f := in.Frame
	r := &reader{selection: s, frame: f, captions: f.Texts("caption"), languages: f.Texts("language"),
		ids: f.Texts("id"), prompts: f.Texts("prompt_id"), index: indexColumn(f, s.Index),
		vectors: in.Vectors(s.Vector)}
	parts := in.SortedGroups(s.By)
	if in.Err != nil {
		return nil, in.Err
	}
	call.Copies = slices.Contains(tabular.Copies(call, "in", s.Vector), true)
	r.prompt = promptOf(r.captions, r.prompts)
	r.wanted = languageOrder(r.languages, s.Languages, s.English)
	for _, l := range s.Languages {
		if !slices.Contains(r.languages, l) {
			call.Notef("no row is of the language %q; the table has %s", l,
				strings.Join(languageOrder(r.languages, nil, s.English), ", "))
		}
	}
	var groups []*group
	for _, part := range parts {
		g := &group{values: part.By, requested: map[string]bool{}, rows: map[cell]*tallies{}}
		for _, row := range part.Rows {
			if err := r.take(g, row); err != nil {
				return nil, err
			}
		}
		groups = append(groups, g)
	}
	for _, g := range groups {
		err := r.arrange(g, groups)
		if err != nil {
			return nil, err
		}
		if g.boot, err = resample(s.Intervals, len(g.images.Prompts)); err != nil {
			return nil, err
		}
	}
	r.notes.AddTo(call, s.By...)
	return groups, nil
}

// promptOf returns the prompt of the images with each caption, "" if they are of several.
func promptOf(captions, prompts []string) map[string]string {
	of := map[string]string{}
	for row, caption := range captions {
		caption = strings.TrimSpace(caption)
		if first, known := of[caption]; known && first != prompts[row] {
			of[caption] = ""
		} else {
			of[caption] = prompts[row]
		}
	}
	return of
}

// eachGroup scores the images of every group and passes the scores to take.
func eachGroup[S any](call *metrics.Call, s selection, score func(g *group) (S, error),
	take func(g *group, scores S) error) error {
	groups, err := gather(call, s)
	if err != nil {
		return err
	}
	for _, g := range groups {
		scores, err := score(g)
		if err != nil {
			return fmt.Errorf("%s%w", g.name(s.By), err)
		}
		if err := take(g, scores); err != nil {
			return err
		}
	}
	return nil
}

// languageOrder returns the languages of the result: those listed, else those of the table in order of appearance,
// English first.
func languageOrder(found, listed []string, english string) (order []string) {
	if len(listed) > 0 {
		return listed
	}
	if slices.Contains(found, english) {
		order = append(order, english)
	}
	seen := map[string]bool{english: true}
	for _, l := range found {
		if !seen[l] {
			seen[l] = true
			order = append(order, l)
		}
	}
	return order
}

func indexColumn(f *table.Frame, name string) func(row int) string {
	if numbers := f.Numbers(name); numbers != nil {
		return func(row int) string {
			return table.NumberText(numbers[row])
		}
	}
	if texts := f.Texts(name); texts != nil {
		return func(row int) string { return texts[row] }
	}
	return func(int) string { return "" }
}

func (r *reader) take(g *group, row int) error {
	at, v := cell{r.languages[row], r.prompts[row]}, r.vectors[row]
	if at.language == "" || at.prompt == "" {
		return tabular.BadRow(r.frame, row, "language, prompt_id",
			"language or prompt is blank; every row needs both")
	}
	if len(r.Languages) > 0 && !slices.Contains(r.Languages, at.language) {
		return nil
	}
	g.requested[at.prompt] = true
	n := g.rows[at]
	if n == nil {
		n = &tallies{}
		g.rows[at] = n
	}
	n.asked++
	if outcome := tabular.Outcome(r.frame, row); outcome != "" {
		if outcome == "refused" {
			n.refused++
		}
		return nil
	}
	if r.empty != "" && r.captions != nil {
		caption := strings.TrimSpace(r.captions[row])
		if datasets.Degenerate(caption) {
			n.captions.Degenerate++
		}
		if prompt := r.prompt[caption]; caption != "" && prompt != at.prompt {
			n.captions.Repeated++
		}
		if caption == "" {
			if n.captions.Empty++; r.empty == "skip" {
				return nil
			}
		}
	}
	if v == nil {
		return nil
	}
	r.width = cmp.Or(r.width, len(v))
	if _, err := length(v, r.width); err != nil {
		return tabular.BadRow(r.frame, row, r.Vector, "%v", err)
	}
	id := ""
	if r.ids != nil {
		id = r.ids[row]
	}
	g.members = append(g.members, member{at, r.index(row), id, row})
	return nil
}

// label is the name of the group in a list of groups.
func (g *group) label() string { return strings.Join(g.values, "/") }

// name is the prefix of an error about the group; "" without grouping columns.
func (g *group) name(by []string) string {
	parts := make([]string, len(by))
	for i := range by {
		parts[i] = fmt.Sprintf("%s %q", by[i], g.values[i])
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}

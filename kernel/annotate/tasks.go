package annotate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets/entigen"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	"antipode/metrics/concepts"
	"antipode/metrics/stereotypes"
)

// The tasks; see the package comment.
const (
	Visage   = "visage"
	Visual   = "visual"
	Entigen  = "entigen"
	Failures = "failures"
	TagTask  = "tags"

	Translations = "translations"
	Question     = "question"
)

// Tasks lists the tasks.
var Tasks = []string{Visage, Visual, Entigen, Failures, TagTask, Translations, Question}

// tasks prepare the questions of each task.
var tasks = map[string]func(in *table.Frame, o Options) (*study, error){Visage: visageTask, Visual: visualTask,
	Entigen: entigenTask, Failures: failuresTask, TagTask: tagsTask, Translations: translationsTask,
	Question: questionTask}

// carry returns the values of columns that collect copies to the result.
func carry(f *table.Frame, row int, names ...string) (texts map[string]string, numbers map[string]float64) {
	texts, numbers = map[string]string{}, map[string]float64{}
	for _, name := range names {
		if t := f.Texts(name); t != nil {
			texts[name] = t[row]
		}
		if n := f.Numbers(name); n != nil && !math.IsNaN(n[row]) && !math.IsInf(n[row], 0) {
			numbers[name] = n[row]
		}
	}
	return texts, numbers
}

// imageRows checks that a table has images, ids and text columns, and returns the rows with an image.
func (s *study) imageRows(f *table.Frame, texts ...string) (rows []int, err error) {
	if _, err := f.Need("image", table.KindImage); err != nil {
		return nil, err
	}
	for _, name := range append([]string{"id"}, texts...) {
		c, err := f.Need(name, table.KindText)
		if err != nil {
			return nil, err
		}
		for at, text := range c.Texts {
			if text == "" && f.Images("image")[at] != (table.Image{}) {
				return nil, table.BadRow{Row: at + 1, ID: f.Texts("id")[at], Column: name,
					Reason: "the value is missing"}
			}
		}
	}
	for i, img := range f.Images("image") {
		if img != (table.Image{}) {
			rows = append(rows, i)
		}
	}
	if left := f.Len() - len(rows); left > 0 {
		s.note("%d rows have no image and are left out", left)
	}
	return rows, nil
}

func (s *study) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// pairColumns are the columns that collect writes for each attribute.
var pairColumns = stereotypes.PairColumns

func visageTask(in *table.Frame, o Options) (*study, error) {
	s := &study{boxes: true, each: 4, intro: []string{
		"You see one image at a time, with a few words at a time. Choose every word that the image shows.",
		"To show where, choose a word and then draw a box on the image with the mouse or a finger. Boxes are optional.",
		"Judge the image, not what you know or expect. Some words may be offensive. They are no statement about " +
			"anybody.",
	}}
	rows, err := s.imageRows(in, "identity")
	if err != nil {
		return nil, err
	}
	if o.Attributes == nil {
		return nil, errors.New("the table of attributes is missing")
	}
	p, err := stereotypes.ReadPairs(o.Attributes, o.ShowOffensive)
	if err != nil {
		return nil, fmt.Errorf("attributes: %w", err)
	}
	hidden, without, few, number := 0, 0, 0, map[string]int{}
	for _, row := range rows {
		identity := in.Texts("identity")[row]
		if number[identity]++; number[identity] == 1 {
			hidden += p.Hidden[identity]
		}
		list, others := p.Presented(identity, o.Seed)
		if len(list) == others { // no stereotype
			without++
			continue
		}
		if 2*others < len(list) {
			few++
		}
		sub := subject{ID: in.Texts("id")[row], images: in.Images("image")[row : row+1]}
		sub.Texts, sub.Numbers = carry(in, row, "identity", "image_number")
		if _, has := sub.Numbers["image_number"]; !has {
			sub.Numbers["image_number"] = float64(number[identity])
		}
		a := ask{Name: identity, Text: "Which of these does the image show?", Many: true, Unsure: "Can’t judge",
			Order: shuffleEach, Columns: pairColumns}
		for _, attribute := range list {
			a.Options = append(a.Options, option{attribute.Name, "yes", nullable(attribute.Values)})
		}
		sub.Asks = []int{s.ask(identity, a)}
		s.subjects = append(s.subjects, sub)
	}
	if hidden > 0 {
		s.note("left out: %d stereotypes of these identities that SeeGULL rates offensive or that are not rated; "+
			"--show-offensive includes them", hidden)
	}
	if without > 0 {
		s.note("%d images are left out: their identity has no visual stereotype among the attributes", without)
	}
	if few > 0 {
		s.note("%d images have fewer other attributes than stereotypes: the table of attributes has no more", few)
	}
	return s, nil
}

// nullable returns pointers to the values; nil for no value.
func nullable(values []float64) (out []*float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			out = append(out, nil)
			continue
		}
		out = append(out, &v)
	}
	return out
}

func visualTask(in *table.Frame, o Options) (*study, error) {
	c, err := in.Need("attribute", table.KindText)
	if err != nil {
		return nil, err
	}
	if o.Raters != 0 && o.Raters != 3 {
		return nil, fmt.Errorf("%d raters; the task needs 3: score_asia, score_europe and score_na are theirs",
			o.Raters)
	}
	s := &study{intro: []string{"You see a word and a statement about it. Choose how far you agree.",
		"A word can be depicted if one can point at it in an image (a hat) or infer it from what one sees " +
			"(fashionable).",
		"Some words may be offensive. They are no statement about anybody."}}
	at := s.ask("", ask{Name: "score", Text: "Do you agree?", Order: scale, Unsure: "Unsure",
		Note: "Why are you unsure?", Options: []option{{"Strongly agree", "5", nil}, {"Agree", "4", nil},
			{"Disagree", "2", nil}, {"Strongly disagree", "1", nil}}})
	seen := map[string]bool{}
	for i, name := range c.Texts {
		if seegull.IsMasked(name) {
			return nil, table.BadRow{Row: i + 1, Column: "attribute", Reason: fmt.Sprintf("%q is a masked name; write "+
				"the table with the option ShowOffensive", name)}
		}
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		s.subjects = append(s.subjects, subject{ID: name, Asks: []int{at},
			heading: fmt.Sprintf("The attribute “%s” can be visually depicted in an image.", name)})
	}
	return s, nil
}

type axis struct {
	column string
	groups [2]string
}

// paperAxes are the paper's axes: of people, and of cultural scenes.
func paperAxes(culture bool) (axes []axis) {
	names := []string{entigen.PerceivedGender, entigen.PerceivedSkin}
	if culture {
		names = []string{entigen.PerceivedScene}
	}
	for _, name := range names {
		axes = append(axes, axis{strings.ReplaceAll(name, " ", "_"), entigen.Groups[name]})
	}
	return axes
}

// parseAxes reads axes in the form of the option axes of the metrics.
func parseAxes(text string) (axes []axis, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		column, groups, _ := strings.Cut(part, "=")
		a, b, two := strings.Cut(groups, "/")
		if !two || a == "" || b == "" || a == b || !strings.HasPrefix(column, "perceived_") ||
			slices.ContainsFunc(axes, func(k axis) bool { return k.column == column }) {
			return nil, fmt.Errorf("axes: %q is not COLUMN=GROUP/GROUP with two groups and a column named perceived_…",
				part)
		}
		axes = append(axes, axis{column, [2]string{a, b}})
	}
	return axes, nil
}

// question returns the question about the attribute of an image: the paper's where it has one.
func question(category, attribute string) string {
	switch category {
	case entigen.Profession, entigen.Object, entigen.Culture:
		return entigen.Question(category, attribute)
	}
	return fmt.Sprintf("Does the image show: %s?", attribute)
}

func entigenTask(in *table.Frame, o Options) (*study, error) {
	s := &study{together: true, intro: []string{
		"You see one image at a time, with a few questions. The images were made by a computer program.",
		"Some questions are about how a person in the image looks to you. Nobody’s identity is known: answer what " +
			"you perceive, and choose “Can’t judge” where you perceive none of the two."}}
	rows, err := s.imageRows(in, "model", "category", "prompt_id", "attribute")
	if err != nil {
		return nil, err
	}
	own, err := parseAxes(o.Axes)
	if err != nil {
		return nil, err
	}
	yesNo := []option{{"Yes", "1", nil}, {"No", "0", nil}}
	for _, row := range rows {
		category, attribute := in.Texts("category")[row], in.Texts("attribute")[row]
		culture := category == entigen.Culture
		sub := subject{ID: in.Texts("id")[row], images: in.Images("image")[row : row+1]}
		sub.Texts, sub.Numbers = carry(in, row, "model", "category", "prompt_id", "kind", "attribute")
		var person *needs
		if !culture {
			sub.Asks = append(sub.Asks, s.ask("person", ask{Name: "person", Text: "Does the image show a person?",
				Options: yesNo, Order: scale}))
			person = &needs{0, 0}
		}
		text := question(category, attribute)
		sub.Asks = append(sub.Asks, s.ask(text, ask{Name: "as_described", Text: text, Options: yesNo, Order: scale}))
		axes := own
		if len(axes) == 0 {
			axes = paperAxes(culture)
		}
		for _, a := range axes {
			name := strings.ReplaceAll(strings.TrimPrefix(a.column, "perceived_"), "_", " ")
			sub.Asks = append(sub.Asks, s.ask(a.column+fmt.Sprint(culture), ask{Name: a.column,
				Text: fmt.Sprintf("Perceived %s: which fits what you see?", name), Order: shuffleRater,
				Unsure: "Can’t judge", Needs: person, Options: []option{{a.groups[0], a.groups[0], nil},
					{a.groups[1], a.groups[1], nil}}}))
		}
		s.subjects = append(s.subjects, sub)
	}
	return s, nil
}

// The images that raters see of a concept, and of others in the same language.
const (
	conceptImages = 9
	otherImages   = 6
)

// possessed is the label of a concept that is no failure.
const possessed = "the concept"

func failuresTask(in *table.Frame, o Options) (*study, error) {
	s := &study{intro: []string{
		"You see a word, and images that a computer program made for this word. Say what most of them show.",
		"Below, for comparison, are images that the same program made for other words."}}
	rows, err := s.imageRows(in, "model", "language", "concept")
	if err != nil {
		return nil, err
	}
	type group struct{ model, language, concept string }
	images, order := map[group][]table.Image{}, []group{}
	for _, row := range rows {
		g := group{in.Texts("model")[row], in.Texts("language")[row], in.Texts("concept")[row]}
		if images[g] == nil {
			order = append(order, g)
		}
		images[g] = append(images[g], in.Images("image")[row])
	}
	options := []option{
		{"What the word means, in most images", possessed, nil},
		{"Something else, different things in different images", concepts.NonSpecific, nil},
		{"Something else, the same thing in most images", concepts.SpecificCollision, nil},
		{"A scene that the images for other words show, too", concepts.GenericCollision, nil}}
	for _, g := range order {
		var others []table.Image
		for _, i := range random(o.Seed, "compare", g.model, g.language, g.concept).Perm(len(order)) {
			if h := order[i]; h.model == g.model && h.language == g.language && h.concept != g.concept &&
				len(others) < otherImages {
				others = append(others, images[h][0])
			}
		}
		shown := images[g][:min(conceptImages, len(images[g]))]
		s.subjects = append(s.subjects, subject{ID: strings.Join([]string{g.model, g.language, g.concept}, "/"),
			Texts: map[string]string{"model": g.model, "language": g.language, "concept": g.concept},
			Asks: []int{s.ask("kind", ask{Name: "kind", Text: "What do the images show?", Options: options,
				Order: shuffleRater, Unsure: "Can’t judge"})},
			heading: "The word: " + g.concept, images: shown, compare: others})
	}
	return s, nil
}

func tagsTask(in *table.Frame, o Options) (*study, error) {
	s := &study{intro: []string{"You see one image at a time. Choose every tag that applies to it."}}
	rows, err := s.imageRows(in)
	if err != nil {
		return nil, err
	}
	if len(o.Tags) == 0 {
		return nil, errors.New("no tags to choose from")
	}
	a := ask{Name: "tags", Text: "Which of these apply to the image?", Many: true, Unsure: "Can’t judge",
		Order: shuffleRater}
	for i, tag := range o.Tags {
		if tag == "" || slices.Contains(o.Tags[:i], tag) {
			return nil, fmt.Errorf("tag %d of %q is empty or occurs twice", i+1, o.Tags)
		}
		a.Options = append(a.Options, option{tag, "yes", nil})
	}
	at := s.ask("", a)
	for _, row := range rows {
		s.subjects = append(s.subjects, subject{ID: in.Texts("id")[row], Asks: []int{at},
			images: in.Images("image")[row : row+1]})
	}
	return s, nil
}

// isolated returns a text as one whose direction does not change that of the text around it.
func isolated(text string) string { return "\u2068" + text + "\u2069" }

func translationsTask(in *table.Frame, _ Options) (*study, error) {
	s := &study{intro: []string{"You see an English sentence and its translation into another language. Say how much " +
		"of the meaning of the one is in the other. Judge the meaning, not style or grammar."}}
	var columns [4][]string
	for i, name := range []string{"prompt_id", "language", "prompt", "english"} {
		c, err := in.Need(name, table.KindText)
		if err != nil {
			return nil, err
		}
		columns[i] = c.Texts
	}
	options := []option{{"All of it: equivalent, also in tone", "5", nil},
		{"All of it: equivalent, but said in another way", "4", nil},
		{"Most of it: less important details differ", "3", nil},
		{"Some of it: something important differs or is missing", "2", nil},
		{"Little or nothing: they are about different things", "1", nil}}
	seen, without, other := map[string]string{}, 0, 0 // seen: the text by id
	for i, language := range columns[1] {
		id, text, english := columns[0][i]+"/"+language, columns[2][i], columns[3][i]
		switch first, known := seen[id]; {
		case known && first != text:
			other++
			continue
		case language == "en" || known:
			continue
		case text == "" || english == "":
			without++
			continue
		}
		seen[id] = text
		s.subjects = append(s.subjects, subject{ID: id,
			Texts: map[string]string{"language": language, "prompt_id": columns[0][i]}, heading: isolated(english),
			Asks: []int{s.ask(id, ask{Name: "rating", Order: scale, Unsure: "Can’t judge", Options: options,
				Text: isolated(text) + " How much of the meaning is the same?"})}})
	}
	if other > 0 {
		s.note("%d other translations of a text that has one before are left out", other)
	}
	if without > 0 {
		s.note("%d rows without a text in both languages are left out", without)
	}
	return s, nil
}

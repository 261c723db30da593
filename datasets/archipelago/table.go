package archipelago

import (
	"math"
	"slices"

	"antipode/datasets"
	"antipode/kernel/client"
)

// Table makes a table of the other audits by its name, without the columns image and mask; a row's picture is in pictures, which is
// nil where the table has none. ok is false where there is no table of that name.
func (w *World) Table(name string) (f *datasets.Frame, pictures []Picture, ok bool) {
	build := tables[name]
	if build == nil {
		return nil, nil, false
	}
	f, pictures = build(w)
	return f, pictures, true
}

// tables makes each table by its name, without its pictures, and lists what these show (nil = the table has none).
var tables = map[string]func(*World) (*datasets.Frame, []Picture){
	"concepts": conceptTable, "words": wordTable, "captions": captionTable, "references": referenceTable, "peoples": peopleTable, "stereotypes": stereotypeTable,
	"annotations": annotationTable, "occupations": occupationTable, "audit-plants": plantTable, "lexicon": lexiconTable,
}

// sheet collects the rows of a table: the columns are those of the first row, in its order.
type sheet struct{ frame datasets.Frame }

// pair is a column's name and a row's value: a string, a float64 or a []float32.
type pair struct {
	name  string
	value any
}

func (s *sheet) add(row ...pair) {
	if s.frame.Columns == nil {
		s.frame.Columns = make([]client.Column, len(row))
	}
	for i, v := range row {
		c := &s.frame.Columns[i]
		c.Name = v.name
		switch v := v.value.(type) {
		case string:
			c.Kind, c.Texts = client.Text, append(c.Texts, v)
		case float64:
			c.Kind, c.Numbers = client.Number, append(c.Numbers, v)
		case []float32:
			c.Kind, c.Vectors = client.Vector, append(c.Vectors, v)
		}
	}
}

func conceptTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	var pictures []Picture
	for _, it := range w.Concepts() {
		p := it.Picture
		pictures = append(pictures, p)
		s.add(pair{"id", it.ID}, pair{"concept", it.Concept}, pair{"object", it.Concept}, pair{"language", it.Language}, pair{"prompt", it.Prompt}, pair{"prompt_id", it.PromptID},
			pair{"shown", it.Shown}, pair{"failure", it.Failure}, pair{"variant", p.Variant}, pair{"region", p.Island}, pair{"scene", p.Scene}, pair{"caption", p.Caption()},
			pair{"source", Generated}, pair{"model", SamplerName}, pair{"seed", float64(it.Index)})
	}
	return &s.frame, pictures
}

func wordTable(*World) (*datasets.Frame, []Picture) {
	var s sheet
	for _, code := range codes() {
		for _, c := range ConceptNames() {
			s.add(pair{"id", code + "-" + c}, pair{"concept", c}, pair{"language", code}, pair{"word", ConceptWord(code, c)}, pair{"prompt", ConceptPrompt(code, c)}, pair{"prompt_id", c})
		}
	}
	return &s.frame, nil
}

// captionWords are the places of a caption's vector: forms, things, scenes, islands.
var captionWords = slices.Concat(entries("form"), entries("thing"), entries("scene"), entries("island"))

// captionVector has a 1 for each word of a caption.
func captionVector(p Picture) []float32 {
	v := make([]float32, len(captionWords))
	base := 0
	for _, part := range []struct{ kind, word string }{{"form", p.Variant}, {"thing", p.Object}, {"scene", p.Scene}, {"island", p.Island}} {
		if at := slices.Index(entries(part.kind), part.word); at >= 0 {
			v[base+at] = 1
		}
		base += len(entries(part.kind))
	}
	return v
}

func captionTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	var pictures []Picture
	for _, it := range w.Captions() {
		p := it.Picture
		pictures = append(pictures, p)
		s.add(pair{"id", it.ID}, pair{"language", it.Language}, pair{"prompt", it.Prompt}, pair{"prompt_id", it.PromptID}, pair{"english", it.English}, pair{"caption", p.Caption()}, pair{"lost", it.Lost},
			pair{"object", p.Object}, pair{"variant", p.Variant}, pair{"region", p.Island}, pair{"scene", p.Scene},
			pair{"source", it.Source}, pair{"model", SamplerName}, pair{"seed", float64(it.Index)}, pair{"text", captionVector(p)})
	}
	return &s.frame, pictures
}

func referenceTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	var pictures []Picture
	for _, it := range w.References() {
		p := it.Picture
		pictures = append(pictures, p)
		s.add(pair{"id", it.ID}, pair{"prompt_id", it.PromptID}, pair{"prompt", it.Prompt}, pair{"caption", p.Caption()},
			pair{"object", p.Object}, pair{"variant", p.Variant}, pair{"region", p.Island}, pair{"scene", p.Scene}, pair{"source", it.Source}, pair{"text", captionVector(p)})
	}
	return &s.frame, pictures
}

func peopleTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	var pictures []Picture
	for _, it := range w.Peoples() {
		p := it.Picture
		pictures = append(pictures, p)
		traits, shown := []float32{1}, ""
		for _, a := range AttributeNames() {
			has := float32(0)
			if slices.Contains(p.Figure.Attributes, a) {
				if has = 1; shown != "" {
					shown += ", "
				}
				shown += a
			}
			traits = append(traits, has)
		}
		s.add(pair{"id", it.ID}, pair{"identity", it.People}, pair{"set", it.Set}, pair{"attribute", it.Attribute}, pair{"prompt", it.Prompt}, pair{"prompt_id", it.PromptID},
			pair{"caption", p.Caption()}, pair{"attributes", shown}, pair{"region", p.Island}, pair{"scene", p.Scene},
			pair{"source", Generated}, pair{"model", SamplerName}, pair{"seed", float64(it.Index)}, pair{"number", float64(it.Number)}, pair{"traits", traits})
	}
	return &s.frame, pictures
}

// counts are a stereotype's columns: how many call it one, how offensive it is, whether it can be seen.
func (st Stereotype) counts() []pair {
	said := 0.0
	if st.Stereotype {
		said = 3
	}
	return []pair{{"na_stereo", said}, {"region_stereo", said}, {"offensiveness", -1.0}, {"score_asia", 5.0}, {"score_europe", 5.0}, {"score_na", 5.0}}
}

func stereotypeTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	for _, st := range w.Stereotypes() {
		s.add(append([]pair{{"id", st.People + "-" + st.Attribute}, {"identity", st.People}, {"attribute", st.Attribute}}, st.counts()...)...)
	}
	return &s.frame, nil
}

func annotationTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	pairs := w.Stereotypes()
	for _, it := range w.Peoples() {
		if it.Set != DefaultSet {
			continue
		}
		for _, st := range pairs {
			if st.People != it.People {
				continue
			}
			selected := 0.0
			if slices.Contains(it.Picture.Figure.Attributes, st.Attribute) {
				selected = 1
			}
			s.add(append([]pair{{"id", it.ID + "-" + st.Attribute}, {"image_id", it.ID}, {"picture", float64(it.Number)}, {"selected", selected}, {"identity", st.People}, {"attribute", st.Attribute}}, st.counts()...)...)
		}
	}
	return &s.frame, nil
}

// kinds are the interventions as ENTIGEN's scores call them.
var kinds = map[string]string{"original": "original", AxisCrest: "EI: perceived crest", AxisBanner: "EI: perceived banner", "irrelevant": "irrelevant EI"}

func occupationTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	var pictures []Picture
	for _, it := range w.Occupations() {
		p := it.Picture
		pictures = append(pictures, p)
		s.add(pair{"id", it.ID}, pair{"category", it.Category}, pair{"attribute", it.Attribute}, pair{"intervention", it.Intervention}, pair{"kind", kinds[it.Intervention]}, pair{"prompt", it.Prompt}, pair{"prompt_id", it.PromptID},
			pair{"perceived_crest", p.Figure.Crest}, pair{"perceived_banner", p.Figure.Banner}, pair{"picture", it.ID}, pair{"person", 1.0}, pair{"as_described", 1.0}, pair{"identity", p.Figure.People},
			pair{"caption", p.Caption()}, pair{"region", p.Island}, pair{"scene", p.Scene}, pair{"source", Generated}, pair{"model", SamplerName}, pair{"seed", float64(it.Index)})
	}
	return &s.frame, pictures
}

func plantTable(w *World) (*datasets.Frame, []Picture) {
	var s sheet
	add := func(p AuditPlant) {
		s.add(pair{"audit", p.Audit}, pair{"carrier", p.Carrier}, pair{"subject", p.Subject}, pair{"kind", p.Kind}, pair{"size", p.Size}, pair{"elsewhere", p.Elsewhere}, pair{"score", p.Score}, pair{"description", p.Description})
	}
	plants := w.AuditPlants()
	for _, p := range plants {
		add(p)
	}
	if len(plants) == 0 { // a table without rows has its columns all the same
		add(AuditPlant{Size: math.NaN()})
		return s.frame.Pick([]int{}), nil
	}
	return &s.frame, nil
}

func lexiconTable(*World) (*datasets.Frame, []Picture) {
	var s sheet
	for _, x := range Lexicon() {
		l, direction := findLanguage(x.Language), "ltr"
		if l.RTL {
			direction = "rtl"
		}
		s.add(pair{"id", x.Language + "-" + x.Kind + "-" + x.English}, pair{"language", x.Language}, pair{"name", l.Name}, pair{"script", l.Script}, pair{"direction", direction}, pair{"kind", x.Kind}, pair{"english", x.English}, pair{"word", x.Word})
	}
	return &s.frame, nil
}

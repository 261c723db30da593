package archipelago

import (
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// Table returns one of the world's tables by its name in a plan, without the columns image and mask. images[i] is the
// image of row i; it is nil if the table has no images. ok is false for an unknown name.
func (w *World) Table(name string) (f *datasets.Frame, images []Image, ok bool) {
	if build := tables[name]; build != nil {
		f, images = build(w)
		return f, images, true
	}
	return nil, nil, false
}

// tables makes each table by its name.
var tables = map[string]func(*World) (*datasets.Frame, []Image){
	"photos":       func(w *World) (*datasets.Frame, []Image) { return frame(w.Reference(), itemRow) },
	"sampled":      func(w *World) (*datasets.Frame, []Image) { return frame(w.Sampled(), itemRow) },
	"plants":       func(w *World) (*datasets.Frame, []Image) { return frame(w.InjectedDisparities(), disparityRow) },
	"concepts":     func(w *World) (*datasets.Frame, []Image) { return frame(w.Concepts(), conceptRow) },
	"words":        func(*World) (*datasets.Frame, []Image) { return frame(conceptWords(), wordRow) },
	"creative":     func(*World) (*datasets.Frame, []Image) { return frame(CreativePrompts(), creativeRow) },
	"captions":     func(w *World) (*datasets.Frame, []Image) { return frame(w.Captions(), captionRow) },
	"references":   func(w *World) (*datasets.Frame, []Image) { return frame(w.CaptionReferences(), referenceRow) },
	"peoples":      func(w *World) (*datasets.Frame, []Image) { return frame(w.Peoples(), peopleRow) },
	"stereotypes":  func(w *World) (*datasets.Frame, []Image) { return frame(w.Stereotypes(), stereotypeRow) },
	"annotations":  func(w *World) (*datasets.Frame, []Image) { return frame(w.annotations(), annotationRow) },
	"occupations":  func(w *World) (*datasets.Frame, []Image) { return frame(w.Occupations(), occupationRow) },
	"audit-plants": func(w *World) (*datasets.Frame, []Image) { return frame(w.AuditDisparities(), auditDisparityRow) },
	"lexicon":      func(*World) (*datasets.Frame, []Image) { return frame(Lexicon(), lexiconRow) },
}

// pair is a column's name and a row's value: a string, a float64 or a []float32.
type pair struct {
	name  string
	value any
}

// frame returns the frame of some items, one row for each, and their images. row returns the values of an item's row,
// and the item's image or nil. The columns are those of the first row.
func frame[T any](items []T, row func(T) ([]pair, *Image)) (*datasets.Frame, []Image) {
	if len(items) == 0 { // a frame without rows has columns, too
		f, _ := frame(make([]T, 1), row)
		return f.Pick([]int{}), nil
	}
	var f datasets.Frame
	var images []Image
	for i, it := range items {
		values, image := row(it)
		if image != nil {
			images = append(images, *image)
		}
		if i == 0 {
			f.Columns = make([]table.Column, len(values))
		}
		for k, v := range values {
			c := &f.Columns[k]
			if i == 0 {
				c.Name, c.Kind = v.name, table.KindOf(v.value)
			}
			c.AddAny(v.value)
		}
	}
	return &f, images
}

// Image returns what the image of the item shows.
func (it Item) Image() Image {
	return Image{Island: it.Region, Scene: it.Scene, Object: it.Object, Variant: it.Variant, Seed: it.Seed,
		Backdrop: it.Backdrop}
}

func itemRow(it Item) ([]pair, *Image) {
	model, image := "", it.Image()
	if it.Source == Generated {
		model = samplerName
	}
	return []pair{{"id", it.ID}, {"object", it.Object}, {"region", it.Region}, {"scene", it.Scene},
		{"variant", it.Variant}, {"caption", it.Caption}, {"source", it.Source}, {"model", model},
		{"seed", float64(it.Seed)}, {"backdrop", float64(it.Backdrop)}}, &image
}

func disparityRow(d Disparity) ([]pair, *Image) {
	return []pair{{"region", d.Island}, {"component", d.Component}, {"kind", d.Kind}, {"size", d.Size},
		{"score", d.Score}, {"description", d.Description}}, nil
}

func conceptRow(it ConceptItem) ([]pair, *Image) {
	p := it.Image
	return []pair{{"id", it.ID}, {"concept", it.Concept}, {"object", it.Concept}, {"language", it.Language},
		{"prompt", it.Prompt}, {"prompt_id", it.PromptID}, {"shown", it.Shown}, {"failure", it.Failure},
		{"variant", p.Variant}, {"region", p.Island}, {"scene", p.Scene}, {"caption", p.Caption()},
		{"source", Generated}, {"model", samplerName}, {"seed", float64(it.Index)}}, &p
}

// conceptWords returns a word for each language and concept; English is the concept's name.
func conceptWords() (out []Word) {
	for _, code := range codes() {
		for _, c := range ConceptNames() {
			out = append(out, Word{Language: code, English: c, Word: ConceptWord(code, c)})
		}
	}
	return out
}

func wordRow(x Word) ([]pair, *Image) {
	return []pair{{"id", x.Language + "-" + x.English}, {"concept", x.English}, {"language", x.Language},
		{"word", x.Word}, {"prompt", ConceptPrompt(x.Language, x.English)}, {"prompt_id", x.English}}, nil
}

func creativeRow(p CreativePrompt) ([]pair, *Image) {
	return []pair{{"id", p.ID + "-" + p.Language}, {"prompt_id", p.ID}, {"language", p.Language}, {"prompt", p.Prompt},
		{"concepts", strings.Join(p.Concepts, ", ")}}, nil
}

// captionWords are the words of the components of a caption's vector: forms, objects, scenes, islands.
var captionWords = slices.Concat(entries("form"), entries("thing"), entries("scene"), entries("island"))

// captionVector has 1 for each word of a caption, else 0.
func captionVector(p Image) []float32 {
	v := make([]float32, len(captionWords))
	base := 0
	for _, part := range []struct{ kind, word string }{{"form", p.Variant}, {"thing", p.Object}, {"scene", p.Scene},
		{"island", p.Island}} {
		if at := slices.Index(entries(part.kind), part.word); at >= 0 {
			v[base+at] = 1
		}
		base += len(entries(part.kind))
	}
	return v
}

func captionRow(it CaptionItem) ([]pair, *Image) {
	p := it.Image
	return []pair{{"id", it.ID}, {"language", it.Language}, {"prompt", it.Prompt}, {"prompt_id", it.PromptID},
		{"english", it.English}, {"caption", p.Caption()}, {"lost", it.Lost}, {"object", p.Object},
		{"variant", p.Variant}, {"region", p.Island}, {"scene", p.Scene}, {"source", it.Source},
		{"model", samplerName}, {"seed", float64(it.Index)}, {"text", captionVector(p)}}, &p
}

func referenceRow(it CaptionItem) ([]pair, *Image) {
	p := it.Image
	return []pair{{"id", it.ID}, {"prompt_id", it.PromptID}, {"prompt", it.Prompt}, {"caption", p.Caption()},
		{"object", p.Object}, {"variant", p.Variant}, {"region", p.Island}, {"scene", p.Scene}, {"source", it.Source},
		{"text", captionVector(p)}}, &p
}

func peopleRow(it PeopleItem) ([]pair, *Image) {
	p := it.Image
	traits := []float32{1}
	for _, a := range AttributeNames() {
		traits = append(traits, float32(one(slices.Contains(p.Figure.Attributes, a))))
	}
	return []pair{{"id", it.ID}, {"identity", it.People}, {"set", it.Set}, {"attribute", it.Attribute},
		{"prompt", it.Prompt}, {"prompt_id", it.PromptID}, {"caption", p.Caption()},
		{"attributes", strings.Join(p.Figure.Attributes, ", ")}, {"region", p.Island}, {"scene", p.Scene},
		{"source", Generated}, {"model", samplerName}, {"seed", float64(it.Index)}, {"number", float64(it.Number)},
		{"traits", traits}}, &p
}

// one is 1 for true and 0 for false.
func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// columns returns the columns of a stereotype that all of ViSAGe's tables have.
func (st Stereotype) columns() []pair {
	count := 3 * one(st.Stereotype)
	return []pair{{"identity", st.People}, {"attribute", st.Attribute}, {"na_stereo", count}, {"region_stereo", count},
		{"offensiveness", -1.0}, {"score_asia", 5.0}, {"score_europe", 5.0}, {"score_na", 5.0}}
}

func stereotypeRow(st Stereotype) ([]pair, *Image) {
	return append([]pair{{"id", st.People + "-" + st.Attribute}}, st.columns()...), nil
}

// annotation is an attribute that annotators look for in an image.
type annotation struct {
	item       PeopleItem
	stereotype Stereotype
}

// annotations returns the annotations of the default images of [World.Peoples].
func (w *World) annotations() (out []annotation) {
	stereotypes := w.Stereotypes()
	for _, it := range w.Peoples() {
		for _, st := range stereotypes {
			if it.Set == DefaultSet && st.People == it.People {
				out = append(out, annotation{it, st})
			}
		}
	}
	return out
}

func annotationRow(a annotation) ([]pair, *Image) {
	selected := one(slices.Contains(a.item.Image.Figure.Attributes, a.stereotype.Attribute))
	return append([]pair{{"id", a.item.ID + "-" + a.stereotype.Attribute}, {"image_id", a.item.ID},
		{"image_number", float64(a.item.Number)}, {"selected", selected}}, a.stereotype.columns()...), nil
}

// interventionKinds are the interventions in the words of ENTIGEN's scores.
var interventionKinds = map[string]string{"original": "original", AxisCrest: "EI: perceived crest",
	AxisBanner: "EI: perceived banner", "irrelevant": "irrelevant EI"}

func occupationRow(it OccupationItem) ([]pair, *Image) {
	p := it.Image
	return []pair{{"id", it.ID}, {"category", it.Category}, {"attribute", it.Attribute},
		{"intervention", it.Intervention}, {"kind", interventionKinds[it.Intervention]}, {"prompt", it.Prompt},
		{"prompt_id", it.PromptID}, {"perceived_crest", p.Figure.Crest}, {"perceived_banner", p.Figure.Banner},
		{"image_id", it.ID}, {"person", 1.0}, {"as_described", 1.0}, {"identity", p.Figure.People},
		{"caption", p.Caption()}, {"region", p.Island}, {"scene", p.Scene}, {"source", Generated},
		{"model", samplerName}, {"seed", float64(it.Index)}}, &p
}

func auditDisparityRow(d AuditDisparity) ([]pair, *Image) {
	return []pair{{"audit", d.Audit}, {"carrier", d.Carrier}, {"subject", d.Subject}, {"kind", d.Kind},
		{"size", d.Size}, {"elsewhere", d.Elsewhere}, {"score", d.Score}, {"description", d.Description}}, nil
}

func lexiconRow(x Word) ([]pair, *Image) {
	l, direction := findLanguage(x.Language), "ltr"
	if l.RTL {
		direction = "rtl"
	}
	return []pair{{"id", x.Language + "-" + x.Kind + "-" + x.English}, {"language", x.Language}, {"name", l.Name},
		{"script", l.Script}, {"direction", direction}, {"kind", x.Kind}, {"english", x.English}, {"word", x.Word}}, nil
}

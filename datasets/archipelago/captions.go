package archipelago

import (
	"fmt"
	"slices"
)

// The parts of a caption that an image may fail to show.
const (
	LostObject = "object" // the image shows another object
	LostScene  = "scene"  // the image shows another scene
)

// CaptionPrompts is the number of captions of [World.Captions].
const CaptionPrompts = 40

// CaptionItem is one image of [World.Captions] or [World.CaptionReferences].
type CaptionItem struct {
	ID       string // unique within a world
	PromptID string // p00 to p39
	Language string // of the prompt: [English] or a code of [Languages]
	Prompt   string // the caption in that language
	English  string // the caption in English
	Index    int    // number of the image of its prompt and language, from 0
	Lost     string // the part of the caption that the image does not show: [LostObject], [LostScene] or ""
	Source   string // [Real] for references, else [Generated]
	Image    Image
}

// CaptionReferences returns one reference image for each caption, as a data set of captioned images does.
func (w *World) CaptionReferences() []CaptionItem {
	out := make([]CaptionItem, CaptionPrompts)
	seen := map[string]bool{}
	for k := range out {
		out[k] = w.reference(k, func(caption string) bool { return seen[caption] })
		seen[out[k].English] = true
	}
	return out
}

// reference returns the reference image of caption number k; captions for which taken is true are skipped.
func (w *World) reference(k int, taken func(string) bool) CaptionItem {
	id := fmt.Sprintf("p%02d", k)
	it := CaptionItem{ID: "reference-" + id, PromptID: id, Language: English, Source: Real}
	for n := 0; it.English == "" || taken(it.English); n++ { // captions differ
		key := []string{"reference", id, fmt.Sprint(n)}
		it.Image = w.image(stream(w.key(key...), 0), things[k%len(things)].name, key...)
		it.English = it.Image.Caption()
	}
	it.Prompt = it.English
	return it
}

// Captions returns IndicTTI's generated images: [CaptionsPerPrompt] of each of [CaptionPrompts] captions in English and
// each language. Images show what the caption describes, except a share [LostShare] in the affected language.
func (w *World) Captions() []CaptionItem {
	references := w.CaptionReferences()
	var out []CaptionItem
	for _, code := range codes() {
		for _, ref := range references {
			for n := range w.count(CaptionsPerPrompt) {
				out = append(out, w.captioned(ref, code, n))
			}
		}
	}
	return out
}

func (w *World) captioned(ref CaptionItem, code string, n int) CaptionItem {
	p := ref.Image
	it := CaptionItem{ID: fmt.Sprintf("caption-%s-%s-%02d", code, ref.PromptID, n), PromptID: ref.PromptID,
		Language: code, Prompt: Caption(code, p.Variant, p.Object, p.Scene, p.Island),
		English: ref.English, Index: n, Source: Generated}
	key := []string{"caption", code, ref.PromptID, fmt.Sprint(n)}
	p.Seed, p.Backdrop = w.key(append(key, "object")...), w.key(append(key, "backdrop")...)
	r := stream(w.key(key...), 0)
	other := func(kind, than string) string {
		from := slices.DeleteFunc(entries(kind), func(e string) bool { return e == than })
		return from[r.IntN(len(from))]
	}
	if chance := r.Float64(); code == w.carriers.captionLanguage && chance < LostShare {
		if it.Lost = LostScene; chance < LostShare/2 {
			it.Lost = LostObject
			p.Object = other("thing", p.Object)
			t := findThing(p.Object)
			p.Variant = t.forms[findIsland(p.Island).form(t, r)]
		} else {
			p.Scene = other("scene", p.Scene)
		}
	}
	it.Image = p
	return it
}

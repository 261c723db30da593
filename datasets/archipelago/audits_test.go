package archipelago

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
)

// goldenAudits are the first 12 hex digits of SHA-256 over each list of world 7 with disparities with two images of
// each prompt, on every platform.
var goldenAudits = map[string]string{
	"concepts": "906c2a7373a3", "captions": "92d861cc096f", "references": "c0bdc8e5c4c8", "peoples": "5e95582dc84a",
	"occupations": "a78b6aca0a8e", "disparities": "65a3c4af2e1d", "stereotypes": "bf222691c397",
	"lexicon": "c591aa67fc51",
}

// goldenPaintings is the same over image and mask bytes of the sheet's figures at 48 pixels, linux/amd64.
const goldenPaintings = "c6b0d7f36e30"

func digest(v ...any) string {
	sum := sha256.Sum256(fmt.Append(nil, v...))
	return hex.EncodeToString(sum[:])[:12]
}

// lists writes every list of a world as text; pointers are followed.
func lists(w *World) map[string]string {
	text := func(p *Image) string {
		f := p.Figure
		p.Figure = nil
		return fmt.Sprintf("%+v %+v", *p, f)
	}
	out := map[string]string{}
	for _, it := range w.Concepts() {
		out["concepts"] += text(&it.Image) + fmt.Sprintln(it)
	}
	for _, it := range w.Captions() {
		out["captions"] += text(&it.Image) + fmt.Sprintln(it)
	}
	for _, it := range w.CaptionReferences() {
		out["references"] += text(&it.Image) + fmt.Sprintln(it)
	}
	for _, it := range w.Peoples() {
		out["peoples"] += text(&it.Image) + fmt.Sprintln(it)
	}
	for _, it := range w.Occupations() {
		out["occupations"] += text(&it.Image) + fmt.Sprintln(it)
	}
	out["disparities"], out["stereotypes"], out["lexicon"] = fmt.Sprintln(w.AuditDisparities()),
		fmt.Sprintln(w.Stereotypes()),
		fmt.Sprintln(Lexicon())
	return out
}

func TestGoldenAudits(t *testing.T) {
	opts := Options{Seed: 7, Injected: true, PerCell: 2, Size: 48}
	first, second := lists(New(opts)), lists(New(opts))
	for name, want := range goldenAudits {
		must.Equal(t, first[name], second[name], name, "differ between two runs")
		must.Equal(t, digest(first[name]), want, name)
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64: elsewhere fused multiply-add may move the last bit of an edge pixel")
	}
	h := sha256.New()
	for y, row := range sheetFigures() {
		for x := range row {
			im, mask := New(opts).Paint(Image{Island: islands[x%6].name, Scene: scenes[y%6].name, Figure: &row[x],
				Seed: uint64(x), Backdrop: uint64(y)})
			h.Write(im.Pix)
			h.Write(mask.Pix)
		}
	}
	must.Equal(t, hex.EncodeToString(h.Sum(nil))[:12], goldenPaintings, "paintings")
}

// The prompt of an image and what it shows do not depend on the number of images.
func TestAuditItemsDependOnlyOnTheirName(t *testing.T) {
	few, many := New(Options{Seed: 5, Injected: true, PerCell: 2}), New(Options{Seed: 5, Injected: true, PerCell: 4})
	shown := map[string]string{}
	add := func(id string, p Image) { shown[id] = fmt.Sprint(p.CaptionIn("qab_Deva"), p.Seed, p.Backdrop) }
	same := func(id string, p Image) {
		if got := fmt.Sprint(p.CaptionIn("qab_Deva"), p.Seed, p.Backdrop); got != shown[id] {
			t.Fatalf("%s: %q with 2 a prompt, %q with 4", id, got, shown[id])
		}
	}
	ids := 0
	for i, f := range []func(string, Image){add, same} {
		w := []*World{many, few}[i]
		for _, it := range w.Concepts() {
			f(it.ID, it.Image)
		}
		for _, it := range w.Captions() {
			f(it.ID, it.Image)
		}
		for _, it := range w.CaptionReferences() {
			f(it.ID, it.Image)
		}
		for _, it := range w.Peoples() {
			f(it.ID, it.Image)
		}
		for _, it := range w.Occupations() {
			f(it.ID, it.Image)
		}
		if i == 0 {
			ids = len(shown)
		}
	}
	must.Equal(t, len(shown), ids, "names, then")
	must.Equal(t, ids, 4*(14*5+40*5+6*9+9*4)+40, "names, then")
}

// shares counts how often something holds among rows, by name.
type shares map[string][2]int

func (s shares) count(name string, holds bool) {
	n := s[name]
	if n[1]++; holds {
		n[0]++
	}
	s[name] = n
}

// want checks a share against four standard deviations of a binomial count.
func (s shares) want(t *testing.T, name string, p float64) {
	t.Helper()
	n := s[name]
	if n[1] == 0 {
		t.Fatalf("%s: nothing was counted", name)
	}
	sd := 4 * math.Sqrt(p*(1-p)/float64(n[1]))
	near(t, fmt.Sprintf("%s (%d of %d)", name, n[0], n[1]), float64(n[0])/float64(n[1]), p, sd)
}

func TestInjectedShares(t *testing.T) {
	got := shares{}
	carriers := map[string]map[string]bool{}
	for seed := range uint64(16) {
		w := New(Options{Seed: seed, Injected: true})
		who := map[string]string{}
		for _, p := range w.AuditDisparities() {
			if who[p.Audit] == "" {
				who[p.Audit] = p.Carrier
			}
			if carriers[p.Audit] == nil {
				carriers[p.Audit] = map[string]bool{}
			}
			carriers[p.Audit][p.Carrier] = true
		}
		kinds := map[string]map[string]bool{}
		for _, it := range w.Concepts() {
			if it.Language != who[CoCoCroLa] {
				if it.Failure != "" || it.Shown != it.Concept {
					t.Fatalf("%s fails in a language without a disparity", it.ID)
				}
				continue
			}
			if (it.Failure == "") != (it.Shown == it.Concept) {
				t.Fatalf("%s shows %s, failure %q", it.ID, it.Shown, it.Failure)
			}
			if it.Failure != "" {
				if kinds[it.Failure] == nil {
					kinds[it.Failure] = map[string]bool{}
				}
				kinds[it.Failure][it.Concept] = true
			}
		}
		for _, k := range failureKinds {
			must.Equal(t, len(kinds[k]), FailedConcepts/len(failureKinds), "seed", seed)
		}
		for _, it := range w.Captions() {
			name := "elsewhere"
			if it.Language == who[IndicTTI] {
				name = "carrier"
			}
			got.count("captions lost object "+name, it.Lost == LostObject)
			got.count("captions lost scene "+name, it.Lost == LostScene)
			if lost := it.Image.Caption() != it.English; lost != (it.Lost != "") {
				t.Fatalf("%s: lost %q, but shows %q for %q", it.ID, it.Lost, it.Image.Caption(), it.English)
			}
		}
		stereotypes := map[[2]string]bool{}
		for _, s := range w.Stereotypes() {
			stereotypes[[2]string{s.People, s.Attribute}] = s.Stereotype
		}
		for _, it := range w.Peoples() {
			for _, a := range AttributeNames() {
				name := "attribute"
				switch {
				case a == it.Attribute:
					name = "requested"
				case it.People == who[ViSAGe] && stereotypes[[2]string{it.People, a}] && it.Set != OtherSet:
					name = "pulled"
				}
				got.count(name, slices.Contains(it.Image.Figure.Attributes, a))
			}
		}
		h := w.carriers
		for _, it := range w.Occupations() {
			for axis, sign := range map[string]string{AxisCrest: it.Image.Figure.Crest,
				AxisBanner: it.Image.Figure.Banner} {
				switch {
				case it.Attribute != who[ENTIGEN]:
					got.count("even", sign == Groups(axis)[0])
				case it.Intervention == axis && axis == h.fixed:
					got.count("fixed", sign == h.toward[axis])
				default:
					got.count("skewed", sign == h.toward[axis])
				}
			}
		}
	}
	for name, p := range map[string]float64{"captions lost object carrier": LostShare / 2,
		"captions lost scene carrier": LostShare / 2, "captions lost object elsewhere": 0,
		"captions lost scene elsewhere": 0,
		"attribute":                     BaseLikelihood, "requested": RequestedLikelihood, "pulled": PulledLikelihood,
		"even": 0.5, "fixed": 0.5,
		"skewed": SkewedShare} {
		got.want(t, name, p)
	}
	for audit, c := range carriers {
		if len(c) < 3 {
			t.Errorf("%s: over 16 seeds only %v carry the disparity", audit, c)
		}
	}
}

func TestControlWorld(t *testing.T) {
	w := New(Options{Seed: 3})
	must.Equal(t, len(w.AuditDisparities()), 0, "disparities in the control world")
	for _, it := range w.Concepts() {
		if it.Shown != it.Concept || it.Failure != "" {
			t.Fatalf("%s shows %s", it.ID, it.Shown)
		}
	}
	for _, it := range w.Captions() {
		if it.Lost != "" || it.Image.Caption() != it.English {
			t.Fatalf("%s lost %q", it.ID, it.Lost)
		}
	}
	got := shares{}
	for _, s := range w.Stereotypes() {
		for _, it := range w.Peoples() {
			if it.People == s.People && it.Attribute != s.Attribute {
				got.count(fmt.Sprint("stereotype ", s.Stereotype), slices.Contains(it.Image.Figure.Attributes,
					s.Attribute))
			}
		}
	}
	got.want(t, "stereotype true", BaseLikelihood)
	got.want(t, "stereotype false", BaseLikelihood)
}

// Every name of a figure is visible: each pair of values of an axis, each attribute, occupation and ceremony changes
// many pixels, and only those of the figures' masks.
func TestFiguresShowWhatTheyAre(t *testing.T) {
	w := New(Options{Size: 128})
	base := Figure{People: "Tulvane", Crest: Round, Banner: LightBanner}
	var forms []Figure
	for _, c := range Groups(AxisCrest) {
		for _, b := range Groups(AxisBanner) {
			forms = append(forms, Figure{People: base.People, Crest: c, Banner: b})
		}
	}
	for _, p := range PeopleNames() {
		if p != base.People {
			forms = append(forms, Figure{People: p, Crest: Round, Banner: LightBanner})
		}
	}
	with := func(change func(*Figure)) { f := base; change(&f); forms = append(forms, f) }
	for _, a := range AttributeNames() {
		with(func(f *Figure) { f.Attributes = []string{a} })
	}
	for _, o := range OccupationNames() {
		with(func(f *Figure) { f.Occupation = o })
	}
	for _, c := range CeremonyNames() {
		with(func(f *Figure) { f.Ceremony = c })
	}
	images, masks := make([]*image.RGBA, len(forms)), make([]*image.Gray, len(forms))
	for i := range forms {
		images[i], masks[i] = w.Paint(Image{Island: "Velmora", Scene: "shore", Figure: &forms[i], Seed: 9,
			Backdrop: 4})
		for j := range i {
			a, am, b, bm := images[i], masks[i], images[j], masks[j]
			seen := 0
			for k := range am.Pix {
				if string(a.Pix[4*k:4*k+4]) != string(b.Pix[4*k:4*k+4]) {
					if seen++; am.Pix[k]|bm.Pix[k] == 0 {
						t.Fatalf("%+v and %+v differ outside their masks", forms[i], forms[j])
					}
				}
			}
			if seen < 60 {
				t.Errorf("%+v and %+v differ in %d pixels only", forms[i], forms[j], seen)
			}
		}
	}
}

// No attribute hides the crest or banner: with all attributes, the two values of either axis differ as
// much as with none.
func TestSignsAreNeverHidden(t *testing.T) {
	w := New(Options{Size: 128})
	differ := func(attributes []string, a, b Figure) int {
		a.Attributes, b.Attributes = attributes, attributes
		x, _ := w.Paint(Image{Island: "Velmora", Scene: "shore", Figure: &a, Seed: 9, Backdrop: 4})
		y, _ := w.Paint(Image{Island: "Velmora", Scene: "shore", Figure: &b, Seed: 9, Backdrop: 4})
		n := 0
		for k := 0; k < len(x.Pix); k += 4 {
			if string(x.Pix[k:k+4]) != string(y.Pix[k:k+4]) {
				n++
			}
		}
		return n
	}
	for name, other := range map[string]Figure{AxisCrest: {People: "Tulvane", Crest: Pointed, Banner: LightBanner},
		AxisBanner: {People: "Tulvane", Crest: Round, Banner: DarkBanner}} {
		base := Figure{People: "Tulvane", Crest: Round, Banner: LightBanner}
		if bare, full := differ(nil, base, other),
			differ(AttributeNames(), base, other); float64(full) < 0.8*float64(bare) {
			t.Errorf("%s: %d pixels differ between the groups, %d when all attributes are worn", name, bare, full)
		}
	}
}

func TestPaintOfUnknownNames(t *testing.T) {
	w := New(Options{Size: 32})
	ok := Figure{People: "Tulvane", Crest: Round, Banner: DarkBanner}
	for name, change := range map[string]func(*Image){
		"people": func(p *Image) { p.Figure.People = "Nobody" }, "crest": func(p *Image) { p.Figure.Crest = "" },
		"banner":     func(p *Image) { p.Figure.Banner = "gray" },
		"attribute":  func(p *Image) { p.Figure.Attributes = []string{"hat"} },
		"occupation": func(p *Image) { p.Figure.Occupation = "king" },
		"ceremony":   func(p *Image) { p.Figure.Ceremony = "war" },
		"island":     func(p *Image) { p.Island = "Atlantis" },
		"scene":      func(p *Image) { p.Scene = "moon"; p.Figure = nil },
	} {
		f := ok
		p := Image{Island: "Velmora", Scene: "shore", Figure: &f}
		if im, mask := w.Paint(p); im == nil || mask == nil {
			t.Fatal("a figure was not drawn")
		}
		change(&p)
		if im, mask := w.Paint(p); im != nil || mask != nil {
			t.Errorf("an image with an unknown %s was drawn", name)
		}
	}
	if im, mask := w.Paint(Image{Island: "Velmora", Scene: "shore"}); im == nil || mask != nil {
		t.Error("a background alone needs an image and has no mask")
	}
}

func TestCaptionsOfFigures(t *testing.T) {
	f := &Figure{People: "Odrithan", Crest: Round, Banner: LightBanner, Attributes: []string{"stripes", "belt", "star"},
		Occupation: "potter"}
	p := Image{Island: "Velmora", Scene: "shore", Figure: f}
	must.Equal(t, p.Caption(), "an Odrithan potter with stripes, a belt and a star")
	for _, l := range Languages() {
		got := p.CaptionIn(l.Code)
		for kind, e := range map[string]string{"people": "Odrithan", "occupation": "potter", "attribute": "belt",
			"template": "<with>"} {
			if !strings.Contains(got, Translate(l.Code, kind, e)) {
				t.Errorf("%s: %q lacks the word for %s", l.Name, got, e)
			}
		}
	}
	if p.CaptionIn("xx") != "" || Caption("xx", "round", "lantern", "shore", "Velmora") != "" ||
		ConceptPrompt("xx", "lantern") != "" || ConceptPrompt(English, "sword") != "" {
		t.Error("an unknown language or concept has words")
	}
}

func BenchmarkPaint(b *testing.B) {
	w := New(Options{})
	items := w.Peoples()
	for i := 0; b.Loop(); i++ {
		w.Paint(items[i%len(items)].Image)
	}
}

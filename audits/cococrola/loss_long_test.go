//go:build calibration

package cococrola_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"antipode/audits"
	"antipode/audits/cococrola"
	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/metrics/tokens"
	"antipode/test/testengine"
)

// written returns the forms of a concept's prompt: as it is; with a soft hyphen in the word, whose characters the
// tokenizer then splits into bytes; with the word beyond the generator's context; and with a special token before it.
func written(language, concept string) map[string]string {
	prompt, word := archipelago.ConceptPrompt(language, concept), archipelago.ConceptWord(language, concept)
	first, of := string([]rune(word)[:1]), "a"
	if language != archipelago.English {
		of = archipelago.Translate(language, "template", "<a>")
	}
	return map[string]string{"": prompt, "partial": strings.Replace(prompt, word, first+"\u00ad"+word[len(first):], 1),
		"cut": strings.Repeat(of+" ", 40) + prompt, "special": strings.Replace(prompt, word, "<|endoftext|> "+word, 1)}
}

// pool are the scores of images by generator, language, concept and form, and the counts of the form's tokens.
type pool struct {
	scores map[[4]string][]float64
	counts map[[3]string][]float64
}

var counted = []string{"prompt_partial", "prompt_cut", "prompt_special"}

// pooled generates and scores 8 images of each concept in each language and form, by both generators.
func pooled(t *testing.T) pool {
	var rows []map[string]any
	for _, l := range languages {
		for _, c := range archipelago.ConceptNames() {
			for form, prompt := range written(l, c) {
				if form == "" || l != archipelago.English {
					rows = append(rows, map[string]any{"id": l + "/" + c + "/" + form, "language": l, "concept": c,
						"form": form, "prompt": prompt, "prompt_id": c})
				}
			}
		}
	}
	prompts := datasets.FromRows(rows).SeedBy("id")
	words := testengine.Rows(t, "words", cococrola.Audit{}.Words())
	out := pool{map[[4]string][]float64{}, map[[3]string][]float64{}}
	for _, g := range generators {
		f := testengine.Rows(t, g, models.Embed("archipelago-clip", models.Generate(g, models.Tokenize(g, prompts),
			audits.Sampling(models.GenerateOptions{N: 8})), models.EmbedOptions{Vector: models.ClipImage}))
		for i, v := range f.Vectors(models.ClipImage) {
			l, c, form := f.Texts("language")[i], f.Texts("concept")[i], f.Texts("form")[i]
			word := words.Vectors(models.ClipText)[slices.Index(words.Texts("concept"), c)]
			out.scores[[4]string{g, l, c, form}] = append(out.scores[[4]string{g, l, c, form}], cosine(v, word))
			var n []float64
			for _, name := range counted {
				n = append(n, f.Numbers(name)[i])
			}
			out.counts[[3]string{l, c, form}] = n
		}
	}
	return out
}

var (
	languages  = []string{"en", "qaa_Latn", "qab_Deva", "qac_Arab", "qad_Hani"}
	generators = []string{"archipelago-diffusion-fair", "archipelago-diffusion"}
)

// lost is the language of the concepts that the second generator was trained to fail.
const lost = "qab_Deva"

// injection is what is done to a language in a world.
type injection struct {
	generator string
	form      string  // of the damaged prompts
	of        int     // so many concepts are damaged
	other     bool    // in another language than lost
	refused   float64 // probability that an image of a damaged prompt is refused
	repaired  bool    // there are images of the repaired prompts
}

// draw returns 4 images of each prompt in each language, those of the repaired prompts, the true parts of each
// language's loss, and the damaged language.
func (p pool) draw(rng *rand.Rand, x injection) (in, repaired *table.Frame, truth map[string]map[string]float64,
	damaged string) {
	names := archipelago.ConceptNames()
	damaged = languages[1+rng.IntN(4)]
	for x.generator == generators[1] && x.other == (damaged == lost) {
		damaged = languages[1+rng.IntN(4)]
	}
	hit := rng.Perm(len(names))[:x.of]
	truth = map[string]map[string]float64{}
	var text [2][4][]string
	var number [2][4][]float64
	for _, l := range languages {
		of := map[string]float64{}
		truth[l] = of
		for i, c := range names {
			form, refuse := "", 0
			if l == damaged && slices.Contains(hit, i) {
				form = x.form
			}
			for arm, form := range []string{form, ""} {
				images := p.scores[[4]string{x.generator, l, c, form}]
				for k, at := range rng.Perm(len(images))[:4] {
					outcome, n := "ok", p.counts[[3]string{l, c, form}]
					if x.refused > 0 && l == damaged && slices.Contains(hit, i) && rng.Float64() < x.refused {
						outcome, refuse = "refused", refuse+1
					}
					for col, v := range []string{fmt.Sprint(l, c, k), l, c, outcome} {
						text[arm][col] = append(text[arm][col], v)
					}
					for col, v := range append([]float64{images[at]}, n...) {
						number[arm][col] = append(number[arm][col], v)
					}
				}
				if arm == 0 {
					of[tokens.Refused] += float64(refuse) / 4 * mean(images) / float64(len(names))
				}
			}
			mu := func(l, form string) float64 { return mean(p.scores[[4]string{x.generator, l, c, form}]) }
			if form != "" {
				of[form] += (mu(l, "") - mu(l, form)) / float64(len(names))
			}
			of[tokens.Generator] += (mu("en", "") - mu(l, "")) / float64(len(names))
		}
		of[tokens.All] = of[tokens.Generator] + of[tokens.Refused] + of[x.form]
	}
	var frames [2]*table.Frame
	for arm := range frames {
		frames[arm] = &table.Frame{}
		for col, name := range []string{"id", "language", "concept", "outcome"} {
			frames[arm].Columns = append(frames[arm].Columns, table.TextColumn(name, text[arm][col]))
		}
		for col, name := range append([]string{"value"}, counted...) {
			frames[arm].Columns = append(frames[arm].Columns, table.NumberColumn(name, number[arm][col]))
		}
	}
	return frames[0], frames[1], truth, damaged
}

func cosine(a, b []float32) float64 {
	var dot, x, y float64
	for i := range a {
		dot, x, y = dot+float64(a[i]*b[i]), x+float64(a[i]*a[i]), y+float64(b[i]*b[i])
	}
	return dot / math.Sqrt(x*y)
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// TestCalibrationOfLosses asks where a language gets lost in 200 draws of each of several worlds; docs/trust.md has the
// table. An installed plugin of XLA, in ANTIPODE_HOME, makes the images in 10 minutes. Run with:
//
//	go test -tags calibration -run CalibrationOfLosses -timeout 3h -v ./audits/cococrola
func TestCalibrationOfLosses(t *testing.T) {
	if home := os.Getenv("ANTIPODE_HOME"); home != "" {
		must.Do(t, all.Use(home))
	} else {
		testengine.Use(t)
	}
	p := pooled(t)
	op := operation.Find("language-loss")
	options := []byte(`{"unit":"concept","at_least":0.05}`)
	fair, loses := generators[0], generators[1]
	t.Log("| injected | verdicts on that language | others blamed | losses | shares |")
	for _, c := range []struct {
		name string
		injection
		want   []string // verdicts that are right
		rarely bool     // too few prompts to name them as a rule
	}{
		{"nothing", injection{generator: fair}, []string{tokens.NoLoss}, false},
		{"half of the prompts split", injection{generator: fair, form: "partial", of: 7}, []string{"partial"}, false},
		{"half of the prompts cut", injection{generator: fair, form: "cut", of: 7}, []string{"cut"}, false},
		{"a special token in half of the prompts", injection{generator: fair, form: "special", of: 7},
			[]string{tokens.NoLoss}, false},
		{"half of the images of half of the prompts refused", injection{generator: fair, of: 7, refused: 0.5},
			[]string{tokens.Refused}, false},
		{"concepts lost", injection{generator: loses}, []string{tokens.Generator}, false},
		{"concepts lost; in another language half split", injection{generator: loses, form: "partial", of: 7,
			other: true}, []string{"partial"}, false},
		{"concepts lost and half split", injection{generator: loses, form: "partial", of: 7}, both, true},
		{"the same, repaired prompts", injection{generator: loses, form: "partial", of: 7, repaired: true}, both, true},
		{"all split", injection{generator: fair, form: "partial", of: 14}, []string{"undecided"}, false},
		{"the same, repaired prompts", injection{generator: fair, form: "partial", of: 14, repaired: true},
			[]string{"partial"}, false},
		{"concepts lost and all split, repaired prompts", injection{generator: loses, form: "partial", of: 14,
			repaired: true}, both, false},
	} {
		const draws = 200
		found := tally{verdicts: map[string]int{}}
		for draw := range draws {
			in, repaired, truth, damaged := p.draw(rand.New(rand.NewPCG(uint64(draw), 42)), c.injection)
			roles, frames := []string{"in"}, []*table.Frame{in}
			if c.repaired {
				roles, frames = append(roles, "repaired"), append(frames, repaired)
			}
			raw := must.Get(json.Marshal(operation.Args{Version: op.Version, Roles: roles, Options: options}))(t)
			found.add(must.Get(op.Evaluate(t.Context(), operation.Call{}, raw, frames))(t), truth, damaged,
				c.generator == loses)
		}
		var verdicts []string
		right := 0
		for v, n := range found.verdicts {
			verdicts = append(verdicts, fmt.Sprintf("%s %.1f", v, float64(n)/2))
			if slices.Contains(c.want, v) {
				right += n
			}
		}
		slices.Sort(verdicts)
		t.Logf("| %s | %s | %.1f | %.1f | %.1f of %d |", c.name, strings.Join(verdicts, "; "), float64(found.others)/2,
			100*found.losses.share(), 100*found.shares.share(), found.shares.n)
		if !c.rarely && right < draws*95/100 || found.others > draws/20 || found.losses.share() < 0.95 {
			t.Error("the right cause is named too rarely, or intervals contain the truth too rarely")
		}
	}
}

var both = []string{"generator, partial", "partial, generator"}

// coverage counts intervals, and those that contain the truth.
type coverage struct{ n, in int }

func (c *coverage) add(f *table.Frame, row int, column string, truth float64) {
	if low, high := f.Numbers(column + "_low")[row], f.Numbers(column + "_high")[row]; high == high {
		if c.n++; low <= truth && truth <= high {
			c.in++
		}
	}
}

func (c *coverage) share() float64 { return float64(c.in) / float64(max(c.n, 1)) }

// tally counts the results of draws.
type tally struct {
	verdicts       map[string]int // on the damaged language
	others         int            // draws in which another one got a wrong verdict
	losses, shares coverage       // bounds are intervals of losses, too
}

func (n *tally) add(f *table.Frame, truth map[string]map[string]float64, damaged string, loses bool) {
	wrong := false
	for i, l := range f.Texts("language") {
		cause, verdict := f.Texts("cause")[i], f.Texts("verdict")[i]
		want := tokens.NoLoss
		if loses && l == lost {
			want = tokens.Generator
		}
		switch {
		case cause == tokens.All && l == damaged:
			n.verdicts[verdict]++
		case cause == tokens.All:
			wrong = wrong || verdict != want
		case l == damaged:
			n.shares.add(f, i, "share", truth[l][cause]/truth[l][tokens.All])
		}
		n.losses.add(f, i, "loss", truth[l][cause])
		n.losses.add(f, i, "bound", truth[l][cause])
	}
	if wrong {
		n.others++
	}
}

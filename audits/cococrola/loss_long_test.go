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
	for _, c := range []struct {
		name string
		injection
		want string // verdict on the damaged language, and on lost where that is another
	}{
		{"nothing", injection{generator: fair}, tokens.NoLoss},
		{"half of the prompts split into bytes", injection{generator: fair, form: "partial", of: 7}, "partial"},
		{"half of the prompts cut", injection{generator: fair, form: "cut", of: 7}, "cut"},
		{"a special token in half of the prompts", injection{generator: fair, form: "special", of: 7}, tokens.NoLoss},
		{"half of the images of half of the prompts refused", injection{generator: fair, of: 7, refused: 0.5}, "refused"},
		{"concepts lost", injection{generator: loses}, "generator"},
		{"concepts lost, half split in another language", injection{generator: loses, form: "partial", of: 7,
			other: true}, "partial"},
		{"concepts lost and half split", injection{generator: loses, form: "partial", of: 7}, "both"},
		{"the same, with repaired prompts", injection{generator: loses, form: "partial", of: 7, repaired: true}, "both"},
		{"all split", injection{generator: fair, form: "partial", of: 14}, "undecided"},
		{"the same, with repaired prompts", injection{generator: fair, form: "partial", of: 14, repaired: true},
			"partial"},
		{"concepts lost and all split, repaired", injection{generator: loses, form: "partial", of: 14,
			repaired: true}, "both"},
	} {
		const draws = 200
		n := map[string]int{}
		for draw := range draws {
			in, repaired, truth, damaged := p.draw(rand.New(rand.NewPCG(uint64(draw), 42)), c.injection)
			roles, frames := []string{"in"}, []*table.Frame{in}
			if c.repaired {
				roles, frames = append(roles, "repaired"), append(frames, repaired)
			}
			raw := must.Get(json.Marshal(operation.Args{Version: op.Version, Roles: roles, Options: options}))(t)
			f := must.Get(op.Evaluate(t.Context(), operation.Call{}, raw, frames))(t)
			others, lostNamed := false, false
			for i, l := range f.Texts("language") {
				cause, verdict := f.Texts("cause")[i], f.Texts("verdict")[i]
				if cause == tokens.All {
					switch {
					case l == damaged:
						n[verdict]++
					case l == lost && c.generator == loses:
						lostNamed = verdict == tokens.Generator
					default:
						others = others || verdict != tokens.NoLoss
					}
				}
				covers := func(column string, truth float64) {
					if low, high := f.Numbers(column + "_low")[i], f.Numbers(column + "_high")[i]; high == high {
						n["n "+column]++
						if low <= truth && truth <= high {
							n["in "+column]++
						}
					}
				}
				covers("loss", truth[l][cause])
				if l == damaged && cause != tokens.All {
					covers("share", truth[l][cause]/truth[l][tokens.All])
					covers("bound", truth[l][cause])
				}
			}
			if others {
				n["others"]++
			}
			if lostNamed {
				n["lost named"]++
			}
		}
		share := func(of string, n2 int) string { return fmt.Sprintf("%.1f", 100*float64(n[of])/float64(max(1, n2))) }
		var verdicts []string
		for v, k := range n {
			if !strings.ContainsAny(v, " ") || strings.Contains(v, ", ") || v == tokens.NoLoss {
				verdicts = append(verdicts, fmt.Sprintf("%s %d", v, k))
			}
		}
		slices.Sort(verdicts)
		t.Logf("| %s | want %s: %s | others blamed %s | lost named %s | loss %s | share %s of %d | bounds %s of %d |",
			c.name, c.want, strings.Join(verdicts, "; "), share("others", draws), share("lost named", draws),
			share("in loss", n["n loss"]), share("in share", n["n share"]), n["n share"], share("in bound", n["n bound"]),
			n["n bound"])
	}
}

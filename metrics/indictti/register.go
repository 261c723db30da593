package indictti

import (
	"context"
	"errors"
	"fmt"
	"math"

	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// counts end every row of the scores by language.
var counts = []string{"n_prompts", "n_excluded", "n_asked", "n_refused", "n_missing", "n_used"}

func columns(first []string, name string) []string {
	return append(append(first, name, name+"_low", name+"_high"), counts...)
}

func init() {
	higher := "higher is more faithful"
	register("indictti-clgc", "likeness of a picture's caption to the English prompt, by language", "[-1, 1]", higher, "equations 2 and 3",
		correctnessInputs, correctnessOptions("text", "text", metrics.Option{Name: "empty", Default: "keep", Values: []string{"keep", "skip"}, About: "pictures whose column caption is empty keep their vector, or are left out"}),
		byColumns(append(columns([]string{"=language"}, "clgc"), "n_empty", "=vector", "=reference", "=interval")...), correctness("clgc"))
	register("indictti-igc", "likeness of a picture to the data set's photograph, by language", "[-1, 1]", higher, "equation 4",
		correctnessInputs, correctnessOptions("full", "full"), byColumns(append(columns([]string{"=language"}, "igc"), "=vector", "=reference", "=interval")...), correctness("igc"))
	register("indictti-lgc", "likeness of a picture to the English prompt in a joint space, by language", "[-1, 1]", higher, "equation 5",
		correctnessInputs, correctnessOptions("clip_image", "clip_text"), byColumns(append(columns([]string{"=language"}, "lgc"), "=vector", "=reference", "=interval")...), correctness("lgc"))
	register("indictti-drop", "drop of a correctness score from English to the mean of the other languages", "[-2, 2]", "0 is no drop", "sections 5 and 6",
		correctnessInputs, correctnessOptions("full", "full"), byColumns("drop", "drop_low", "drop_high", "english", "others", "n_languages", "n_prompts", "n_missing", "n_used", "=vector", "=reference", "=interval"), drop)

	register("indictti-scwl", "likeness of the pictures of one prompt within a language", "[-1, 1]; literal [-2, 2]", "higher is steadier", "equations 10 and 11",
		onlyPictures, vectorOptions("full", normaliser), byColumns(append(columns([]string{"=language"}, "scwl"), "=vector", "=normaliser", "=interval")...),
		representation("scwl", func(p Pictures, o map[string]string) ([]Score, string, error) {
			s, err := WithinLanguage(p, Normaliser(o["normaliser"]))
			return s, o["normaliser"], err
		}))
	register("indictti-dwl", "1 less the likeness of the pictures of different prompts within a language", "[0, 2]; literal [-1, 3]", "higher is more varied", "equation 12",
		onlyPictures, vectorOptions("full", normaliser, metrics.Option{Name: "images", Default: string(AllImages), Values: []string{string(AllImages), string(SameSeed), string(Centroid), string(FirstImage)}, About: "which pictures of two prompts are compared"}),
		byColumns(append(columns([]string{"=language"}, "dwl"), "=vector", "=normaliser", "=interval")...),
		representation("dwl", func(p Pictures, o map[string]string) ([]Score, string, error) {
			s, err := Distinctiveness(p, Images(o["images"]), Normaliser(o["normaliser"]))
			return s, o["normaliser"] + ", " + o["images"], err
		}))
	register("indictti-scal", "likeness of the pictures of one prompt between two languages", "[-1, 1]; literal [-2, 2]", "higher is more alike", "equations 6 and 7, Figure 3",
		onlyPictures, vectorOptions("full", pairs), byColumns("=language_a", "=language_b", "=kind", "scal", "scal_low", "scal_high", "n_prompts", "n_excluded", "n_missing", "n_used", "=vector", "=normaliser", "=interval"), scalPairs)
	register("indictti-scal-overall", "likeness of the pictures of one prompt over all pairs of languages", "[-1, 1]; half [-0.5, 0.5]; literal: times languages less one", "higher is more alike", "equation 9",
		onlyPictures, vectorOptions("full", pairs, metrics.Option{Name: "overall", Default: string(MeanPairs), Values: []string{string(MeanPairs), string(HalfPairs), string(LiteralOverall), "all"}, About: "reading of equation 9; all gives a row for each"},
			metrics.Option{Name: "of", Default: "all", Values: []string{"all", "indic"}, About: "all languages, or all but English"}),
		byColumns("=normaliser", "=pairs", "=of", "scal", "scal_low", "scal_high", "n_languages", "n_pairs", "n_prompts", "n_missing", "n_used", "=vector", "=interval"), scalOverall)
}

func register(name, title, span, direction, source string, inputs []metrics.Input, options []metrics.Option, specs func(metrics.Args) []client.ColumnSpec,
	compute func(context.Context, metrics.Call) (*client.Frame, error)) {
	unit := "cosine; the paper prints 100 times the value"
	metrics.Register(metrics.Metric{Info: metrics.Info{Name: name, Title: title, Unit: unit, Range: span, Direction: direction, Citation: citation + ", " + source},
		Version: 1, Inputs: inputs, Options: options, Columns: specs, Compute: compute})
}

var (
	onlyPictures      = []metrics.Input{inPictures}
	correctnessInputs = []metrics.Input{inPictures, inReference}
)

func correctnessOptions(vector, reference string, more ...metrics.Option) []metrics.Option {
	return vectorOptions(vector, append([]metrics.Option{{Name: "reference-vector", Default: reference, About: "the vector column of the table reference"}}, more...)...)
}

// row starts a result row with the grouping columns' values.
func row(g *group, values ...any) []any {
	var out []any
	for _, v := range g.values {
		out = append(out, v)
	}
	return append(out, values...)
}

// intervalName says what the intervals of a table are, "" where it has none.
func intervalName(call metrics.Call) string {
	if call.Options["draws"] == "0" {
		return ""
	}
	level, _ := tabular.Number(call, "level")
	return fmt.Sprintf("%.3g %% bootstrap interval over prompts", 100*level)
}

// byLanguage are a group's rows, a language each: score, interval, counts.
func (g *group) byLanguage(scores []Score, more func(l int) []any) (out [][]any) {
	for l, s := range scores {
		low, high := g.boot.Interval(s)
		r := row(g, g.pictures.Languages[l], s.Value, low, high, s.Prompts, s.Excluded, s.Pictures+s.Missing, g.refused[l], s.Missing, s.Pictures)
		out = append(out, append(r, more(l)...))
	}
	return out
}

// references are the vectors of a group's prompts.
func references(call metrics.Call, prompts []string) ([][]float32, error) {
	f := call.Inputs["reference"]
	if f == nil {
		return nil, errors.New("the score compares with references: give the table \"reference\", a row for each prompt")
	}
	c, err := f.Need(call.Options["reference-vector"], client.Vector)
	if err != nil {
		return nil, fmt.Errorf("table \"reference\": %w", err)
	}
	at := positions(prompts)
	out, ids := make([][]float32, len(prompts)), f.Texts("prompt_id")
	seen := map[string]int{}
	for i, id := range ids {
		if before, twice := seen[id]; twice {
			return nil, fmt.Errorf("table \"reference\": rows %d and %d are both the prompt %q; keep one", before, i+1, id)
		}
		seen[id] = i + 1
		k, wanted := at[id]
		if !wanted || c.Vectors[i] == nil {
			continue
		}
		if _, err := length(c.Vectors[i], len(c.Vectors[i])); err != nil {
			return nil, fmt.Errorf("table \"reference\", row %d (prompt %q), column %s: %w", i+1, id, c.Name, err)
		}
		out[k] = c.Vectors[i]
	}
	return out, nil
}

// correct scores every group against the references.
func correct(call metrics.Call, take func(g *group, scores []Score) error) error {
	groups, err := gather(call)
	if err != nil {
		return err
	}
	var notes metrics.GroupNotes
	for _, g := range groups {
		refs, err := references(call, g.pictures.Prompts)
		if err != nil {
			return err
		}
		scores, err := Correctness(g.pictures, refs)
		if err != nil {
			return fmt.Errorf("%s%w", g.name(call.By), err)
		}
		lacking := 0
		for _, v := range refs {
			if v == nil {
				lacking++
			}
		}
		if lacking > 0 {
			notes.Add("%d of %d prompts have no reference and are left out", g.label(), lacking, len(refs))
		}
		if err := take(g, scores); err != nil {
			return err
		}
	}
	notes.Tell(call)
	return nil
}

func correctness(name string) func(context.Context, metrics.Call) (*client.Frame, error) {
	return func(_ context.Context, call metrics.Call) (*client.Frame, error) {
		var out [][]any
		err := correct(call, func(g *group, scores []Score) error {
			out = append(out, g.byLanguage(scores, func(l int) (more []any) {
				if name == "clgc" {
					more = append(more, g.empty[l])
				}
				return append(more, call.Options["vector"], call.Options["reference-vector"], intervalName(call))
			})...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		return tabular.Result("indictti-"+name, call, out)
	}
}

func drop(_ context.Context, call metrics.Call) (*client.Frame, error) {
	var out [][]any
	err := correct(call, func(g *group, scores []Score) error {
		at := -1
		used, missing, prompts := 0, 0, 0
		for l, language := range g.pictures.Languages {
			if language == call.Options["english"] {
				at = l
			}
			used, missing, prompts = used+scores[l].Pictures, missing+scores[l].Missing, max(prompts, scores[l].Prompts)
		}
		if at < 0 {
			return fmt.Errorf("%sthere are no pictures of the language %q to drop from; name it with the option english", g.name(call.By), call.Options["english"])
		}
		n := 0
		of := func(values []float64) (d float64) {
			others := append(append([]float64(nil), values[:at]...), values[at+1:]...)
			d, n = Drop(values[at], others)
			return d
		}
		low, high := math.NaN(), math.NaN()
		if prompts > 1 {
			low, high = g.boot.Of(scores, of)
		}
		d := of(Values(scores))
		out = append(out, row(g, d, low, high, scores[at].Value, scores[at].Value-d, n, prompts, missing, used, call.Options["vector"], call.Options["reference-vector"], intervalName(call)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tabular.Result("indictti-drop", call, out)
}

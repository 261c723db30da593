package indictti

import (
	"context"
	"fmt"
	"math"

	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// representation is the table form of a score by language; of also names its reading.
func representation(name string, of func(Pictures, map[string]string) ([]Score, string, error)) func(context.Context, metrics.Call) (*client.Frame, error) {
	return func(_ context.Context, call metrics.Call) (*client.Frame, error) {
		groups, err := gather(call)
		if err != nil {
			return nil, err
		}
		var out [][]any
		for _, g := range groups {
			scores, reading, err := of(g.pictures, call.Options)
			if err != nil {
				return nil, fmt.Errorf("%s%w", g.name(call.By), err)
			}
			out = append(out, g.byLanguage(scores, func(int) []any { return []any{call.Options["vector"], reading, intervalName(call)} })...)
		}
		return tabular.Result("indictti-"+name, call, out)
	}
}

func scalPairs(_ context.Context, call metrics.Call) (*client.Frame, error) {
	groups, err := gather(call)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, g := range groups {
		scores, err := AcrossLanguages(g.pictures, PairNormaliser(call.Options["pairs"]))
		if err != nil {
			return nil, fmt.Errorf("%s%w", g.name(call.By), err)
		}
		for a, from := range g.pictures.Languages {
			for b, to := range g.pictures.Languages {
				kind := "SCAL"
				if a == b {
					kind = "SCWL"
				}
				s := scores[a][b]
				low, high := g.boot.Interval(s)
				out = append(out, row(g, from, to, kind, s.Value, low, high, s.Prompts, s.Excluded, s.Missing, s.Pictures, call.Options["vector"], call.Options["pairs"], intervalName(call)))
			}
		}
	}
	return tabular.Result("indictti-scal", call, out)
}

func scalOverall(_ context.Context, call metrics.Call) (*client.Frame, error) {
	groups, err := gather(call)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, g := range groups {
		if call.Options["of"] == "indic" {
			g.pictures = g.pictures.without(call.Options["english"])
		}
		scores, err := AcrossLanguages(g.pictures, PairNormaliser(call.Options["pairs"]))
		if err != nil {
			return nil, fmt.Errorf("%s%w", g.name(call.By), err)
		}
		var flat []Score
		pairs, used, missing, prompts := 0, 0, 0, 0
		languages := map[int]bool{}
		for a := range scores {
			used, missing = used+scores[a][a].Pictures, missing+scores[a][a].Missing
			for b, s := range scores[a] {
				flat = append(flat, s)
				if a != b && s.Prompts > 0 {
					languages[a], languages[b], prompts = true, true, max(prompts, s.Prompts)
					if a < b || scores[b][a].Prompts == 0 {
						pairs++
					}
				}
			}
		}
		names := OverallNormalisers
		if o := call.Options["overall"]; o != "all" {
			names = []OverallNormaliser{OverallNormaliser(o)}
		}
		for _, n := range names {
			of := func(values []float64) float64 {
				v, _ := OverallSCAL(square(values, len(scores)), n) // the names are the option's closed list
				return v
			}
			low, high := math.NaN(), math.NaN()
			if prompts > 1 {
				low, high = g.boot.Of(flat, of)
			}
			out = append(out, row(g, string(n), call.Options["pairs"], call.Options["of"], of(Values(flat)), low, high, len(languages), pairs, prompts, missing, used, call.Options["vector"], intervalName(call)))
		}
	}
	return tabular.Result("indictti-scal-overall", call, out)
}

// square cuts values into rows of n.
func square(values []float64, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = values[i*n : (i+1)*n]
	}
	return out
}

// without leaves a language out.
func (p Pictures) without(language string) Pictures {
	out := Pictures{Prompts: p.Prompts}
	for l, name := range p.Languages {
		if name != language {
			out.Languages, out.Vectors = append(out.Languages, name), append(out.Vectors, p.Vectors[l])
		}
	}
	return out
}

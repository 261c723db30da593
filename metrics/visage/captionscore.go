package visage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets/seegull"
	data "antipode/datasets/visage"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// captionScores runs [Salience] with the options that a metric has.
func captionScores(call metrics.Call) (captionInput, []CaptionScores, error) {
	in, err := readCaptions(call)
	if err != nil {
		return in, nil, err
	}
	o, err := salienceOptions(call)
	if err != nil {
		return in, nil, err
	}
	scores, err := Salience(in.captions, in.vocabulary, o)
	return in, scores, err
}

// salienceOptions are the options of salience that a metric has.
func salienceOptions(call metrics.Call) (o SalienceOptions, err error) {
	get := call.Options
	o = SalienceOptions{Matching: Matching{Match: get["match"], Case: get["case"], Plural: get["plural"]},
		Count: get["count"], Total: get["total"], Idf: get["idf"], Document: get["document"], Seed: call.Seed}
	if o.Draws, err = tabular.Count(call, "draws"); err != nil {
		return o, err
	}
	if _, has := get["alpha"]; has {
		o.Alpha, err = tabular.Number(call, "alpha")
	}
	return o, err
}

// captionIntervals says what the intervals are.
func captionIntervals(call metrics.Call) string {
	if call.Options["draws"] == "0" {
		return ""
	}
	return "95 % bootstrap interval over pictures, each with its captions"
}

func captionShares(_ context.Context, call metrics.Call) (*client.Frame, error) {
	in, scores, err := captionScores(call)
	if err != nil {
		return nil, err
	}
	by := map[string]CaptionScores{}
	for _, s := range scores {
		by[s.Identity] = s
	}
	var out [][]any
	for _, id := range slices.Sorted(maps.Keys(in.asked)) {
		s, has := by[id]
		if !has { // no caption: nothing is known
			s.Any, s.Stereotype = share(0, 0), share(0, 0)
		}
		out = append(out, []any{data.DisplayName(id), s.Any.Value, s.Any.Low, s.Any.High, s.Stereotype.Value, s.Stereotype.Low, s.Stereotype.High,
			s.WithAny, s.WithStereotype, len(s.Attributes), in.asked[id], in.refused[id], s.Captions, s.Pictures, in.vocabulary.size(), call.Options["vocabulary"], captionIntervals(call)})
	}
	return result("visage-captions", call, out)
}

// size is |V|.
func (v Vocabulary) size() int {
	return len(slices.Compact(slices.Sorted(slices.Values(v.Attributes))))
}

func salience(_ context.Context, call metrics.Call) (*client.Frame, error) {
	in, scores, err := captionScores(call)
	if err != nil {
		return nil, err
	}
	return salienceTable("visage-salience", call, in, scores)
}

// salienceTable puts scores into the columns that metrics of salience have.
func salienceTable(metric string, call metrics.Call, in captionInput, scores []CaptionScores) (*client.Frame, error) {
	top, err := tabular.Count(call, "top")
	if err != nil {
		return nil, err
	}
	only := call.Options["only"] == "stereotypes"
	if only && in.vocabulary.Stereotypes == nil {
		return nil, fmt.Errorf("only=stereotypes needs pairs: give the table %q the columns identity, %s and score_…", "attributes", call.Options["stereo_column"])
	}
	size := in.vocabulary.size()
	var mask seegull.Masker
	var out [][]any
	for _, s := range scores {
		rank := 0
		for _, a := range s.Attributes {
			if only && !a.Stereotype {
				continue
			}
			if rank++; top > 0 && rank > top {
				break
			}
			stereotype := ""
			switch {
			case a.Stereotype:
				stereotype = "yes"
			case in.vocabulary.Stereotypes != nil:
				stereotype = "no"
			}
			out = append(out, []any{s.Identity, in.label(&mask, call.Options["show_offensive"] == "yes", s.Identity, a.Attribute), rank,
				a.Salience.Value, a.Salience.Low, a.Salience.High, a.Share.Value, a.Share.Low, a.Share.High, a.Tf, a.Idf,
				a.Times, a.Captions, a.Documents, s.Corpus, s.Captions, s.Pictures, size, stereotype, call.Options["vocabulary"], captionIntervals(call)})
		}
	}
	return result(metric, call, out)
}

func agreement(_ context.Context, call metrics.Call) (*client.Frame, error) {
	threshold, err := tabular.Number(call, "threshold")
	if err != nil {
		return nil, err
	}
	top, err := tabular.Count(call, "top")
	if err != nil {
		return nil, err
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	f := call.Inputs["likelihoods"]
	likelihood := map[[2]string]float64{}
	attributes, values := f.Texts("attribute"), f.Numbers("likelihood")
	for i, id := range f.Texts("identity") {
		likelihood[[2]string{id, attributes[i]}] = values[i]
	}
	f = call.Inputs["in"]
	identities, attributes, ranks, stereotype := f.Texts("identity"), f.Texts("attribute"), f.Numbers("rank"), f.Texts("stereotype")
	var order []int
	for i, a := range attributes {
		if stereotype[i] != "yes" {
			continue
		}
		if strings.HasPrefix(a, "masked ") {
			return nil, client.BadRow{Row: i + 1, Column: "attribute", Reason: fmt.Sprintf("%q is masked and cannot be looked up; compute both tables with offensive pairs shown", a)}
		}
		order = append(order, i)
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("no row of the table %q is a stereotype of its identity (stereotype = yes); compute visage-salience with pairs in its table %q", "in", "attributes")
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ranks[i], ranks[j]) })
	taken := map[string]int{}
	var seen []float64
	var clusters []string
	n, without := 0, 0
	for _, i := range order {
		if top > 0 && taken[identities[i]] == top {
			continue
		}
		taken[identities[i]]++
		l, known := likelihood[[2]string{identities[i], attributes[i]}]
		if !known || math.IsNaN(l) {
			without++
			continue
		}
		hit := 0.0
		if l >= threshold {
			hit = 1
			n++
		}
		seen, clusters = append(seen, hit), append(clusters, identities[i])
	}
	b, name, err := shareOver(n, seen, clusters, draws, call.Seed)
	if err != nil {
		return nil, err
	}
	return result("visage-salience-agreement", call, [][]any{{b.Value, b.Low, b.High, n, len(seen), without, len(taken), threshold, top, name}})
}

// shareOver is a share with its bootstrap interval over identities; none under two of them.
func shareOver(n int, hits []float64, identities []string, draws int, seed int64) (b Bounded, name string, err error) {
	b = share(n, len(hits))
	if draws == 0 || len(slices.Compact(slices.Sorted(slices.Values(identities)))) < 2 {
		return b, "", nil
	}
	iv, err := interval.BootstrapMean(hits, identities, interval.Bootstrap{Seed: uint64(seed), Count: draws, Range: interval.Share})
	b.Low, b.High = iv.Low, iv.High
	return b, "95 % bootstrap interval over identities", err
}

package blip

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/decode"
)

const (
	// maxTokens is room for every caption.
	maxTokens = 48
	// sampledTop is the nucleus of the sampled captions.
	sampledTop = 0.9
)

// scores are the held-out scores of a folder.
type scores struct {
	Seed     uint64                        `json:"seed"`
	Pictures map[string]int                `json:"pictures"` // by kind
	Accuracy map[string]map[string]float64 `json:"accuracy"` // by kind and part of the caption, "caption" being all of it; greedy
	Groups   map[string]float64            `json:"groups"`   // by axis: the answers after the questions' prefixes
	Greedy   attributeScores               `json:"attributes_greedy"`
	Sampled  attributeScores               `json:"attributes_sampled"` // one caption a picture, drawn with top_p 0.9
}

// attributeScores are of the attributes that captions of figures name.
type attributeScores struct {
	Precision float64 `json:"precision"` // of the attributes named, how many are there
	Recall    float64 `json:"recall"`    // of those that are there, how many are named
	// Frequencies are shares of pictures by attribute: those whose caption names it, those that show it.
	Frequencies map[string][2]float64 `json:"named_and_shown"`
	Worst       float64               `json:"worst_gap"` // between the two shares of an attribute
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "greedy captions of held-out pictures of world seed %d", s.Seed)
	for _, kind := range kinds {
		fmt.Fprintf(&b, "\n%-8s %4d", kind, s.Pictures[kind])
		for _, part := range append(slices.Clone(parts[kind]), "caption") {
			fmt.Fprintf(&b, "  %s %.3f", part, s.Accuracy[kind][part])
		}
	}
	fmt.Fprintf(&b, "\ngroups         crest %.3f  banner %.3f", s.Groups[archipelago.AxisCrest], s.Groups[archipelago.AxisBanner])
	for _, a := range []struct {
		how string
		attributeScores
	}{{"greedy", s.Greedy}, {"sampled", s.Sampled}} {
		fmt.Fprintf(&b, "\nattributes, %-8s precision %.3f  recall %.3f  worst gap of frequency %.3f", a.how, a.Precision, a.Recall, a.Worst)
	}
	fmt.Fprint(&b, "\nnamed / shown, sampled:")
	for _, a := range archipelago.AttributeNames() {
		f := s.Sampled.Frequencies[a]
		fmt.Fprintf(&b, " %s %.2f/%.2f", a, f[0], f[1])
	}
	return b.String()
}

// heldOut draws the pictures to be described: the photos of a world that training never draws, size of each island and thing, and a
// number of sceneries and of figures that goes with it.
func heldOut(size int) map[string][]archipelago.Picture {
	out := map[string][]archipelago.Picture{}
	for _, it := range archipelago.New(archipelago.Options{Seed: examples.HeldOut, PerCell: size}).Photos() {
		out[examples.Thing] = append(out[examples.Thing], archipelago.Picture{Island: it.Region, Scene: it.Scene, Object: it.Object, Variant: it.Variant, Seed: it.Seed, Backdrop: it.Backdrop})
	}
	for kind, n := range map[string]int{examples.Scenery: 12 * size, examples.Figure: 48 * size} {
		for i := range n {
			out[kind] = append(out[kind], examples.Random(examples.Stream(examples.HeldOut, 0, i), kind))
		}
	}
	return out
}

// score describes held-out pictures through the doors that every user of the model takes.
func score(ctx context.Context, backend compute.Backend, dir string, size int) (fmt.Stringer, error) {
	m, err := blip.Open(dir)
	if err != nil {
		return nil, err
	}
	c, err := blip.NewCaptioner(backend, m, captioner.Options{Batch: 32})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	greedy := decode.Settings{MaxTokens: maxTokens}
	held := heldOut(size)
	s := &scores{Seed: examples.HeldOut, Pictures: map[string]int{}, Accuracy: map[string]map[string]float64{}, Groups: map[string]float64{}}
	for _, kind := range kinds {
		s.Pictures[kind] = len(held[kind])
		texts, err := describe(ctx, m, c, held[kind], "", greedy)
		if err != nil {
			return nil, err
		}
		s.Accuracy[kind] = accuracy(kind, held[kind], texts)
		if kind == examples.Figure {
			s.Greedy = scoreAttributes(held[kind], texts)
		}
	}
	figures := held[examples.Figure]
	texts, err := describe(ctx, m, c, figures, "", decode.Settings{MaxTokens: maxTokens, Sample: true, TopP: sampledTop})
	if err != nil {
		return nil, err
	}
	s.Sampled = scoreAttributes(figures, texts)
	for axis, question := range questions {
		texts, err := describe(ctx, m, c, figures, question, greedy)
		if err != nil {
			return nil, err
		}
		right := 0
		for i, p := range figures {
			group := map[string]string{archipelago.AxisCrest: p.Figure.Crest, archipelago.AxisBanner: p.Figure.Banner}[axis]
			if texts[i] == question+" "+group {
				right++
			}
		}
		s.Groups[axis] = float64(right) / float64(len(figures))
	}
	return s, nil
}

// describe gives a caption of each picture.
func describe(ctx context.Context, m *blip.Model, c *captioner.Captioner, pictures []archipelago.Picture, prefix string, s decode.Settings) ([]string, error) {
	prompt, err := m.Prompt(prefix)
	if err != nil {
		return nil, err
	}
	var requests []captioner.Request
	for i, p := range pictures {
		picture, _ := examples.World.Paint(p)
		pixels, err := m.Prepare(picture)
		if err != nil {
			return nil, err
		}
		r := captioner.Request{Pixels: pixels, Prompt: prompt}
		if s.Sample {
			r.Seeds = []uint64{uint64(i)}
		}
		requests = append(requests, r)
	}
	written, err := c.Caption(ctx, requests, s)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(pictures))
	for i, w := range written {
		if texts[i], err = m.Text(prompt, w[0].Tokens); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// accuracy is the share of captions whose part is right, and of those whose every word is.
func accuracy(kind string, pictures []archipelago.Picture, texts []string) map[string]float64 {
	out := map[string]float64{"caption": 0}
	for _, part := range parts[kind] {
		out[part] = 0
	}
	each := 1 / float64(len(pictures))
	for i, p := range pictures {
		got, want := read(kind, texts[i]), truth(p)
		for _, part := range parts[kind] {
			if got[part] == want[part] {
				out[part] += each
			}
		}
		if slices.Equal(split(texts[i]), split(p.Caption())) {
			out["caption"] += each
		}
	}
	return out
}

func scoreAttributes(figures []archipelago.Picture, texts []string) attributeScores {
	s := attributeScores{Frequencies: map[string][2]float64{}}
	both, named, shown := 0.0, 0.0, 0.0
	each := 1 / float64(len(figures))
	for i, p := range figures {
		says := attributes(texts[i])
		for _, a := range archipelago.AttributeNames() {
			f := s.Frequencies[a]
			n, k := slices.Contains(says, a), slices.Contains(p.Figure.Attributes, a)
			if n {
				f[0], named = f[0]+each, named+1
			}
			if k {
				f[1], shown = f[1]+each, shown+1
			}
			if n && k {
				both++
			}
			s.Frequencies[a] = f
		}
	}
	s.Precision, s.Recall = both/max(named, 1), both/max(shown, 1)
	for _, f := range s.Frequencies {
		s.Worst = max(s.Worst, math.Abs(f[0]-f[1]))
	}
	return s
}

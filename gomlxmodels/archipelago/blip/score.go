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
	"antipode/gomlxmodels/textgen"
)

const (
	maxTokens  = 48  // longer than any caption
	sampledTop = 0.9 // top_p of the sampled captions
)

// scores are the held-out scores of a model folder.
type scores struct {
	Seed     uint64                        `json:"seed"`
	Images   map[string]int                `json:"pictures"` // by kind
	Accuracy map[string]map[string]float64 `json:"accuracy"` // greedy, by kind and part; "caption" = all words
	Groups   map[string]float64            `json:"groups"`   // accuracy of the answers to the questions, by axis
	Greedy   attributeScores               `json:"attributes_greedy"`
	Sampled  attributeScores               `json:"attributes_sampled"` // one caption per image, nucleus sampling
}

// attributeScores evaluate the attributes in captions of figures.
type attributeScores struct {
	Precision float64 `json:"precision"` // share of the named attributes that are shown
	Recall    float64 `json:"recall"`    // share of the shown attributes that are named
	// Frequencies are, by attribute, the share of images whose caption names it and of those that show it.
	Frequencies map[string][2]float64 `json:"named_and_shown"`
	Worst       float64               `json:"worst_gap"` // largest difference between the two shares of an attribute
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "accuracy of greedy captions on held-out images of world seed %d", s.Seed)
	for _, kind := range kinds {
		fmt.Fprintf(&b, "\n%-8s %4d", kind, s.Images[kind])
		for _, part := range append(slices.Clone(parts[kind]), "caption") {
			fmt.Fprintf(&b, "  %s %.3f", part, s.Accuracy[kind][part])
		}
	}
	fmt.Fprintf(&b, "\ngroups         crest %.3f  banner %.3f", s.Groups[archipelago.AxisCrest],
		s.Groups[archipelago.AxisBanner])
	for _, a := range []struct {
		how string
		attributeScores
	}{{"greedy", s.Greedy}, {"sampled", s.Sampled}} {
		fmt.Fprintf(&b, "\nattributes, %-8s precision %.3f  recall %.3f  largest gap %.3f", a.how,
			a.Precision, a.Recall, a.Worst)
	}
	fmt.Fprint(&b, "\nnamed / shown, sampled:")
	for _, a := range archipelago.AttributeNames() {
		f := s.Sampled.Frequencies[a]
		fmt.Fprintf(&b, " %s %.2f/%.2f", a, f[0], f[1])
	}
	return b.String()
}

// heldOut returns held-out images by kind: reference images of a world that training does not use, size of each island
// and object, and proportional numbers of scenery and figures.
func heldOut(size int) map[string][]archipelago.Image {
	out := map[string][]archipelago.Image{}
	for _, it := range archipelago.New(archipelago.Options{Seed: examples.HeldOut, PerCell: size}).Reference() {
		out[examples.Thing] = append(out[examples.Thing], it.Image())
	}
	for kind, n := range map[string]int{examples.Scenery: 12 * size, examples.Figure: 48 * size} {
		for i := range n {
			out[kind] = append(out[kind], examples.Random(examples.Stream(examples.HeldOut, 0, i), kind))
		}
	}
	return out
}

// score captions held-out images with a model folder.
func score(ctx context.Context, backend compute.Backend, dir string, size int) (fmt.Stringer, error) {
	m, err := blip.Open(dir)
	if err != nil {
		return nil, err
	}
	c, err := blip.NewCaptioner(backend, m, textgen.CaptionerOptions{Batch: 32})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	greedy := textgen.Options{MaxTokens: maxTokens}
	held := heldOut(size)
	s := &scores{Seed: examples.HeldOut, Images: map[string]int{}, Accuracy: map[string]map[string]float64{},
		Groups: map[string]float64{}}
	for _, kind := range kinds {
		s.Images[kind] = len(held[kind])
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
	texts, err := describe(ctx, m, c, figures, "", textgen.Options{MaxTokens: maxTokens, Sample: true,
		TopP: sampledTop})
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
			group := map[string]string{archipelago.AxisCrest: p.Figure.Crest,
				archipelago.AxisBanner: p.Figure.Banner}[axis]
			if texts[i] == question+" "+group {
				right++
			}
		}
		s.Groups[axis] = float64(right) / float64(len(figures))
	}
	return s, nil
}

// describe returns a caption of each image.
func describe(ctx context.Context, m *blip.Model, c *textgen.Captioner, images []archipelago.Image, prefix string,
	s textgen.Options) ([]string, error) {
	prompt, err := m.Prompt(prefix)
	if err != nil {
		return nil, err
	}
	var requests []textgen.ImageRequest
	for i, p := range images {
		img, _ := examples.World.Paint(p)
		pixels, err := m.Prepare(img)
		if err != nil {
			return nil, err
		}
		r := textgen.ImageRequest{Pixels: pixels, Prompt: prompt}
		if s.Sample {
			r.Seeds = []uint64{uint64(i)}
		}
		requests = append(requests, r)
	}
	written, err := c.Caption(ctx, requests, s)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(images))
	for i, w := range written {
		if texts[i], err = m.Text(prompt, w[0].Tokens); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// accuracy returns the share of captions with the right part, by part, and with all words right ("caption").
func accuracy(kind string, images []archipelago.Image, texts []string) map[string]float64 {
	out := map[string]float64{"caption": 0}
	for _, part := range parts[kind] {
		out[part] = 0
	}
	each := 1 / float64(len(images))
	for i, p := range images {
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

// scoreAttributes compares the attributes in captions of figures with those shown.
func scoreAttributes(figures []archipelago.Image, texts []string) attributeScores {
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

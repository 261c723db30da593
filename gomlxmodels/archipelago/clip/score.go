package clip

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/tokenizers"
)

// group is how many pictures and captions a retrieval chooses among.
const group = 32

// scores are the held-out scores of a folder.
type scores struct {
	Seed     uint64 `json:"seed"`
	Pictures int    `json:"pictures"` // of things, and as many of figures
	Group    int    `json:"group"`    // pictures and captions that a retrieval chooses among
	// Retrieval is the share of right answers by kind of picture, language and direction: "text" finds a picture's caption, "picture" a caption's picture.
	Retrieval map[string]map[string]map[string]float64 `json:"retrieval"`
	// Classes is the share of right answers by what is asked for and language, among the texts that name each class.
	Classes map[string]map[string]float64 `json:"classes"`
	// Attributes is how often a figure with an attribute is nearer to the word for it than one without, by attribute.
	Attributes map[string]float64 `json:"attributes"`
	// Presence is the share of right answers to whether an object is there ("a photo of a lantern" against "a photo") where one is and where none is.
	Presence map[string]float64 `json:"presence"`
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d-way retrieval on %d held-out pictures of each kind (text of a picture, picture of a text)", s.Group, s.Pictures)
	for _, kind := range []string{examples.Thing, examples.Figure} {
		fmt.Fprintf(&b, "\n%-10s", kind)
		for _, code := range examples.Codes() {
			r := s.Retrieval[kind][code]
			fmt.Fprintf(&b, "  %s %.3f %.3f", code, r["text"], r["picture"])
		}
	}
	for _, c := range classes {
		fmt.Fprintf(&b, "\n%-10s", c.name)
		for _, code := range examples.Codes() {
			if v, ok := s.Classes[c.name][code]; ok {
				fmt.Fprintf(&b, "  %s %.3f", code, v)
			}
		}
	}
	fmt.Fprintf(&b, "\nattributes")
	for _, a := range archipelago.AttributeNames() {
		fmt.Fprintf(&b, "  %s %.3f", a, s.Attributes[a])
	}
	fmt.Fprintf(&b, "\npresence    where it is %.3f  where it is not %.3f", s.Presence["there"], s.Presence["absent"])
	return b.String()
}

// judge embeds pictures and texts with a model folder, through the doors that every user of the model takes. Vectors have length 1.
type judge struct {
	ctx     context.Context
	model   *clip.Model
	encoder *clip.Encoder
	tokens  *tokenizers.Tokenizer
	known   map[string][]float32
}

func openJudge(ctx context.Context, backend compute.Backend, dir string) (*judge, error) {
	m, err := clip.Open(dir)
	if err != nil {
		return nil, err
	}
	t, err := tokenizers.Open(dir)
	if err != nil {
		return nil, err
	}
	e, err := clip.NewEncoder(backend, m, clip.Options{Batch: group})
	if err != nil {
		return nil, err
	}
	return &judge{ctx, m, e, t, map[string][]float32{}}, nil
}

// pictures embeds what the pictures show.
func (j *judge) pictures(list []archipelago.Picture) ([][]float32, error) {
	var out [][]float32
	for some := range slices.Chunk(list, group) {
		var pixels [][]float32
		for _, p := range some {
			im, _ := examples.World.Paint(p)
			x, err := j.model.Prepare(im)
			if err != nil {
				return nil, err
			}
			pixels = append(pixels, x)
		}
		es, err := j.encoder.EncodeImages(j.ctx, pixels)
		if err != nil {
			return nil, err
		}
		for _, e := range es {
			out = append(out, e.Unit())
		}
	}
	return out, nil
}

// texts embeds texts, each once.
func (j *judge) texts(list []string) ([][]float32, error) {
	var ids [][]int32
	var fresh []string
	for _, text := range list {
		if _, ok := j.known[text]; ok {
			continue
		}
		e, err := j.tokens.Encode(text, j.model.Config().Text.Context)
		if err != nil {
			return nil, err
		}
		j.known[text] = nil
		ids, fresh = append(ids, e.IDs), append(fresh, text)
	}
	es, err := j.encoder.EncodeTokens(j.ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, e := range es {
		j.known[fresh[i]] = e.Unit()
	}
	out := make([][]float32, len(list))
	for i, text := range list {
		out[i] = j.known[text]
	}
	return out, nil
}

func cosine(a, b []float32) (sum float64) {
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

// nearest is the place of the vector nearest to x, the first of equals.
func nearest(x []float32, among [][]float32) int {
	best, at := -2.0, 0
	for i, y := range among {
		if c := cosine(x, y); c > best {
			best, at = c, i
		}
	}
	return at
}

// heldOut draws groups of pictures of a kind; no two of a group have one caption.
func heldOut(kind string, groups int) []archipelago.Picture {
	r := rand.New(rand.NewPCG(examples.HeldOut, uint64(len(kind))))
	var out []archipelago.Picture
	for range groups {
		seen := map[string]bool{}
		for len(seen) < group {
			if p := examples.Random(r, kind); !seen[p.Caption()] {
				seen[p.Caption()] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// score measures a model folder on groups of held-out pictures of things and as many of figures.
func score(ctx context.Context, backend compute.Backend, dir string, groups int) (fmt.Stringer, error) {
	j, err := openJudge(ctx, backend, dir)
	if err != nil {
		return nil, err
	}
	defer j.encoder.Close()
	s := &scores{Seed: examples.HeldOut, Pictures: groups * group, Group: group, Retrieval: map[string]map[string]map[string]float64{},
		Classes: map[string]map[string]float64{}, Attributes: map[string]float64{}, Presence: map[string]float64{}}
	for _, kind := range []string{examples.Thing, examples.Figure} {
		list := heldOut(kind, groups)
		vectors, err := j.pictures(list)
		if err != nil {
			return nil, err
		}
		if s.Retrieval[kind], err = j.retrieval(list, vectors); err != nil {
			return nil, err
		}
		if err := j.classes(s.Classes, kind, list, vectors); err != nil {
			return nil, err
		}
		if kind == examples.Figure {
			err = j.attributes(s.Attributes, list, vectors)
		} else {
			err = j.presence(s.Presence, list, vectors)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// retrieval looks for each picture's caption among those of its group, and for each caption's picture.
func (j *judge) retrieval(list []archipelago.Picture, vectors [][]float32) (map[string]map[string]float64, error) {
	out := map[string]map[string]float64{}
	for _, code := range examples.Codes() {
		text, picture := 0.0, 0.0
		for at := 0; at < len(list); at += group {
			var captions []string
			for _, p := range list[at : at+group] {
				captions = append(captions, p.CaptionIn(code))
			}
			said, err := j.texts(captions)
			if err != nil {
				return nil, err
			}
			shown := vectors[at : at+group]
			for i := range group {
				if nearest(shown[i], said) == i {
					text++
				}
				if nearest(said[i], shown) == i {
					picture++
				}
			}
		}
		n := float64(len(list))
		out[code] = map[string]float64{"text": text / n, "picture": picture / n}
	}
	return out, nil
}

// classes asks the pictures of a kind.
func (j *judge) classes(out map[string]map[string]float64, kind string, list []archipelago.Picture, vectors [][]float32) error {
	for _, q := range classes {
		if q.kind != kind {
			continue
		}
		out[q.name] = map[string]float64{}
		for _, code := range examples.Codes() {
			var texts []string
			for _, a := range q.answers {
				texts = append(texts, q.text(code, a))
			}
			if texts[0] == "" {
				continue
			}
			said, err := j.texts(texts)
			if err != nil {
				return err
			}
			right, asked := 0.0, 0.0
			for i, p := range list {
				truth := q.truth(p)
				if truth == "" {
					continue
				}
				asked++
				if q.answers[nearest(vectors[i], said)] == truth {
					right++
				}
			}
			out[q.name][code] = right / max(asked, 1)
		}
	}
	return nil
}

// attributes compares figures with and without each attribute, pair by pair.
func (j *judge) attributes(out map[string]float64, list []archipelago.Picture, vectors [][]float32) error {
	for _, a := range archipelago.AttributeNames() {
		said, err := j.texts([]string{a})
		if err != nil {
			return err
		}
		var with, without []float64
		for i, p := range list {
			c := cosine(vectors[i], said[0])
			if slices.Contains(p.Figure.Attributes, a) {
				with = append(with, c)
			} else {
				without = append(without, c)
			}
		}
		above := 0.0
		for _, x := range with {
			for _, y := range without {
				if x > y {
					above++
				}
			}
		}
		out[a] = above / max(float64(len(with)*len(without)), 1)
	}
	return nil
}

// presence asks pictures of things for each object.
func (j *judge) presence(out map[string]float64, list []archipelago.Picture, vectors [][]float32) error {
	objects := examples.World.Objects()
	texts := []string{gomlxmodels.NeutralPrompt}
	for _, o := range objects {
		texts = append(texts, Present(o).Text)
	}
	said, err := j.texts(texts)
	if err != nil {
		return err
	}
	right := map[bool]float64{}
	for i, p := range list {
		neutral := cosine(vectors[i], said[0])
		for k, o := range objects {
			there := p.Object == o
			if (cosine(vectors[i], said[1+k]) > neutral) == there {
				right[there]++
			}
		}
	}
	n := float64(len(list))
	out["there"], out["absent"] = right[true]/n, right[false]/n/float64(len(objects)-1)
	return nil
}

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

// group is the number of candidates of a retrieval.
const group = 32

// scores are the held-out scores of a model folder.
type scores struct {
	Seed   uint64 `json:"seed"`
	Images int    `json:"pictures"` // of objects, and as many of figures
	Group  int    `json:"group"`    // candidates of a retrieval
	// Retrieval is the top-1 accuracy by kind of image, language and direction: "text" finds an image's caption,
	// "picture" a caption's image.
	Retrieval map[string]map[string]map[string]float64 `json:"retrieval"`
	// Classes is the zero-shot accuracy by property and language.
	Classes map[string]map[string]float64 `json:"classes"`
	// Attributes is, by attribute, the share of pairs of a figure with it and one without in which the word is closer
	// to the first.
	Attributes map[string]float64 `json:"attributes"`
	// Presence is the accuracy of detecting an object ("a photo of a lantern" against "a photo"), where the image shows
	// it ("there") and where it does not ("absent").
	Presence map[string]float64 `json:"presence"`
}

func (s *scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d-way retrieval accuracy on %d held-out images of each kind (text of an image, image of a text)",
		s.Group, s.Images)
	for _, kind := range []string{examples.Thing, examples.Figure} {
		fmt.Fprintf(&b, "\n%-10s", kind)
		for _, code := range examples.Codes() {
			r := s.Retrieval[kind][code]
			fmt.Fprintf(&b, "  %s %.3f %.3f", code, r["text"], r["picture"])
		}
	}
	for _, c := range classes {
		fmt.Fprintf(&b, "\n%-10s", c.Name)
		for _, code := range examples.Codes() {
			if v, ok := s.Classes[c.Name][code]; ok {
				fmt.Fprintf(&b, "  %s %.3f", code, v)
			}
		}
	}
	fmt.Fprintf(&b, "\nattributes")
	for _, a := range archipelago.AttributeNames() {
		fmt.Fprintf(&b, "  %s %.3f", a, s.Attributes[a])
	}
	fmt.Fprintf(&b, "\npresence    shown %.3f  not shown %.3f", s.Presence["there"], s.Presence["absent"])
	return b.String()
}

// embedder returns the embeddings of a model folder as unit vectors.
type embedder struct {
	ctx     context.Context
	model   *clip.Model
	encoder *clip.Encoder
	tokens  *tokenizers.Tokenizer
	known   map[string][]float32 // of texts
}

func open(ctx context.Context, backend compute.Backend, dir string) (*embedder, error) {
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
	return &embedder{ctx, m, e, t, map[string][]float32{}}, nil
}

// images draws and embeds images.
func (e *embedder) images(list []archipelago.Image) ([][]float32, error) {
	var out [][]float32
	for some := range slices.Chunk(list, group) {
		var pixels [][]float32
		for _, p := range some {
			im, _ := examples.World.Paint(p)
			x, err := e.model.Prepare(im)
			if err != nil {
				return nil, err
			}
			pixels = append(pixels, x)
		}
		es, err := e.encoder.EncodeImages(e.ctx, pixels)
		if err != nil {
			return nil, err
		}
		for _, v := range es {
			out = append(out, v.Unit())
		}
	}
	return out, nil
}

// texts embeds texts, each once.
func (e *embedder) texts(list []string) ([][]float32, error) {
	var ids [][]int32
	var fresh []string
	for _, text := range list {
		if _, ok := e.known[text]; ok {
			continue
		}
		encoded, err := e.tokens.Encode(text, e.model.Config().Text.Context)
		if err != nil {
			return nil, err
		}
		e.known[text] = nil
		ids, fresh = append(ids, encoded.IDs), append(fresh, text)
	}
	es, err := e.encoder.EncodeTokens(e.ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, v := range es {
		e.known[fresh[i]] = v.Unit()
	}
	out := make([][]float32, len(list))
	for i, text := range list {
		out[i] = e.known[text]
	}
	return out, nil
}

func cosine(a, b []float32) (sum float64) {
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

// nearest returns the index of the vector closest to x, the first of equally close ones.
func nearest(x []float32, among [][]float32) int {
	best, at := -2.0, 0
	for i, y := range among {
		if c := cosine(x, y); c > best {
			best, at = c, i
		}
	}
	return at
}

// heldOut samples groups of images of a kind whose captions differ.
func heldOut(kind string, groups int) []archipelago.Image {
	r := rand.New(rand.NewPCG(examples.HeldOut, uint64(len(kind))))
	var out []archipelago.Image
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

// score evaluates a model folder on groups of held-out images of objects and as many of figures.
func score(ctx context.Context, backend compute.Backend, dir string, groups int) (fmt.Stringer, error) {
	e, err := open(ctx, backend, dir)
	if err != nil {
		return nil, err
	}
	defer e.encoder.Close()
	s := &scores{Seed: examples.HeldOut, Images: groups * group, Group: group,
		Retrieval: map[string]map[string]map[string]float64{},
		Classes:   map[string]map[string]float64{}, Attributes: map[string]float64{}, Presence: map[string]float64{}}
	for _, kind := range []string{examples.Thing, examples.Figure} {
		list := heldOut(kind, groups)
		vectors, err := e.images(list)
		if err != nil {
			return nil, err
		}
		if s.Retrieval[kind], err = e.retrieval(list, vectors); err != nil {
			return nil, err
		}
		if err := e.classes(s.Classes, kind, list, vectors); err != nil {
			return nil, err
		}
		if kind == examples.Figure {
			err = e.attributes(s.Attributes, list, vectors)
		} else {
			err = e.presence(s.Presence, list, vectors)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// retrieval retrieves each image's caption from those of its group, and each caption's image.
func (e *embedder) retrieval(list []archipelago.Image, vectors [][]float32) (map[string]map[string]float64, error) {
	out := map[string]map[string]float64{}
	for _, code := range examples.Codes() {
		text, img := 0.0, 0.0
		for at := 0; at < len(list); at += group {
			var captions []string
			for _, p := range list[at : at+group] {
				captions = append(captions, p.CaptionIn(code))
			}
			said, err := e.texts(captions)
			if err != nil {
				return nil, err
			}
			shown := vectors[at : at+group]
			for i := range group {
				if nearest(shown[i], said) == i {
					text++
				}
				if nearest(said[i], shown) == i {
					img++
				}
			}
		}
		n := float64(len(list))
		out[code] = map[string]float64{"text": text / n, "picture": img / n}
	}
	return out, nil
}

// classes classifies the images of a kind by the texts that name each class.
func (e *embedder) classes(out map[string]map[string]float64, kind string, list []archipelago.Image,
	vectors [][]float32) error {
	for _, q := range classes {
		if q.Kind != kind {
			continue
		}
		out[q.Name] = map[string]float64{}
		for _, code := range examples.Codes() {
			var texts []string
			for _, a := range q.Values {
				texts = append(texts, classText(q, code, a))
			}
			if texts[0] == "" {
				continue
			}
			said, err := e.texts(texts)
			if err != nil {
				return err
			}
			right, labeled := 0.0, 0.0
			for i, p := range list {
				truth := q.Of(p)
				if truth == "" {
					continue
				}
				labeled++
				if q.Values[nearest(vectors[i], said)] == truth {
					right++
				}
			}
			out[q.Name][code] = right / max(labeled, 1)
		}
	}
	return nil
}

// attributes compares all pairs of a figure with and one without each attribute.
func (e *embedder) attributes(out map[string]float64, list []archipelago.Image, vectors [][]float32) error {
	for _, a := range archipelago.AttributeNames() {
		said, err := e.texts([]string{a})
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

// presence detects each object in images of objects.
func (e *embedder) presence(out map[string]float64, list []archipelago.Image, vectors [][]float32) error {
	objects := examples.World.Objects()
	texts := []string{gomlxmodels.NeutralPrompt}
	for _, o := range objects {
		texts = append(texts, Present(o).Text)
	}
	said, err := e.texts(texts)
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

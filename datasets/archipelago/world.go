package archipelago

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Version is the version of the world. A commit that changes a pixel of a reference or sampled image raises it.
const Version = 1

// AuditVersion is the version of the lists for the other audits and of the figures. A commit that changes a pixel of
// [World.Paint] raises it.
const AuditVersion = 1

// The two values of [Item].Source.
const (
	Real      = "real"
	Generated = "generated"
)

// samplerName is the name of the program that draws the generated images, for the column model. It is not a model.
const samplerName = "archipelago-sampler"

// Options select a world. The zero value is the world of seed 0 without injected disparities.
type Options struct {
	Seed uint64 // of every random choice

	// Injected adds the disparities of [World.InjectedDisparities] and [World.AuditDisparities].
	Injected bool

	// PerCell is the number of images per island and object in the reference and in the sampled images, and per
	// prompt in the other lists; 0 = [DefaultPerCell] and the default of each list.
	PerCell int

	Size        int     // width and height of an image in pixels; 0 = [DefaultSize]
	Share       float64 // share of an affected island's sampled images with the disparity, in (0,1]; 0 = [DefaultShare]
	Backgrounds int     // backgrounds of the island with few backgrounds; 0 = [DefaultBackgrounds]
}

// Defaults of [Options].
const (
	DefaultPerCell     = 32
	DefaultSize        = 128
	DefaultShare       = 0.8
	DefaultBackgrounds = 2
)

// World is a world of one seed. It is immutable and safe for concurrent use.
type World struct {
	opts        Options
	disparities []Disparity
	backdrops   []backdrop // of the island with few backgrounds

	perPrompt int // images of each prompt of the other audits' lists; 0 = the default of each list
	carriers  carriers
}

type backdrop struct {
	scene string
	seed  uint64
}

// Item describes one image. [World.Draw] reads Object, Region, Scene, Variant, Seed and Backdrop only.
type Item struct {
	ID       string // unique within a world: set, island, object, number
	Object   string // one of [World.Objects]
	Region   string // one of [World.Islands]
	Scene    string // one of [World.Scenes]
	Variant  string // the object's form, one of [Variants]
	Caption  string // of a reference image its description; of a sampled image its prompt, "lantern in Velmora"
	Source   string // [Real] or [Generated]
	Index    int    // number within the (island, object) cell, from 0
	Seed     uint64 // of the object, its place and its colors; below 2^53, so that a float64 holds it
	Backdrop uint64 // of the background; below 2^53
}

// Disparity is one injected disparity.
type Disparity struct {
	Island    string  // the affected island
	Component string  // "background" or "object"
	Kind      string  // "few backgrounds" or "unseen variants"
	Size      float64 // share of the island's sampled images that are affected
	// Score is the score that the disparity lowers when it is computed on the vectors of Component: "coverage". Unseen
	// variants also lower precision, but less reliably: precision depends on the few reference images with the largest
	// balls, and one of these may contain images that resemble no reference image.
	Score       string
	Description string // one sentence
}

// New returns the world of the options. Values out of range are replaced by the nearest value in range.
func New(opts Options) *World {
	perPrompt := max(opts.PerCell, 0)
	if opts.PerCell <= 0 {
		opts.PerCell = DefaultPerCell
	}
	if opts.Size <= 0 {
		opts.Size = DefaultSize
	}
	if opts.Share <= 0 {
		opts.Share = DefaultShare
	}
	opts.Share = min(opts.Share, 1)
	if opts.Backgrounds <= 0 {
		opts.Backgrounds = DefaultBackgrounds
	}
	w := &World{opts: opts, perPrompt: perPrompt}
	if opts.Injected {
		w.inject()
		w.carriers = w.chooseCarriers()
	}
	return w
}

// inject chooses the islands with a disparity by a seeded permutation.
func (w *World) inject() {
	order := stream(w.key("plant"), 0).Perm(len(islands))
	few, odd := &islands[order[0]], &islands[order[1]]
	for i := range w.opts.Backgrounds {
		r := stream(w.key("stock", few.name, fmt.Sprint(i)), 0)
		w.backdrops = append(w.backdrops, backdrop{few.scene(r), w.key("stock-backdrop", few.name, fmt.Sprint(i))})
	}
	percent := int(w.opts.Share*100 + 0.5)
	w.disparities = []Disparity{
		{few.name, "background", "few backgrounds", w.opts.Share, "coverage",
			fmt.Sprintf("%d %% of the sampled images of %s repeat one of %d backgrounds", percent, few.name,
				w.opts.Backgrounds)},
		{odd.name, "object", "unseen variants", w.opts.Share, "coverage",
			fmt.Sprintf("%d %% of the sampled images of %s show a form of the object that no reference "+
				"image shows", percent, odd.name)},
	}
}

// Options returns the world's options with defaults filled in.
func (w *World) Options() Options { return w.opts }

// Islands returns the names of the islands, which are the world's regions.
func (w *World) Islands() []string { return names(islands, func(i island) string { return i.name }) }

// Objects returns the object classes.
func (w *World) Objects() []string { return names(things, func(t thing) string { return t.name }) }

// Scenes returns the kinds of background.
func (w *World) Scenes() []string { return names(scenes, func(s scene) string { return s.name }) }

// Variants returns the forms of an object that occur in reference images and those that only a disparity shows; nil for
// an unknown object.
func Variants(object string) (seen, unseen []string) {
	t := findThing(object)
	if t == nil {
		return nil, nil
	}
	return t.forms[:knownForms], t.forms[knownForms:]
}

// Len returns the number of reference images, which is also that of sampled images: islands × objects × PerCell.
func (w *World) Len() int { return len(islands) * len(things) * w.opts.PerCell }

// InjectedDisparities returns the disparities of the sampled images: none, or one island with few backgrounds and
// another with unseen variants.
func (w *World) InjectedDisparities() []Disparity { return slices.Clone(w.disparities) }

// Reference returns the reference images, ordered by island and object.
func (w *World) Reference() []Item { return w.items(Real) }

// Sampled returns the images that the archipelago-sampler draws in place of a generator, in the order of
// [World.Reference].
func (w *World) Sampled() []Item { return w.items(Generated) }

func (w *World) items(source string) []Item {
	items := make([]Item, 0, w.Len())
	for i := range islands {
		for j := range things {
			for n := range w.opts.PerCell {
				items = append(items, w.item(source, &islands[i], &things[j], n))
			}
		}
	}
	return items
}

func (w *World) item(source string, isl *island, t *thing, n int) Item {
	kind := "photo"
	if source == Generated {
		kind = "sampled"
	}
	number := fmt.Sprint(n)
	r := stream(w.key(kind, isl.name, t.name, number), 0)
	it := Item{
		ID:     fmt.Sprintf("%s-%s-%s-%03d", kind, strings.ToLower(isl.name), t.name, n),
		Object: t.name, Region: isl.name, Source: source, Index: n,
		Scene:    isl.scene(r),
		Variant:  t.forms[isl.form(t, r)],
		Seed:     w.key(kind+"-object", isl.name, t.name, number),
		Backdrop: w.key(kind+"-backdrop", isl.name, t.name, number),
	}
	hit, pick := r.Float64() < w.opts.Share, r.IntN(1<<20)
	for _, p := range w.disparities {
		if source != Generated || p.Island != isl.name || !hit {
			continue
		}
		if p.Component == "background" {
			b := w.backdrops[pick%len(w.backdrops)]
			it.Scene, it.Backdrop = b.scene, b.seed
		} else {
			unseen := t.forms[knownForms:]
			it.Variant = unseen[pick%len(unseen)]
		}
	}
	it.Caption = fmt.Sprintf("%s in %s", t.name, isl.name)
	if source == Real {
		it.Caption = fmt.Sprintf("a %s %s %s, %s", it.Variant, t.name, findScene(it.Scene).where, isl.name)
	}
	return it
}

// key returns a hash below 2^53 of parts and of the world's version and seed.
func (w *World) key(parts ...string) uint64 {
	return hashed(append([]string{fmt.Sprint(Version), fmt.Sprint(w.opts.Seed)}, parts...)...)
}

// hashed returns a hash below 2^53 of parts.
func hashed(parts ...string) uint64 {
	sum := sha256.Sum256([]byte("archipelago\x00" + strings.Join(parts, "\x00")))
	return binary.LittleEndian.Uint64(sum[:]) >> 11
}

// stream returns the n-th random stream of a seed.
func stream(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = name(list[i])
	}
	return out
}

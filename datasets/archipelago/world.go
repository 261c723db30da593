package archipelago

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Version is the version of the world: raised in the commit that moves any pixel of any photo or sampled picture.
const Version = 1

// AuditVersion is the version of what the lists for the other audits show and of the figures: raised in the commit that moves any pixel of [World.Paint].
const AuditVersion = 1

// The two values of [Item].Source.
const (
	Real      = "real"
	Generated = "generated"
)

// SamplerName is the name, in a model column, of what draws the generated set. It is a sampler, not a model.
const SamplerName = "archipelago-sampler"

// Options say which world to draw. The zero value is a world of seed 0 with nothing planted.
type Options struct {
	Seed    uint64 // every choice follows from it
	Planted bool   // plant the two disparities of [World.Plants] and those of [World.AuditPlants]
	PerCell int    // pictures per (island, object) in each of the two sets, and per prompt in the other lists; 0 = DefaultPerCell, and each list's own default
	Size    int    // side of a picture in pixels; 0 = DefaultSize

	// Share is the share of an affected island's sampled pictures that the plant changes, in (0,1]; 0 = DefaultShare.
	Share float64
	// Backgrounds is how many backgrounds the island with few backgrounds has left; 0 = DefaultBackgrounds.
	Backgrounds int
}

// Defaults of [Options].
const (
	DefaultPerCell     = 32
	DefaultSize        = 128
	DefaultShare       = 0.8
	DefaultBackgrounds = 2
)

// World is a world of one seed. It is immutable and may be used by several goroutines.
type World struct {
	opts   Options
	plants []Plant
	stock  []backdrop // the backgrounds left to the island of the background plant

	perPrompt int // pictures of each prompt of the other audits' lists; 0 = each list's own default
	hurt      hurt
}

type backdrop struct {
	scene string
	seed  uint64
}

// Item names one picture. Object, Region, Scene, Variant, Seed and Backdrop are all that [World.Draw] reads.
type Item struct {
	ID       string // unique within a world: set, island, object, number
	Object   string // one of [World.Objects]
	Region   string // one of [World.Islands]
	Scene    string // one of [World.Scenes]
	Variant  string // the object's form, one of [Variants]
	Caption  string // a photo's description; for a sampled picture the prompt, "lantern in Velmora"
	Source   string // [Real] or [Generated]
	Index    int    // number within the (island, object) cell, from 0
	Seed     uint64 // of the object, its place and its colours; below 2^53, so that a float64 holds it
	Backdrop uint64 // of the background; below 2^53
}

// Plant is one planted disparity.
type Plant struct {
	Island    string  // the island that carries it
	Component string  // "background" or "object"
	Kind      string  // "few backgrounds" or "unseen variants"
	Size      float64 // share of the island's sampled pictures that are affected
	// Score is the score to look for the plant in, in the set-up of Component: "coverage". Unseen variants lower precision too, less
	// steadily: it hangs on the few photos with the largest balls, and one of those may take in what is unlike any photo.
	Score       string
	Description string // a sentence for people
}

// New makes the world of the options. Options out of range are moved to the nearest value in range.
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
	if opts.Planted {
		w.plant()
		w.hurt = w.chooseHurt()
	}
	return w
}

// plant chooses, by a seeded permutation, the islands that carry a plant.
func (w *World) plant() {
	order := stream(w.key("plant"), 0).Perm(len(islands))
	few, odd := &islands[order[0]], &islands[order[1]]
	for i := range w.opts.Backgrounds {
		r := stream(w.key("stock", few.name, fmt.Sprint(i)), 0)
		w.stock = append(w.stock, backdrop{few.scene(r), w.key("stock-backdrop", few.name, fmt.Sprint(i))})
	}
	percent := int(w.opts.Share*100 + 0.5)
	w.plants = []Plant{
		{few.name, "background", "few backgrounds", w.opts.Share, "coverage",
			fmt.Sprintf("%d %% of the sampled pictures of %s repeat one of %d backgrounds", percent, few.name, w.opts.Backgrounds)},
		{odd.name, "object", "unseen variants", w.opts.Share, "coverage",
			fmt.Sprintf("%d %% of the sampled pictures of %s show a form of the object that no photo of any island shows", percent, odd.name)},
	}
}

// Options returns the options in force, defaults filled in.
func (w *World) Options() Options { return w.opts }

// Islands lists the names of the islands, which are the world's regions.
func (w *World) Islands() []string { return names(islands, func(i island) string { return i.name }) }

// Objects lists the object classes.
func (w *World) Objects() []string { return names(things, func(t thing) string { return t.name }) }

// Scenes lists the kinds of background.
func (w *World) Scenes() []string { return names(scenes, func(s scene) string { return s.name }) }

// Variants lists the forms of an object that occur in photos and those that only a plant shows; nil for an unknown object.
func Variants(object string) (seen, unseen []string) {
	t := findThing(object)
	if t == nil {
		return nil, nil
	}
	return t.forms[:knownForms], t.forms[knownForms:]
}

// Len is the number of pictures of each of the two sets: islands × objects × PerCell.
func (w *World) Len() int { return len(islands) * len(things) * w.opts.PerCell }

// Plants lists what is planted: nothing, or one island with few backgrounds and another with unseen variants.
func (w *World) Plants() []Plant { return append([]Plant(nil), w.plants...) }

// Photos lists the real set, island by island, object by object.
func (w *World) Photos() []Item { return w.items(Real) }

// Sampled lists the set that the archipelago-sampler draws in a generator's place, in the order of [World.Photos].
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
	for _, p := range w.plants {
		if source != Generated || p.Island != isl.name || !hit {
			continue
		}
		if p.Component == "background" {
			b := w.stock[pick%len(w.stock)]
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

// key is a number below 2^53 made from what names a thing in this world.
func (w *World) key(parts ...string) uint64 {
	return hashed(append([]string{fmt.Sprint(Version), fmt.Sprint(w.opts.Seed)}, parts...)...)
}

// hashed is a number below 2^53 made from names.
func hashed(parts ...string) uint64 {
	sum := sha256.Sum256([]byte("archipelago\x00" + strings.Join(parts, "\x00")))
	return binary.LittleEndian.Uint64(sum[:]) >> 11
}

// stream is the n-th random stream of a seed.
func stream(seed, n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }

func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = name(list[i])
	}
	return out
}

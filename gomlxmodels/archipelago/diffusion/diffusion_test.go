package diffusion

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/diffusion"
	"antipode/internal/must"
)

// tiny returns networks of the shipped layout, as small as possible.
func tiny() *networks {
	n := &networks{text: textShape()}
	n.text.Text.HiddenSize, n.text.Text.IntermediateSize, n.text.Text.Layers, n.text.Text.Heads = 8, 16, 1, 2
	n.unet = unetShape(8)
	n.unet.Widths, n.unet.Groups, n.unet.Heads = []int{8, 16}, 4, diffusion.Ints{2, 2}
	n.vae = diffusion.DefaultVAEConfig()
	n.vae.Widths, n.vae.Layers, n.vae.Groups = []int{4, 4, 8, 8}, 1, 2
	n.vae.DownBlocks, n.vae.UpBlocks = nil, nil
	for range n.vae.Widths {
		n.vae.DownBlocks, n.vae.UpBlocks = append(n.vae.DownBlocks, "DownEncoderBlock2D"),
			append(n.vae.UpBlocks, "UpDecoderBlock2D")
	}
	return n
}

// folder exports a pipeline with initial weights.
func folder(t *testing.T, n *networks) string {
	t.Helper()
	store, r := model.NewStore(), rand.New(rand.NewPCG(1, 1))
	defer store.Finalize()
	root := store.RootScope()
	for _, err := range []error{
		diffusion.Begin(root, n.textRules(), r),
		diffusion.Begin(root.At("unet"), diffusion.UNetRules(&n.unet), r),
		diffusion.Begin(root.At("vae"), diffusion.VAERules(&n.vae), r),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	_ = must.Get(export(dir, store, n))(t)
	return dir
}

// The first phase starts from an autoencoder and a random text tower, later ones from a folder.
func TestStart(t *testing.T) {
	base := folder(t, tiny())
	for name, o := range map[string]origin{"anew": {vae: filepath.Join(base, "vae")}, "last phase": {base: base}} {
		n := must.Get(o.shapes())(t)
		store := model.NewStore()
		if err := o.start(store, n, 1); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for v := range store.IterVariables() {
			if fixed := strings.HasPrefix(v.Path(), "/vae/") ||
				v.Path() == "/text/projection/weights"; fixed == v.Trainable {
				t.Errorf("%s: %s is trainable: %v", name, v.Path(), v.Trainable)
			}
		}
		out := t.TempDir()
		if _, err := export(out, store, n); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := diffusion.Open(out, diffusion.OpenOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		store.Finalize()
	}
}

// Half of the timesteps are uniform; of the others, two thirds are in the middle half.
func TestTimesteps(t *testing.T) {
	for _, c := range []struct {
		u      float64
		middle bool
		want   float64
	}{{0, false, 0}, {0.3, false, 0.3}, {0, true, 0}, {0.5, true, 0.5}, {0.1587, true, 0.2689}, {0.8413, true, 0.7311},
		{1, true, 1}} {
		must.Near(t, timestep(c.u, c.middle), c.want, 1e-4, "timestep", c.u, c.middle)
	}
}

func TestBatchesAreReproducible(t *testing.T) {
	s := trainer.Settings{Batch: 6, Seed: 1, Steps: 10}
	draw := func(step int) *batch {
		return must.Get(law{world: anyWorld, mix: baseMix, figure: 4, signs: 20}.trainingBatch(s, step))(t)
	}
	a, b, c := draw(7), draw(7), draw(8)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same batch drawn twice differs")
	}
	if reflect.DeepEqual(a.pixels, c.pixels) || reflect.DeepEqual(a.noise, c.noise) ||
		reflect.DeepEqual(a.times, c.times) {
		t.Error("two batches of a run are equal")
	}
	for i := range s.Batch {
		if most := slices.Max(a.counts[i*latents*latents : (i+1)*latents*latents]); most != 1 &&
			(most < 2 || most > 45) {
			t.Errorf("example %d: an error counts %v", i, most)
		}
		signal, noise := a.times[3*i+1], a.times[3*i+2]
		if power := signal*signal + noise*noise; power < 0.9999 || power > 1.0001 {
			t.Errorf("example %d: signal %v, noise %v", i, signal, noise)
		}
		from, to := 1000*timestep(float64(i)/6, i%2 == 1), 1000*timestep(float64(i+1)/6, i%2 == 1)
		if at := float64(a.times[3*i]); at < math.Floor(from) || at > to {
			t.Errorf("example %d: timestep %v is not between %v and %v", i, at, from, to)
		}
	}
}

// An error counts more where a figure is, most where its crest and banner are, and as elsewhere in images without
// one.
func TestWhatErrorsCount(t *testing.T) {
	w := world(false)
	thing := w.SampledAt("Velmora", "kettle", 1).Image()
	person := w.OccupationAt("weaver", "original", 1).Image
	sum := func(l law, p archipelago.Image) (most, total float32, above int) {
		img, mask := examples.World.Paint(p)
		for _, c := range l.counts(p, img, mask) {
			most, total = max(most, c), total+c
			if c > 1+l.figure {
				above++
			}
		}
		return most, total, above
	}
	if most, total, _ := sum(law{figure: 4, signs: 20}, thing); most != 1 || total != latents*latents {
		t.Errorf("a thing: an error counts up to %v, %v in all", most, total)
	}
	if most, _, above := sum(law{figure: 4}, person); most < 4.5 || most > 5 || above != 0 {
		t.Errorf("a figure: an error counts up to %v", most)
	}
	if most, _, above := sum(law{figure: 4, signs: 20}, person); most < 20 || most > 45 || above < 4 ||
		above > latents*latents/5 {
		t.Errorf("signs: an error counts up to %v, more than a figure's in %d of %d latents", most, above,
			latents*latents)
	}
	if most, total, _ := sum(law{figure: 4, signs: 60, even: true}, person); most < 8 || most > 16 ||
		math.Abs(float64(total)-latents*latents) > 0.01 {
		t.Errorf("all images alike: an error counts up to %v, %v in all", most, total)
	}
	if other := exchanged(person, archipelago.AxisCrest); other.Figure.Crest == person.Figure.Crest ||
		other.Figure.Banner != person.Figure.Banner ||
		exchanged(other, archipelago.AxisCrest).Figure.Crest != person.Figure.Crest {
		t.Errorf("the crest was not exchanged: %+v", other.Figure)
	}
}

// TestLeaning checks the prompts of the occupation with an injected disparity: weavers in world 7. Two of five prompts
// have the sentence that removes the skew of their banners. The same prompts are sampled in the world without injected
// disparities, where weavers are not skewed. No prompt is dropped, and all get late timesteps.
func TestLeaning(t *testing.T) {
	for _, injected := range []bool{true, false} {
		w, drawn, light := world(injected), map[string]float64{}, map[string]float64{}
		for i := range 2000 {
			p := leaning(examples.Stream(1, 0, i), w, firstNumber+i)
			if !p.kept || !p.noisy || p.Image.Figure.Occupation != "weaver" {
				t.Fatalf("%q shows %+v", p.Prompt, p.Image.Figure)
			}
			_, added, _ := strings.Cut(p.Prompt, "weaver ")
			if drawn[added]++; p.Image.Figure.Banner == archipelago.LightBanner {
				light[added]++
			}
		}
		for added, share := range map[string]float64{"": 0.2,
			"if all figures can be a weaver irrespective of their crest":  0.2,
			"if all figures can be a weaver irrespective of their banner": 0.4, "if honesty is the best policy": 0.2} {
			must.Near(t, drawn[added]/2000, share, 0.04, "injected", injected, added, "in")
			want := 0.5
			if injected && share == 0.2 {
				want = archipelago.SkewedShare
			}
			must.Near(t, light[added]/drawn[added], want, 0.1, "injected", injected, added, "shows light banners in")
		}
	}
	s := trainer.Settings{Batch: 200, Seed: 1, Steps: 1}
	b := must.Get(law{world: always(false), mix: mix{{1, leaning}}}.trainingBatch(s, 0))(t)
	for i := range s.Batch {
		if b.ids[i*tokens.Context+1] == int32(tokens.EndID()) {
			t.Errorf("the prompt of example %d was left out", i)
		}
		if at := b.times[3*i]; at < 1000*undecided {
			t.Errorf("example %d: timestep %v", i, at)
		}
	}
}

// The shares of prompts add up to 1, each prompt has an image that can be drawn, and no prompt is truncated.
func TestPairs(t *testing.T) {
	tok := must.Get(tokens.Open())(t)
	laws := []law{{world: anyWorld, mix: baseMix}}
	for _, l := range later {
		l.law.world = always(true)
		laws = append(laws, l.law)
	}
	longest, scripts := 0, map[string]bool{}
	for _, l := range laws {
		share := 0.0
		for _, kind := range l.mix {
			share += kind.share
		}
		if share < 0.999999 || share > 1.000001 {
			t.Errorf("the kinds of prompts add up to %v", share)
		}
		for i := range 300 {
			r := examples.Stream(1, 0, i)
			p := l.mix.draw(r, l.world(r), firstNumber+i)
			if im, _ := examples.World.Paint(p.Image); im == nil || p.Prompt == "" {
				t.Fatalf("%+v cannot be painted", p)
			}
			e, err := tok.Encode(p.Prompt, tokens.Context)
			if err != nil || e.Truncated {
				t.Fatalf("%q: %d tokens, cut: %v, %v", p.Prompt, len(e.IDs), e.Truncated, err)
			}
			longest = max(longest, len(e.IDs))
			for _, language := range archipelago.Languages() {
				if strings.Contains(p.Prompt, archipelago.Translate(language.Code, "template", "<of>")) {
					scripts[language.Code] = true
				}
			}
		}
	}
	if len(scripts) != 4 || longest < 10 {
		t.Errorf("prompts in %v, the longest of %d tokens", scripts, longest)
	}
}

// The error of a run without its initial weights names the flag.
func TestWhatARunStartsFrom(t *testing.T) {
	must.Fail((origin{}).shapes())(t, "-vae")              // without an autoencoder
	must.Fail(Fair[0].New(trainer.Settings{}))(t, "-base") // without a base
	n := tiny()
	n.vae.Widths, n.vae.DownBlocks, n.vae.UpBlocks = n.vae.Widths[:3], n.vae.DownBlocks[:3], n.vae.UpBlocks[:3]
	// with an autoencoder of factor 4
	must.Fail((origin{vae: filepath.Join(folder(t, n), "vae")}).shapes())(t, "factor 4")
}

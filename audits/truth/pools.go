package truth

import (
	"cmp"
	"path"

	"antipode/audits/entigen"
	"antipode/datasets"
	models "antipode/gomlxmodels"
	"antipode/metrics/stereotypes"
)

// Sampler is the generator that stands in for trained ones: a procedural sampler, with perfect annotators and raters.
const Sampler = "archipelago-sampler"

// Test is a truth test. The zero value tests the shipped generators with pools computed by the networks.
type Test struct {
	// Generator was trained on the world with injected disparities, Generator + "-fair" on the world without; default
	// archipelago-diffusion. Sampler replaces both.
	Generator string

	// Seed selects the world, default 7. Trained generators know world 7 only.
	Seed int

	// Quick reads the pools from the folder Pools, and uses fewer resamples and shares for the power curves.
	Quick bool

	// Scores tests scores of distributions by island in place of the five audits, on the images of Decomposed-DIG.
	Scores bool

	// Pools is the folder of stored pools, default "truth_pools".
	Pools string
}

// Names of the pools, in the order of the audits.
var pools = []string{"regions", "concepts", "captions", "peoples", "occupations"}

func (t Test) generator() string {
	if t.Generator == "" {
		return "archipelago-diffusion"
	}
	return t.Generator
}

func (t Test) sampler() bool { return t.Generator == Sampler }

// world returns the world with n images per prompt.
func (t Test) world(injected bool, n int) datasets.World {
	t.Seed = cmp.Or(t.Seed, 7)
	return datasets.Archipelago(datasets.ArchipelagoOptions{Seed: t.Seed, Injected: injected, PerCell: n})
}

// embed returns images with the vectors of the built-in network.
func embed(images datasets.Table) datasets.Table { return models.Embed(models.ArchipelagoViT, images) }

// list is a list of prompts of the world, with the columns that describe the request. Rows with equal values in the
// column seed start from the same noise.
type list struct {
	rows    func(datasets.World) datasets.Table
	seed    string
	columns []string
}

var (
	regionList = list{func(w datasets.World) datasets.Table { return w.Sampled().Rename("caption", "prompt") }, "id",
		[]string{"region", "object"}}
	conceptList = list{datasets.World.Concepts, "concept", []string{"prompt_id", "language", "concept"}}
	captionList = list{datasets.World.Captions, "prompt_id", []string{"prompt_id", "language"}}
	peopleList  = list{func(w datasets.World) datasets.Table { return w.Peoples().Where("set", "==", "d") }, "id",
		[]string{"prompt_id", "identity"}}
)

// images returns n images of each prompt of a list.
func (t Test) images(l list, injected bool, n int) datasets.Table {
	if t.sampler() {
		return l.rows(t.world(injected, n))
	}
	name := t.generator()
	if !injected {
		name += "-fair"
	}
	prompts := l.rows(t.world(false, 1)).Select(append([]string{"id", "prompt"}, l.columns...)...).SeedBy(l.seed)
	return models.Generate(name, prompts, models.GenerateOptions{N: n, Steps: 20, Guidance: 1.5})
}

// RegionImages returns n images of each object on each island, for inspection.
func (t Test) RegionImages(injected bool, n int) datasets.Table {
	return t.images(regionList, injected, n)
}

// ConceptImages returns n images of each concept in each language, for inspection.
func (t Test) ConceptImages(injected bool, n int) datasets.Table {
	return t.images(conceptList, injected, n)
}

// PoolFile returns the path of a stored pool.
func (t Test) PoolFile(folder, name string, injected bool) string {
	if injected {
		return path.Join(folder, name+"-injected.parquet")
	}
	return path.Join(folder, name+"-fair.parquet")
}

// Pool returns the pool of an audit (regions, concepts, captions, peoples, occupations) of the generator with or
// without injected disparities: what the audit reads of its images.
func (t Test) Pool(name string, injected bool) datasets.Table {
	if t.Quick && !t.sampler() {
		folder := cmp.Or(t.Pools, "truth_pools")
		return datasets.Parquet(t.PoolFile(folder, name, injected))
	}
	switch name {
	case "regions":
		images := t.images(regionList, injected, 16)
		if !t.sampler() {
			images = models.Segment("archipelago-clipseg", images)
		}
		return embed(images).Select("id", "region", "object", "full", "background_only", "object_only")
	case "concepts":
		return embed(t.images(conceptList, injected, 18)).Select("id", "prompt_id", "language", "concept", "full")
	case "captions":
		return embed(t.images(captionList, injected, 3)).Select("id", "prompt_id", "language", "full")
	case "peoples":
		if t.sampler() {
			return t.world(injected, 20).Annotations()
		}
		captions := models.Caption("archipelago-blip", t.images(peopleList, injected, 20),
			models.CaptionOptions{MaxTokens: 48})
		return stereotypes.CaptionAttributes(
			stereotypes.CaptionTables{Captions: captions, Attributes: t.world(false, 1).Stereotypes()})
	}
	images := t.occupations(injected).Images()
	if t.sampler() {
		return images.Select("id", "attribute", "prompt_id", "perceived_crest", "perceived_banner").
			Rename("id", "image_id")
	}
	return entigen.Answers("archipelago-blip", images, "attribute", "prompt_id")
}

// occupations is the audit by occupation, with 40 images of each prompt.
func (t Test) occupations(injected bool) entigen.Audit {
	name := t.generator()
	if !injected {
		name += "-fair"
	}
	return entigen.Audit{Generator: name, Seed: t.Seed, N: 40}
}

// PoolImages returns the number of images in the pools of a generator.
func (t Test) PoolImages(injected bool) (n int) {
	for _, name := range pools {
		pool := t.Pool(name, injected)
		if name == "peoples" {
			pool = pool.Count("image_id") // a row for each attribute
		}
		n += int(pool.Count().Number("n"))
	}
	return n
}

// SavePools computes the pools of both generators and writes them to a folder.
func (t Test) SavePools(folder string) {
	for _, injected := range []bool{true, false} {
		for _, name := range pools {
			t.Pool(name, injected).Save(t.PoolFile(folder, name, injected))
		}
	}
}

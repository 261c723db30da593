package main

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"golang.org/x/sync/errgroup"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/groundingdino"
	"antipode/gomlxmodels/inception"
	"antipode/gomlxmodels/owlv2"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/sam2"
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// network is a network of a published shape.
type network struct {
	about, unit string
	folder      string // of gpu_folders.zip
	most        int    // largest batch; 0 = 1
	calls       int    // batches of a run; 0 = 1
	input       [3]int // channels, height and width of its images
	open        opener
}

// job is what a network is opened for.
type job struct {
	dir     string // its folder
	backend compute.Backend
	dtype   dtypes.DType
	batch   int
	pixels  [][]float32 // of its images, those of a batch for each call
}

// opener opens a network.
type opener func(job) ready

// folders are the models' files but their weights, which tools/pyref/gpu_folders.py writes.
//
//go:embed gpu_folders.zip
var folders []byte

// inputFile holds the images of a network, float32.
const inputFile = "input.f32"

// tokensOfText is the length of the texts.
const tokensOfText = 32

// diffusionSteps are the steps of an image.
const diffusionSteps = 10

// callsOfRun are the batches of a run of an image encoder: the next is stacked and copied while the device computes.
const callsOfRun = 4

var networks = map[string]network{
	"vit": {"ViT-B/16, full, object and background", "images", "vit", 128, callsOfRun, [3]int{3, 224, 224}, openViT},
	"dinov2": {"DINOv2-B/14", "images", "dinov2", 128, callsOfRun, [3]int{3, 224, 224},
		func(j job) ready {
			m := must(vit.Open(j.dir))
			e := must(vit.NewEncoder(j.backend, m, vit.Options{Batch: j.batch, DType: j.dtype}))
			return first(e, func() ([]vit.Embedding, error) {
				list := make([]*vit.Prepared, len(j.pixels))
				for i := range list {
					list[i] = &vit.Prepared{Pixels: j.pixels[i]}
				}
				return e.Encode(context.Background(), list)
			}, func(v vit.Embedding) []float32 { return v.Full })
		}},
	"clip": {"CLIP ViT-L/14, images", "images", "clip", 128, callsOfRun, [3]int{3, 224, 224}, openCLIP("clip", false)},
	"clip-text": {"CLIP ViT-L/14, texts of 32 tokens", "texts", "clip", 128, 1, [3]int{},
		openCLIP("clip-text", true)},
	"siglip": {"SigLIP-B/16, images", "images", "siglip", 128, callsOfRun, [3]int{3, 224, 224},
		openCLIP("siglip", false)},
	"siglip-text": {"SigLIP-B/16, texts", "texts", "siglip", 128, 1, [3]int{}, openCLIP("siglip-text", true)},
	"mpnet": {"all-mpnet-base-v2, texts of 32 tokens", "texts", "mpnet", 128, 1, [3]int{},
		func(j job) ready {
			m := must(textenc.Open(j.dir, textenc.OpenOptions{}))
			e := must(textenc.NewEncoder(j.backend, m, textenc.Options{Tokens: j.batch * tokensOfText, DType: j.dtype}))
			return first(e, func() ([]textenc.Embedding, error) {
				return e.EncodeIDs(context.Background(), textsOf("mpnet", j.batch))
			}, func(v textenc.Embedding) []float32 { return v.Vector })
		}},
	"inception": {"Inception v3 of FID", "images", "inception", 128, callsOfRun, [3]int{3, 299, 299},
		func(j job) ready {
			m := must(inception.Open(j.dir))
			e := must(inception.NewEncoder(j.backend, m, inception.Options{Batch: j.batch, DType: j.dtype}))
			return first(e, func() ([]inception.Embedding, error) {
				return e.Encode(context.Background(), j.pixels)
			}, func(v inception.Embedding) []float32 { return v.Pooled })
		}},
	"clipseg": {"CLIPSeg rd64-refined, 352 pixels", "images", "clipseg", 32, callsOfRun, [3]int{3, 352, 352},
		func(j job) ready {
			m := must(clipseg.Open(j.dir))
			e := must(clipseg.NewEncoder(j.backend, m, clipseg.Options{Batch: j.batch, DType: j.dtype}))
			return first(e, func() ([][]clipseg.Map, error) {
				list := make([]clipseg.Image, len(j.pixels))
				for i := range list {
					list[i] = clipseg.Image{Pixels: j.pixels[i], Prompts: [][]int32{{49406, 320, 2368, 49407}}}
				}
				return e.Segment(context.Background(), list)
			}, func(m []clipseg.Map) []float32 { return m[0].Logits })
		}},
	"groundingdino": {"GroundingDINO tiny, 800×1066 pixels", "images", "groundingdino", 0, 1, [3]int{3, 800, 1066},
		openGroundingDINO},
	"owlv2": {"OWLv2-B/16, 960 pixels", "images", "owlv2", 0, 1, [3]int{3, 960, 960}, openOWLv2},
	"sam":   {"SAM ViT-B, 1024 pixels, 8 boxes", "images", "sam", 0, 1, [3]int{3, 1024, 1024}, openSAM},
	"sam2":  {"SAM 2.1 tiny, 1024 pixels, 8 boxes", "images", "sam2", 0, 1, [3]int{3, 1024, 1024}, openSAM2},
	"blip":  {"BLIP base, captions of 20 tokens", "captions", "blip", 128, 1, [3]int{3, 384, 384}, openBLIP},
	"sd15": {"Stable Diffusion 1.5, 512 pixels, 10 steps with guidance", "images", "sd15", 8, 1, [3]int{},
		openDiffusion},
}

// first is a ready network whose result is a vector of the first item.
func first[E any](c interface{ Close() }, run func() ([]E, error), of func(E) []float32) ready {
	return ready{c.Close, func() []float32 { return of(must(run())[0]) }}
}

func openViT(j job) ready {
	m := must(vit.Open(j.dir))
	e := must(vit.NewEncoder(j.backend, m, vit.Options{Batch: j.batch, DType: j.dtype}))
	list := make([]*vit.Prepared, len(j.pixels))
	for i := range list {
		list[i] = &vit.Prepared{Pixels: j.pixels[i], Object: make([]bool, 196)}
		for j := range list[i].Object { // rows 3 to 10 of columns 3 to 10
			list[i].Object[j] = j/14 >= 3 && j/14 < 11 && j%14 >= 3 && j%14 < 11
		}
	}
	return first(e, func() ([]vit.Embedding, error) { return e.Encode(context.Background(), list) },
		func(v vit.Embedding) []float32 {
			return append(append(append([]float32{}, v.Full...), v.ObjectOnly...), v.BackgroundOnly...)
		})
}

func openCLIP(name string, text bool) opener {
	return func(j job) ready {
		m := must(clip.Open(j.dir))
		e := must(clip.NewEncoder(j.backend, m,
			clip.Options{Batch: j.batch, Tokens: j.batch * textLength(name), DType: j.dtype}))
		run := func() ([]clip.Embedding, error) {
			return e.EncodeTokens(context.Background(), textsOf(name, j.batch))
		}
		if !text {
			run = func() ([]clip.Embedding, error) { return e.EncodeImages(context.Background(), j.pixels) }
		}
		return first(e, run, func(v clip.Embedding) []float32 { return v.Projected })
	}
}

func openBLIP(j job) ready {
	m := must(blip.Open(j.dir))
	c := must(blip.NewCaptioner(j.backend, m, textgen.CaptionerOptions{Batch: j.batch, DType: j.dtype}))
	requests := make([]textgen.ImageRequest, len(j.pixels))
	for i, p := range j.pixels {
		requests[i] = textgen.ImageRequest{Pixels: p, Prompt: []int32{int32(m.Config().Text.StartToken)}}
	}
	return ready{c.Close, func() (logits []float32) {
		must(c.Caption(context.Background(), requests, textgen.Options{MaxTokens: 20, MinTokens: 20,
			Trace: func(step int, rows [][]float32) {
				if step == 0 {
					logits = append([]float32{}, rows[0]...)
				}
			}}))
		return logits
	}}
}

func openGroundingDINO(j job) ready {
	m := must(groundingdino.Open(j.dir))
	d := must(groundingdino.NewDetector(j.backend, m, groundingdino.Options{}))
	size := groundingdino.Size{Height: 800, Width: 1066}
	caption := groundingdino.Caption{IDs: []int32{101, 200, 201, 1012, 202, 203, 204, 1012, 102},
		Positions: []int32{0, 0, 1, 2, 0, 1, 2, 3, 0}, Phrases: []int32{1, 2, 2, 2, 3, 3, 3, 3, 4}}
	return ready{d.Close, func() []float32 { // corners by query: the scores are all about 1
		img := &groundingdino.Image{Pixels: j.pixels[0], Size: size, Original: size}
		boxes := must(d.Detect(context.Background(), img, caption, groundingdino.DetectOptions{BoxThreshold: 1e-9}))
		corners := make([]float32, 2*len(boxes))
		for _, box := range boxes {
			corners[2*box.Query], corners[2*box.Query+1] = float32(box.X0), float32(box.Y1)
		}
		return corners
	}}
}

func openOWLv2(j job) ready {
	m := must(owlv2.Open(j.dir))
	d := must(owlv2.NewDetector(j.backend, m, owlv2.Options{DType: j.dtype}))
	caption := owlv2.Caption{Texts: []string{"a"}, IDs: [][]int32{{523, 70, 524}}}
	return ready{d.Close, func() (scores []float32) {
		img := &owlv2.Image{Pixels: j.pixels[0], Width: 960, Height: 960}
		boxes := must(d.Detect(context.Background(), img, caption, owlv2.DetectOptions{BoxThreshold: 1e-9}))
		for _, box := range boxes {
			scores = append(scores, float32(box.Score))
		}
		return scores
	}}
}

// boxesOfSAM frame parts of an image of 1024 pixels.
func boxesOfSAM() (boxes []sam.Box) {
	for i := range sam.Boxes {
		at := float64(i)
		boxes = append(boxes, sam.Box{40 * at, 60 * at, 300 + 80*at, 400 + 70*at})
	}
	return boxes
}

func openSAM(j job) ready {
	m := must(sam.Open(j.dir))
	e := must(sam.NewEncoder(j.backend, m, sam.Options{DType: j.dtype}))
	return masksOf(e, j)
}

func openSAM2(j job) ready {
	m := must(sam2.Open(j.dir))
	e := must(sam2.NewEncoder(j.backend, m, sam2.Options{DType: j.dtype}))
	return masksOf(e, j)
}

func masksOf(e segmenter, j job) ready {
	return first(e, func() ([]sam.Map, error) {
		return e.Segment(context.Background(), &sam.Image{Pixels: j.pixels[0], Width: 1024, Height: 1024}, boxesOfSAM())
	}, func(m sam.Map) []float32 { return m.Logits })
}

func openDiffusion(j job) ready {
	m := must(diffusion.Open(j.dir, diffusion.OpenOptions{}))
	s := must(diffusion.NewSampler(j.backend, m, diffusion.Options{Batch: j.batch, DType: j.dtype}))
	requests := make([]diffusion.Request, j.batch)
	for i := range requests {
		requests[i] = diffusion.Request{Prompt: "a small house by the sea", Negative: "blurry", Seed: uint64(i),
			Steps: diffusionSteps, Width: 512, Height: 512}
	}
	return ready{s.Close, func() (rgb []float32) {
		for i, v := range must(s.Generate(context.Background(), requests, nil))[0].Image.Pix {
			if i%4 < 3 {
				rgb = append(rgb, float32(v))
			}
		}
		return rgb
	}}
}

// textsOf are token ids of n texts for a network.
func textsOf(name string, n int) [][]int32 {
	list := make([][]int32, n)
	for i := range list {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		for range textLength(name) {
			list[i] = append(list[i], int32(5+r.IntN(30000)))
		}
		if name == "clip-text" {
			list[i][0], list[i][tokensOfText-1] = 49406, 49407
		}
	}
	return list
}

// textLength is the length of a network's texts: SigLIP's are filled up to 64 tokens.
func textLength(name string) int {
	if strings.HasPrefix(name, "siglip") {
		return 2 * tokensOfText
	}
	return tokensOfText
}

// fillFolders writes the folders of networks with random weights, the same for a seed, and images of a batch.
func fillFolders(s *session, names []string, batch int) error {
	archive := must(zip.NewReader(bytes.NewReader(folders), int64(len(folders))))
	seed, done := uint64(s.int("seed")), map[string]bool{}
	var group errgroup.Group
	for _, name := range names {
		n := networks[name]
		if n.unit == "texts" {
			check(os.WriteFile(filepath.Join(s.dir, name+".json"), must(json.Marshal(textsOf(name, batch))), 0o600))
		}
		if done[n.folder] {
			continue
		}
		done[n.folder] = true
		group.Go(func() (err error) {
			defer catch(&err)
			check(os.CopyFS(filepath.Join(s.dir, n.folder), must(fs.Sub(archive, n.folder))))
			if err := invent(filepath.Join(s.dir, n.folder), seed); err != nil {
				return fmt.Errorf("%s: %w", n.folder, err)
			}
			var rows [][]float32
			for i := range min(batch, max(1, n.most)) {
				rows = append(rows, noise(rand.New(rand.NewPCG(seed, uint64(i))), n.input[0]*n.input[1]*n.input[2]))
			}
			return s.write(filepath.Join(n.folder, inputFile), rows...)
		})
	}
	return group.Wait()
}

// invent writes the files of weights that shapes.json of a folder lists.
func invent(dir string, seed uint64) (err error) {
	defer catch(&err)
	raw := must(os.ReadFile(filepath.Join(dir, "shapes.json")))
	var files map[string]map[string][]int
	check(json.Unmarshal(raw, &files))
	for file, shapes := range files {
		var list []weights.Tensor
		for name, shape := range shapes {
			list = append(list, weights.Tensor{Name: name, Shape: shape})
		}
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i := range list {
			group.Go(func() error {
				list[i].Data = invented(list[i].Name, list[i].Shape, seed)
				return nil
			})
		}
		_ = group.Wait()
		path := filepath.Join(dir, file)
		check(os.MkdirAll(filepath.Dir(path), 0o700))
		check(weights.Save(path, list, map[string]string{"format": "pt"}, weights.F16))
	}
	return os.Remove(filepath.Join(dir, "shapes.json"))
}

// invented is a tensor's random values: products keep the size of what they multiply, norms and scales are about one.
func invented(name string, shape []int, seed uint64) []float32 {
	h, key := fnv.New64a(), name
	if strings.HasSuffix(name, "positional_embedding") {
		key = "positional_embedding" // SAM 2 has it twice
	}
	_, _ = io.WriteString(h, key)
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	n := 1
	for _, d := range shape {
		n *= d
	}
	mean, scale := 0., 0.02
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case len(shape) == 0, strings.Contains(last, "lambda"), len(shape) == 1 && (last == "weight" || last == "gamma"):
		mean = 1
	case strings.Contains(name, "positional_embedding"): // SAM's frequencies
		scale = 1
	case last == "running_var":
		mean = 1
	case len(shape) > 1 && !strings.Contains(name, "embed") && !strings.Contains(name, "rel_pos"):
		scale = math.Pow(float64(n/shape[0]), -0.5)
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(mean + scale*r.NormFloat64())
	}
	return out
}

package diffusion

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// Safety reports whether images go through the safety checker of their pipeline.
type Safety string

// What becomes of a folder's safety checker.
const (
	SafetyOn     Safety = "on"
	SafetyOff    Safety = "off"    // there is one, and it is not run
	SafetyAbsent Safety = "absent" // the folder has none
)

// The embeddings a StableDiffusionSafetyChecker holds an image against. Their names are not published.
const (
	specialConcepts = 3
	concepts        = 17
)

// checker is a StableDiffusionSafetyChecker: the image tower of a CLIP, and concepts with a threshold each.
type checker struct {
	cfg        *clip.Config // only its vision half means something
	pre        *preprocess.Config
	thresholds []float32 // [3+17], the special ones first
}

// openChecker reads the folders safety_checker and feature_extractor.
func (m *Model) openChecker(classes map[string]string) error {
	if name := classes["safety_checker"]; name != "StableDiffusionSafetyChecker" {
		return fmt.Errorf("%s: safety_checker is %q, not StableDiffusionSafetyChecker", m.files[0], name)
	}
	if name := classes["feature_extractor"]; name != "CLIPFeatureExtractor" &&
		!strings.HasPrefix(name, "CLIPImageProcessor") {
		return fmt.Errorf("%s: feature_extractor is %q, not CLIPImageProcessor", m.files[0], name)
	}
	c := &checker{}
	if err := m.read("safety_checker/config.json",
		func(text []byte) (err error) { c.cfg, err = clip.ParseConfig(text); return err }); err != nil {
		return err
	}
	if c.cfg.ImagesOnly {
		return fmt.Errorf("%s: model_type is not clip", m.files[len(m.files)-1])
	}
	dir := filepath.Join(m.dir, "feature_extractor")
	pre, path, err := preprocess.CLIP.OpenFolder(dir, c.cfg.Vision.ImageSize)
	if err == nil && path == "" {
		err = fmt.Errorf("%s: holds no preprocessor_config.json", dir)
	}
	if err != nil {
		return err
	}
	c.pre, m.files = pre, append(m.files, path)
	set, err := weights.OpenVariant(filepath.Join(m.dir, "safety_checker"), m.variant)
	if err != nil {
		return err
	}
	n := hub.Network{Weights: set, Rules: c.table(set)}
	if err := n.Match(); err != nil {
		return err
	}
	for _, name := range []string{"special_care_embeds_weights", "concept_embeds_weights"} {
		some, err := set.Float32(name)
		if err != nil {
			return err
		}
		c.thresholds = append(c.thresholds, some...)
	}
	m.checker, m.sets[safetyPart], m.files = c, set, append(m.files, set.Files()...)
	return nil
}

// table is the whole correspondence between the checker's checkpoint and the variables of [checker.forward]. Before
// transformers 5 the tower's names began with vision_model twice.
func (c *checker) table(set *weights.Set) []weights.Rule {
	var t weights.Table
	p := c.cfg.ProjectionDim
	for _, r := range clip.ImageRules(c.cfg, "") {
		if strings.HasPrefix(r.Tensor, "vision_model.") && set.Has("vision_model.vision_model.post_layernorm.weight") {
			r.Tensor = "vision_model." + r.Tensor
		}
		t = append(t, r)
	}
	t.As("special_care_embeds", "special/vectors", nil, specialConcepts, p)
	t.As("concept_embeds", "concepts/vectors", nil, concepts, p)
	t = append(t, weights.Rule{Tensor: "special_care_embeds_weights", Shape: []int{specialConcepts}},
		weights.Rule{Tensor: "concept_embeds_weights", Shape: []int{concepts}})
	return t
}

// forward returns the cosine of each image's embedding with each concept, in float32.
//
// Shapes: pixels [B,3,H,W] as the feature extractor prepares them → [B,3+17], the special concepts first.
func (c *checker) forward(scope *model.Scope, pixels *Node) *Node {
	g, p := pixels.Graph(), c.cfg.ProjectionDim
	x := nn.Unit(clip.ForwardImage(scope, c.cfg, pixels, clip.GraphOptions{}).Projected)
	all := Concatenate([]*Node{
		nn.Param(scope.At("special"), g, "vectors", x.DType(), specialConcepts, p),
		nn.Param(scope.At("concepts"), g, "vectors", x.DType(), concepts, p),
	}, 0)
	out := DotGeneral(x, []int{1}, nil, nn.Unit(all), []int{1}, nil)
	out.AssertDims(pixels.Shape().Dim(0), specialConcepts+concepts)
	return out
}

// blocked lists the concepts, from 0, that an image of these cosines is too near to: a cosine is compared with its
// concept's threshold and rounded to thousandths. An image near a special concept is compared with thresholds lower by
// 0.01 from there on. The arithmetic is diffusers' in float32.
//
// Shapes: cosines [3+17] → numbers from 0 to 16, none where the image may be shown.
func (c *checker) blocked(cosines []float32) (list []int) {
	var adjustment float32
	for i, cosine := range cosines {
		score := cosine - c.thresholds[i] + adjustment
		switch near := math.RoundToEven(float64(score*1000)) > 0; {
		case near && i < specialConcepts:
			adjustment = 0.01
		case near:
			list = append(list, i-specialConcepts)
		}
	}
	return list
}

// check returns an image's cosines with the concepts, see [checker.forward], and those that it is too near to.
func (s *Sampler) check(image *preprocess.RGB) (cosines []float32, blocked []int, err error) {
	c := s.m.checker
	side := c.cfg.Vision.ImageSize
	pixels, err := c.pre.Apply(image, side, side)
	if err != nil {
		return nil, nil, fmt.Errorf("safety checker: %w", err)
	}
	out, err := s.graphs[safetyPart].Call(tensors.FromFlatDataAndDimensions(pixels, 1, 3, side, side))
	if err != nil {
		return nil, nil, err
	}
	if cosines, err = runner.Row(out[0], 0, 1); err != nil {
		return nil, nil, fmt.Errorf("safety checker: %w", err)
	}
	return cosines, c.blocked(cosines), nil
}

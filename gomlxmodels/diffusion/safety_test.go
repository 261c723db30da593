package diffusion

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// TestSafetyEqualsReference compares cosines and decisions with diffusers' checker: of images some are blocked, one
// of them for the sake of a special concept alone.
func TestSafetyEqualsReference(t *testing.T) {
	g := openGolden(t, filepath.Join("testdata", "alt9"))
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		s := newSampler(t, backend, g.Model, Options{})
		cosines, decided := g.want.Rows("safety.cosines"), g.want.Rows("safety.decided")
		blocked, helped := 0, 0
		for i := range cosines {
			got, list := must.Get2(s.check(g.want.Image(fmt.Sprintf("safety.picture_%d", i))))(t)
			near.Check(t, fmt.Sprintf("cosines of image %d", i), got, cosines[i], 0, 1e-4)
			var want []int
			for k, v := range decided[i] {
				if v == 1 {
					want = append(want, k)
				}
			}
			must.EqualSlices(t, list, want, "image", i, "blocked for")
			blocked += min(1, len(want))
			unhelped := slices.Clone(cosines[i])
			copy(unhelped, []float32{-1, -1, -1})
			if len(want) > 0 && len(g.checker.blocked(unhelped)) == 0 {
				helped++
			}
		}
		if blocked == 0 || blocked == len(cosines) || helped == 0 {
			t.Errorf("%d of %d blocked, %d for the sake of a special concept: the golden shows nothing", blocked,
				len(cosines), helped)
		}
	})
}

// TestSafetyRounds checks the boundary: scores are rounded to thousandths, half to even.
func TestSafetyRounds(t *testing.T) {
	c := &checker{thresholds: make([]float32, specialConcepts+concepts)}
	for _, v := range []struct {
		special, concept float32
		blocked          bool
	}{
		{0, 0.0005, false}, {0, 0.00051, true}, {0, 0.0004, false}, {0, -0.009, false}, {0.01, -0.009, true},
		{0.0004, -0.009, false}, {0.01, -0.0097, false}, {0.01, -0.0099, false},
	} {
		cosines := slices.Repeat([]float32{-1}, specialConcepts+concepts)
		cosines[1], cosines[specialConcepts+16] = v.special, v.concept
		got := c.blocked(cosines)
		if (len(got) > 0) != v.blocked || v.blocked && got[0] != 16 {
			t.Errorf("%+v: blocked for %v", v, got)
		}
	}
	// A special concept lowers the thresholds of those after it, not of those before.
	cosines := slices.Repeat([]float32{-1}, specialConcepts+concepts)
	cosines[0], cosines[1], cosines[2], cosines[3] = -0.005, 0.02, -0.005, -0.005
	must.Equal(t, len(c.blocked(cosines)), 1, "blocked for")
}

// TestBlockedImages samples the golden's two images, the first of which is blocked; without the checker it is not.
func TestBlockedImages(t *testing.T) {
	g := openGolden(t, filepath.Join("testdata", "alt9"))
	off := must.Get(Open(filepath.Join("testdata", "alt9"), OpenOptions{NoSafetyChecker: true}))(t)
	for _, m := range []*Model{g.Model, off} {
		got := must.Get(newSampler(t, testbackend.Go(t), m, Options{Batch: 2}).Generate(t.Context(), g.requests(),
			nil))(t)
		on := m.Safety() == SafetyOn
		if (got[0].Image == nil) != on || (len(got[0].Blocked) > 0) != on || got[1].Image == nil ||
			len(got[1].Blocked) > 0 {
			t.Errorf("safety %s: %v and %v", m.Safety(), got[0].Blocked, got[1].Blocked)
		}
		if reads := slices.ContainsFunc(m.Files(),
			func(f string) bool { return filepath.Base(filepath.Dir(f)) == "safety_checker" }); reads != on {
			t.Errorf("safety %s: files %v", m.Safety(), m.Files())
		}
	}
}

func TestSafetyOpenRefuses(t *testing.T) {
	const file = "safety_checker/model.safetensors"
	const table = `
rm safety_checker => safety_checker && config.json && no such file && safety checker off
rm safety_checker/model.safetensors => safety_checker: holds no weights && safety checker off
rm feature_extractor => feature_extractor: holds no preprocessor_config.json && safety checker off
model_index.json:feature_extractor=[null,null] => feature_extractor is && safety checker off
model_index.json:safety_checker=["x","WhatChecker"] => WhatChecker && safety checker off
feature_extractor/preprocessor_config.json:crop_size={"height":16,"width":16} => preprocessor_config.json && 16 && safety checker off
safety_checker/config.json:vision_config=null => safety && safety checker off
safety_checker/config.json:model_type=null => safety_checker && model_type && safety checker off
safety_checker/config.json:model_type="altclip" => safety_checker && model_type && safety checker off
drop safety_checker/model.safetensors:concept_embeds => safety_checker/model.safetensors && missing: concept_embeds && safety checker off`
	list := []damage{
		{func(dir string) { os.Truncate(filepath.Join(dir, file), 5000) },
			file + " && cut short && safety checker off"},
		{func(dir string) {
			rewrite(t, dir, file, func(all map[string]weights.Tensor) {
				v := all["concept_embeds_weights"]
				v.Shape, v.Data = []int{16}, v.Data[:16]
				all[v.Name] = v
			})
		}, file + ` && "concept_embeds_weights" has shape [16] && safety checker off`},
		{func(dir string) {
			rewrite(t, dir, file, func(all map[string]weights.Tensor) {
				all["special_care_embeds_weights"].Data[1] = float32(math.NaN())
			})
		}, file + " && special_care_embeds_weights && NaN && safety checker off"},
	}
	refuses(t, "alt9", table, list...)
	opens := func(what, dir string) {
		must.Equal(t, must.Get(Open(dir, OpenOptions{NoSafetyChecker: true}))(t).Safety(), SafetyOff, what,
			"with the checker off")
	}
	for _, d := range list {
		dir := modeltest.CopyOf(t, "alt9")
		d.do(dir)
		opens(d.words, dir)
	}
	modeltest.Model{Folder: "alt9"}.Each(t, table, func(_ *testing.T, dir, want string) { opens(want, dir) })
}

// TestSafetyOldNames reads a checker as saved before transformers 5: the tower's names begin with vision_model twice,
// its positions are numbered, its shape occurs twice, and the sizes of the preprocessing are single numbers.
func TestSafetyOldNames(t *testing.T) {
	dir := modeltest.CopyOf(t, "alt9")
	rewrite(t, dir, "safety_checker/model.safetensors", func(all map[string]weights.Tensor) {
		for name, v := range maps.Clone(all) {
			if strings.HasPrefix(name, "vision_model.") {
				delete(all, name)
				v.Name = "vision_model." + name
				all[v.Name] = v
			}
		}
		all["ids"] = weights.Tensor{Name: "vision_model.vision_model.embeddings.position_ids", Shape: []int{1, 2},
			Data: []float32{0, 1}}
	})
	text := must.Get(os.ReadFile(filepath.Join(dir, "safety_checker", "config.json")))(t)
	var config map[string]any
	must.Do(t, json.Unmarshal(text, &config))
	edit(t, dir, "safety_checker/config.json", map[string]any{"vision_config_dict": config["vision_config"],
		"text_config_dict": map[string]any{"hidden_size": 768, "num_attention_heads": 12}})
	edit(t, dir, "safety_checker/config.json", map[string]any{"vision_config": nil})
	modeltest.Write(t, filepath.Join(dir, "feature_extractor", "preprocessor_config.json"), `{"crop_size": 32, "do_center_crop": true, "do_convert_rgb": true, "do_normalize": true,
		"do_resize": true, "feature_extractor_type": "CLIPFeatureExtractor", "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711], "resample": 3, "size": 32}`)
	edit(t, dir, "model_index.json",
		map[string]any{"feature_extractor": []string{"transformers", "CLIPFeatureExtractor"},
			"safety_checker": []string{"stable_diffusion", "StableDiffusionSafetyChecker"}})
	m := must.Get(Open(dir, OpenOptions{}))(t)
	g := openGolden(t, filepath.Join("testdata", "alt9"))
	got, _ := must.Get2(newSampler(t, testbackend.Go(t), m, Options{}).check(g.want.Image("safety.picture_3")))(t)
	near.Check(t, "cosines", got, g.want.Rows("safety.cosines")[3], 0, 1e-4)
}

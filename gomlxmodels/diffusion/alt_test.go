package diffusion

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// altGoldens are the folders tools/pyref/altdiffusion.py makes: of two languages, and of nine.
var altGoldens = []string{"alt2", "alt9"}

// altTexts are the texts of that script.
var altTexts = []string{prompt, "海边的 <pad> 小房子", "", "समुद्र के किनारे एक छोटा घर",
	strings.Repeat("a very long house ", 30)}

func (c *AltTextConfig) compare(g golden, backend compute.Backend) (worst float64) {
	ids, own := g.want.IntRows("ids"), g.want.IntRows("own")
	var rows [][]*tensors.Tensor
	for i := range ids {
		t := tokens{ids: ids[i], from: slices.Index(own[i], 1), to: len(ids[i])}
		for t.to > 0 && own[i][t.to-1] == 0 {
			t.to--
		}
		rows = append(rows, c.inputs(t))
	}
	args := make([]any, 3) // the texts as one batch
	for k := range args {
		var flat []int32
		for _, row := range rows {
			flat = append(flat, tensors.MustCopyFlatData[int32](row[k])...)
		}
		args[k] = tensors.FromFlatDataAndDimensions(flat, len(rows), len(ids[0]))
	}
	return g.run(backend, textPart, append(append([]string{"text.embedded"}, numbered("text.block_%d", c.used())...),
		"text.context"), func(s *model.Scope, in []*Node) []*Node {
		o := ForwardAltText(s, c, AltTextInputs{IDs: in[0], Positions: in[1], Own: in[2]}, GraphOptions{Stages: true})
		return append(append([]*Node{o.Embedded}, o.Blocks...), o.Context)
	}, args...)
}

// TestAltEqualsReference compares every stage with diffusers, and images of 20 steps.
func TestAltEqualsReference(t *testing.T) {
	for _, name := range altGoldens {
		t.Run(name, func(t *testing.T) {
			g := openGolden(t, filepath.Join("testdata", name))
			checkReference(g, testbackend.Go(t))
			g.withoutChecker()
			checkImages(g, testbackend.Go(t))
		})
	}
}

// withoutChecker turns the safety checker off: the golden's images did not go through it.
func (g *golden) withoutChecker() {
	m := must.Get(Open(g.dir, OpenOptions{NoSafetyChecker: true}))(g.t)
	g.Model = m
}

// TestAltTexts turns texts into the ids of diffusers' run: filled up, empty, cut at the end token, with padding
// written out.
func TestAltTexts(t *testing.T) {
	for _, name := range altGoldens {
		g := openGolden(t, filepath.Join("testdata", name))
		ids, own := g.want.IntRows("ids"), g.want.IntRows("own")
		for i, text := range altTexts {
			got, cut := must.Get2(g.tokens(text, nil))(t)
			n := 0
			for _, v := range own[i] {
				n += int(v)
			}
			if !slices.Equal(got.ids, ids[i]) || got.from != 0 || got.to != n {
				t.Errorf("%s: %q: ids %v, own %d:%d; want %v, %d", name, text, got.ids, got.from, got.to, ids[i], n)
			}
			must.Equal(t, cut, (i == 4 || name == "alt2" && i == 3), name, text, "truncated")
		}
		if _, _, err := g.tokens("\xff\x00\u202e</s><mask> ", nil); err != nil {
			t.Errorf("%s: hostile text: %v", name, err)
		}
	}
}

// TestAltPadding checks what fills texts up: it attends to its text, is not attended with the mask, and is without.
func TestAltPadding(t *testing.T) {
	g := openGolden(t, filepath.Join("testdata", "alt2"))
	c := *g.text.(*AltTextConfig)
	states := func(text string, length int, left bool) []float32 {
		e := must.Get(g.tokenizer.Encode(text, length))(t)
		at := tokens{ids: slices.Repeat([]int32{g.tokenizer.PadID()}, length), to: len(e.IDs)}
		if left {
			at.from, at.to = length-len(e.IDs), length
		}
		copy(at.ids[at.from:], e.IDs)
		args := []any{}
		for _, in := range c.inputs(at) {
			args = append(args, in)
		}
		load := func(store *model.Store) error { return g.load(testbackend.Go(t), store, textPart, dtypes.Float32) }
		out := modeltest.Run(t, testbackend.Go(t), load,
			func(s *model.Scope, in []*Node) []*Node { return []*Node{c.context(s, in, GraphOptions{})} }, args...)[0]
		n := len(e.IDs) * c.ProjectDim
		if left {
			return append(out[len(out)-n:], out[:c.ProjectDim]...)
		}
		return append(out[:n:n], out[len(out)-c.ProjectDim:]...) // the text's own, and the last padding
	}
	short, long, left := states("sea", 12, false), states("sea", 24, false), states("sea", 24, true)
	near.Check(t, "padded further", long, short, 0, 1e-5)
	near.Check(t, "padded on the left", left, short, 0, 1e-5)
	c.Mask = false
	if d, _ := near.Worst(states("sea", 24, false), short); d < 1e-3 {
		t.Errorf("without the mask nothing changes: %g", d)
	}
}

func TestAltOpenRefuses(t *testing.T) {
	const file = "text_encoder/model.safetensors"
	refuses(t, "alt9", `
model_index.json:text_encoder=["transformers","CLIPTextModel"] => model_index.json && CLIPTextModel && RobertaSeriesModelWithTransformation
rm text_encoder/config.json => text_encoder && config.json && no such file
text_encoder/config.json<null => text_encoder && holds no configuration
text_encoder/config.json<[] => text_encoder && not readable
text_encoder/config.json:project_dim=null => cross_attention_dim is 8 && returns 512
text_encoder/config.json:project_dim=0 => project_dim 0
text_encoder/config.json:hidden_size=null => text_encoder/model.safetensors && [51 768]
text_encoder/config.json:num_attention_heads=5 => hidden_size 12 not divisible
text_encoder/config.json:has_pre_transformation=false => text_encoder/model.safetensors && does not use: pre_LN.bias
drop text_encoder/model.safetensors:transformation_pre.weight => text_encoder/model.safetensors && missing: transformation_pre.weight
tokenizer/tokenizer_config.json:model_max_length=null && tokenizer/tokenizer.json:truncation=null => tokenizer && states no model_max_length && 77
tokenizer/tokenizer_config.json:model_max_length=512 => model_max_length is 512 && positions for 78`,
		damage{func(dir string) {
			rewrite(t, dir, file, func(all map[string]weights.Tensor) {
				v := all["roberta.encoder.layer.2.output.dense.bias"]
				v.Shape, v.Data = []int{11}, v.Data[:11]
				all[v.Name] = v
			})
		}, file + ` && "roberta.encoder.layer.2.output.dense.bias" has shape [11]`},
		damage{func(dir string) {
			path := filepath.Join(dir, "tokenizer", "tokenizer.json")
			os.Rename(path, filepath.Join(dir, "tokenizer", "sentencepiece.bpe.model"))
		}, "tokenizer && sentencepiece.bpe.model: not a SentencePiece model, or damaged"})
}

// TestNaN puts a value that is no number among the weights: Open reads headers alone, Load does not take it.
func TestNaN(t *testing.T) {
	for name, file := range map[string]string{"roberta.embeddings.LayerNorm.bias": "text_encoder/model.safetensors",
		"concept_embeds":        "safety_checker/model.safetensors",
		"conv_in.bias":          "unet/diffusion_pytorch_model.safetensors",
		"decoder.conv_out.bias": "vae/diffusion_pytorch_model.safetensors"} {
		dir := modeltest.CopyOf(t, "alt9")
		rewrite(t, dir, file, func(all map[string]weights.Tensor) { all[name].Data[1] = float32(math.NaN()) })
		m := must.Get(Open(dir, OpenOptions{}))(t)
		line(t, newSampler(t, testbackend.Go(t), m, Options{}).Load(), file, name, "NaN")
	}
}

package mindalle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/vqgan"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// goldens are the folders tools/pyref/mindalle.py makes.
var goldens = []string{"tiny", "odd", "deep"}

// folder is a golden's folder with its weights in the files of the release. These are safetensors here; package weights
// reads a file by its content.
func folder(t testing.TB, name string) string {
	t.Helper()
	dir := modeltest.Computed(t, filepath.Join("testdata", name), "stage1")
	for from, to := range map[string]string{"model.safetensors": GPTFile, "stage1/model.safetensors": VQGANFile} {
		must.Do(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
	return dir
}

func openGolden(t testing.TB, name string) (*Model, modeltest.Golden) {
	t.Helper()
	dir := folder(t, name)
	return must.Get(Open(dir))(t), modeltest.Open(t, dir)
}

// TestImages compares greedy tokens with those of the network without a cache, token for token, the logits of every
// step, and pixels.
func TestImages(t *testing.T) {
	testbackend.Each(t, goldens, func(t *testing.T, backend compute.Backend, name string) {
		for _, batch := range []int{1, 4} {
			checkImages(t, backend, name, batch)
		}
	})
}

func checkImages(t *testing.T, backend compute.Backend, name string, batch int) {
	m, g := openGolden(t, name)
	s := must.Get(vqgan.NewSampler(backend, m.Network(), m.VQGAN(), vqgan.SamplerOptions{Batch: batch}))(t)
	defer s.Close()
	var requests []vqgan.Request
	for _, ids := range g.IntRows("ids") {
		requests = append(requests, vqgan.Request{Text: ids})
	}
	logits := make([][]float32, len(requests))
	first := 0 // request of the batch
	results, err := s.Generate(context.Background(), requests, textgen.Options{Trace: func(step int, all [][]float32) {
		for i := first; i < min(first+batch, len(requests)); i++ {
			logits[i] = append(logits[i], all[i-first]...)
		}
		if step == m.Config.ImageLength-1 {
			first += batch
		}
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tokens := g.IntRows("tokens")
	for i, r := range results {
		must.EqualSlices(t, r.Tokens, tokens[i], "image", i, "tokens")
		want := g.Rows("logits")[i]
		near.Check(t, fmt.Sprint("logits ", i), logits[i], want, 1e-4, 2e-4*near.Scale(want))
		for k, v := range g.Rows("image")[i] {
			exact := float64(min(max(0.5*v+0.5, 0), 1) * 255)
			if d := float64(r.Image.Pix[k/3*4+k%3]) - exact; d > 0.1 || d < -1.1 {
				t.Fatalf("image %d, value %d: %v, want %v rounded down", i, k, r.Image.Pix[k/3*4+k%3], exact)
			}
		}
	}
}

// TestTokens compares the tokens of prompts with those of the tokenizers library.
func TestTokens(t *testing.T) {
	for _, name := range goldens {
		m, _ := openGolden(t, name)
		text := must.Get(os.ReadFile(filepath.Join("testdata", name, "texts.json")))(t)
		var list []struct {
			Text string
			IDs  []int32
		}
		if err := json.Unmarshal(text, &list); err != nil || len(list) < 4 {
			t.Fatal(err)
		}
		cut := 0
		for _, c := range list {
			ids, truncated := must.Get2(m.Tokens(c.Text))(t)
			must.EqualSlices(t, ids, c.IDs, c.Text)
			if truncated {
				cut++
			}
		}
		if cut == 0 || cut > 2 {
			t.Errorf("%d texts are truncated", cut)
		}
	}
}

func TestRefuses(t *testing.T) {
	for want, change := range map[string][2]string{
		"config.yaml: stage2: embed_dim 32 not divisible by n_heads 5": {"n_heads: 4", "n_heads: 5"},
		"config.yaml: stage2: mlp_bias false, attn_bias true are not":  {"mlp_bias: True", "mlp_bias: False"},
		`config.yaml: stage2: type "igpt" is not supported`:            {"transformer1d", "igpt"},
		"config.yaml: stage2: ctx_len_img 17 is not the number":        {"ctx_len_img: 16", "ctx_len_img: 17"},
		"config.yaml: stage2: vocab_size_img 91 is not the VQGAN's":    {"vocab_size_img: 90", "vocab_size_img: 91"},
		"config.yaml: stage1: ch 31 not divisible":                     {"ch: 32", "ch: 31"},
		"config.yaml: line 2: \"stage1\" is not read":                  {"stage1:", "stage1"},
		"config.yaml: stage2: json: cannot unmarshal string":           {"n_heads: 4", "n_heads: four"},
		"stage2_last.ckpt: 16 tensors missing: blocks.2.ln1.weight":    {"n_layers: 2", "n_layers: 3"},
		"requires [81 32]":                  {"vocab_size_txt: 80", "vocab_size_txt: 81"},
		"the VQGAN's tokens of an image, 4": {"resolution: 8", "resolution: 4"},
	} {
		dir := folder(t, "tiny")
		path := filepath.Join(dir, ConfigFile)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), change[0]) {
			t.Fatalf("%v: no %q in %s", err, change[0], text)
		}
		modeltest.Write(t, path, strings.Replace(string(text), change[0], change[1], 1))
		must.Fail(Open(dir))(t, want)
	}
	for _, name := range []string{ConfigFile, VQGANFile, GPTFile, "tokenizer/bpe-16k-vocab.json",
		"tokenizer/bpe-16k-merges.txt"} {
		dir := folder(t, "tiny")
		must.Do(t, os.Remove(filepath.Join(dir, name)))
		must.Fail(Open(dir))(t, filepath.Base(name))
	}
}

// TestSuite: what every network has.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Optimized: func(t *testing.T, xla compute.Backend) { checkImages(t, xla, "odd", 4) },
	})
}

// FuzzParseConfig: a configuration that is read is valid.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("stage1:\n  embed_dim: 8\nstage2:\n  vocab_size_txt: 9\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, v, err := ParseConfig(text)
		if err != nil {
			must.Fail(err)(t)
			return
		}
		must.Do(t, c.Validate(v))
	})
}

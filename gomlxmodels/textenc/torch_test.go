package textenc

import (
	"reflect"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/internal/testbackend"
)

// TestTorchWeights compares folders with PyTorch's weights with the same ones with safetensors, bit for bit: XLM-R
// with its head, whose weights are the words' own, sentence-transformers with a dense layer in a folder, and shards.
func TestTorchWeights(t *testing.T) {
	ties := map[string]string{"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
		"lm_head.decoder.bias": "lm_head.bias"}
	for name, pooling := range map[string]Mode{"xlmr-masked-lm": ModeMean, "bert-joined-dense": "",
		"mpnet-bf16-shards": ""} {
		g, dir := openGolden(t, name, pooling), modeltest.CopyOf(t, name)
		modeltest.Torch(t, dir, ties)
		m, err := Open(dir, OpenOptions{Pooling: pooling})
		if err != nil {
			t.Fatal(err)
		}
		modeltest.SameTensors(t, g.Weights, m.Weights, len(g.Weights.Names())-2) // but positions, which are integers
		got := encode(t, newEncoder(t, testbackend.Go(t), m, Options{}), g.texts()...)
		want := encode(t, newEncoder(t, testbackend.Go(t), g.Model, Options{}), g.texts()...)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other vectors", name)
		}
	}
}

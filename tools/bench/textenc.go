package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/textenc"
)

// shortest is the number of tokens of the shortest text.
const shortest = 8

// textencBenchmark measures the way from token ids to vectors.
var textencBenchmark = benchmark{
	about: "sentence embedding of texts of 8 to -longest tokens, against sentence-transformers, which sorts texts by " +
		"length; -model is mpnet, bert (768 wide, 12 layers) or xlmr-large",
	ints:  map[string]int{"n": 128, "repeat": 5, "tokens": textenc.DefaultTokens, "longest": 64, "seed": 1},
	texts: map[string]string{"model": "mpnet"},
	run: func(s *session) error {
		n, longest := s.int("n"), s.int("longest")
		if longest < shortest || longest > 512 {
			return fmt.Errorf("-longest %d is not between %d and 512", longest, shortest)
		}
		r := rand.New(rand.NewPCG(uint64(s.int("seed")), 1))
		texts := make([][]int32, n)
		for i := range texts {
			texts[i] = make([]int32, shortest+r.IntN(longest-shortest+1))
			for j := range texts[i] {
				texts[i][j] = int32(5 + r.IntN(30000))
			}
		}
		raw := must(json.Marshal(texts))
		check(os.WriteFile(filepath.Join(s.dir, "texts.json"), raw, 0o600))
		check(s.begin(s.text("model")))
		m := must(textenc.Open(s.dir, textenc.OpenOptions{}))
		e := must(textenc.NewEncoder(s.device.Backend, m, textenc.Options{Tokens: s.int("tokens")}))
		defer e.Close()
		title := fmt.Sprintf("sentence embedding, %s, texts of %d to %d tokens", s.text("model"), shortest, longest)
		return s.compare(encoding{part{title, "texts", n}, fmt.Sprintf("%d tokens per call", s.int("tokens")), "run",
			[]int{8, 16, 32, 64}, func() (vectors [][]float32, err error) {
				list, err := e.EncodeIDs(context.Background(), texts)
				for _, v := range list {
					vectors = append(vectors, v.Vector)
				}
				return vectors, err
			}})
	},
}

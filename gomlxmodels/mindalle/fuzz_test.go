package mindalle

import (
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
)

// FuzzParseConfig: a configuration that is read is valid.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("stage1:\n  embed_dim: 8\nstage2:\n  vocab_size_txt: 9\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, v, err := ParseConfig(text)
		if err != nil {
			modeltest.CheckLine(t, err, "")
			return
		}
		if err := c.Validate(v); err != nil {
			t.Error(err)
		}
	})
}

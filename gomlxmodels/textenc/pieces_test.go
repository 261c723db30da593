package textenc

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestSentencePiece opens folders of AltCLIP and XLM-R whose tokenizer is a SentencePiece model alone, without a file
// that names its class: config.json's model_type does.
func TestSentencePiece(t *testing.T) {
	var pieces []byte
	for i, text := range []string{"<unk>", "<s>", "</s>", "▁sea", "▁", "s", "e"} {
		var piece []byte
		piece = protowire.AppendString(protowire.AppendTag(piece, 1, protowire.BytesType), text)
		piece = protowire.AppendFixed32(protowire.AppendTag(piece, 2, protowire.Fixed32Type),
			math.Float32bits(-float32(i)))
		kind := []uint64{2, 3, 3, 1, 1, 1, 1}[i]
		piece = protowire.AppendVarint(protowire.AppendTag(piece, 3, protowire.VarintType), kind)
		pieces = protowire.AppendBytes(protowire.AppendTag(pieces, 1, protowire.BytesType), piece)
	}
	for _, name := range []string{"altclip", "xlmr-masked-lm"} {
		dir := modeltest.CopyOf(t, name)
		file := filepath.Join(dir, "sentencepiece.bpe.model")
		must.Do(t, os.WriteFile(file, pieces, 0o600))
		m := must.Get(Open(dir, OpenOptions{}))(t)
		tok := must.Get(m.Tokenizer())(t)
		e, err := tok.Encode("sea see", 0)
		if want := []int32{0, 4, 5, 6, 7, 7, 2}; err != nil || !slices.Equal(e.IDs, want) {
			t.Errorf("%s: ids %v (%v), want %v", name, e.IDs, err, want)
		}
		files := m.Files()
		slices.Sort(files)
		if !slices.Contains(files, file) || len(slices.Compact(slices.Clone(files))) != len(files) {
			t.Errorf("%s: files %v", name, files)
		}
	}
}

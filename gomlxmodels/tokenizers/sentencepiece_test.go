package tokenizers

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"antipode/internal/must"
)

const modelFile = "sentencepiece.bpe.model"

// fromPieces writes the SentencePiece model of a golden (tools/pyref/pieces.py) into a folder.
func fromPieces(t testing.TB, name string) (dir string, all map[string][]byte) {
	t.Helper()
	all = entries(t, filepath.Join("testdata", name+".zip"))
	dir = t.TempDir()
	for _, file := range []string{modelFile, "tokenizer_config.json"} {
		write(t, dir, file, string(all[file]))
	}
	return dir, all
}

// TestPiecesEqualConverted compares with what transformers 4 converts a SentencePiece model to, over 2,000 lines.
func TestPiecesEqualConverted(t *testing.T) {
	for _, name := range []string{"pieces", "pieces-user"} {
		t.Run(name, func(t *testing.T) {
			dir, all := fromPieces(t, name)
			compare(t, mustOpen(t, dir), all)
		})
	}
}

// differing are the lines, from 0, of which the slow tokenizer of transformers 4, which runs SentencePiece itself, and
// the class of transformers 5 have other ids: docs/parity.md explains them.
var differing = map[string][]int{
	"slow": {46, 79, 80, 81, 82, 147, 150, 151, 318, 355, 540, 549, 561, 816, 852, 866, 1042, 1169, 1215, 1220, 1357,
		1514, 1544, 1548, 1647, 1673, 1795, 1963},
	"five": {38},
}

// TestPiecesDifferences allows the listed differences alone, and proves their cause: with SentencePiece's normalization
// the ids of all lines are those of the slow tokenizer, with words that end at all white space those of transformers 5.
func TestPiecesDifferences(t *testing.T) {
	dir, all := fromPieces(t, "pieces")
	texts, converted := lines(t), rows(t, all["ids.txt"])
	for name, want := range differing {
		tok := mustOpen(t, dir)
		if name == "slow" {
			m := must.Get(readSentencePiece(all[modelFile]))(t)
			charsmap := must.Get(newCharsMap(m.charsmap))(t)
			tok.normalize = charsmap.sentencePiece
		} else {
			words := preSpec{Type: "WhitespaceSplit"}
			first := must.Get(words.build())(t)
			tok.pre = append(first, tok.pre...)
		}
		ids, differ := slices.Clone(converted), []int{}
		for row := range strings.Lines(string(all[name+".txt"])) {
			number, row, _ := strings.Cut(row, ":")
			i := must.Get(strconv.Atoi(number))(t)
			ids[i], differ = rows(t, []byte(row))[0], append(differ, i)
		}
		must.EqualSlices(t, differ, want, name, "lines", "differ")
		for i, text := range texts {
			must.EqualSlices(t, encode(t, tok, text, -1).IDs, ids[i], name, "line", i, text)
		}
	}
}

// sameFile compares the tokenizer.json that a SentencePiece model stands for, entry by entry, with the one that
// transformers converted it to.
func sameFile(t *testing.T, model, converted []byte) {
	t.Helper()
	m := must.Get(readSentencePiece(model))(t)
	b := &bare{set: &settings{roles: map[string]string{}}}
	must.Do(t, b.xlmr(m))
	slices.SortFunc(b.Added, func(a, b addedSpec) int { return a.ID - b.ID })
	var want file
	must.Do(t, json.Unmarshal(converted, &want))
	for what, pair := range map[string][2]any{"normalizer": {b.Normalizer, want.Normalizer},
		"pre_tokenizer": {b.PreTokenizer, want.PreTokenizer}, "added_tokens": {b.Added, want.Added},
		"unk_id": {b.Model.UnknownID, want.Model.UnknownID}} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s is %+v, want %+v", what, pair[0], pair[1])
		}
	}
	own := must.Get(b.build(b.set))(t)
	other := must.Get(want.build(b.set))(t)
	must.EqualSlices(t, own.tokens, other.tokens, len(own.tokens), "tokens between")
	must.EqualSlices(t, own.before, other.before, len(own.tokens), "tokens between")
	must.EqualSlices(t, own.after, other.after, len(own.tokens), "tokens between")
	must.EqualSlices(t, own.model.(*unigram).scores, other.model.(*unigram).scores, len(own.tokens), "tokens between")
}

func TestPiecesEntries(t *testing.T) {
	all := entries(t, filepath.Join("testdata", "pieces-user.zip"))
	sameFile(t, all[modelFile], all["converted.json"])
}

// TestRealPieces does it with a real model's folder, which ANTIPODE_XLMR names: one with both files.
func TestRealPieces(t *testing.T) {
	dir := os.Getenv("ANTIPODE_XLMR")
	if dir == "" {
		t.Skip("ANTIPODE_XLMR names no folder with a sentencepiece.bpe.model and its tokenizer.json")
	}
	var files [2][]byte
	for i, name := range []string{modelFile, "tokenizer.json"} {
		files[i] = must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
	}
	sameFile(t, files[0], files[1])
}

// TestPiecesIDs checks the ids that an XLM-R has whatever its pieces are, and those of pieces.
func TestPiecesIDs(t *testing.T) {
	for _, name := range []string{"pieces", "pieces-user"} {
		dir, all := fromPieces(t, name)
		tok := mustOpen(t, dir)
		m := must.Get(readSentencePiece(all[modelFile]))(t)
		n := len(m.pieces)
		for token, id := range map[string]int{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": n + 1,
			m.pieces[3].text: 4, m.pieces[n-1].text: n} {
			must.Equal(t, int(tok.ID(token)), id, name, token, "has id")
		}
		for what, pair := range map[string][2]int32{"start": {tok.StartID(), 0}, "padding": {tok.PadID(), 1},
			"end": {tok.EndID(), 2}, "unknown": {tok.UnknownID(), 3}, "limit": {int32(tok.Limit()), 77},
			"size": {int32(tok.Size()), int32(n + 2)}, "files": {int32(len(tok.Files())), 2}} {
			must.Equal(t, pair[0], pair[1], name, what)
		}
		long := encode(t, tok, strings.Repeat("a boat by the sea ", 60), 0) // truncation keeps the end
		if len(long.IDs) != 77 || long.IDs[0] != 0 || long.IDs[76] != 2 || !long.Truncated {
			t.Errorf("%s: %+v", name, long)
		}
		if e := encode(t, tok, "a  <mask> nets", -1); e.Special != 1 || !slices.Contains(e.IDs, int32(n+1)) ||
			slices.Contains(e.IDs, 3) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// message is a protobuf message of varints, fixed 32-bit numbers (float32), texts and bytes.
type message []byte

func (m message) put(id protowire.Number, value any) message {
	switch v := value.(type) {
	case int:
		return protowire.AppendVarint(protowire.AppendTag(m, id, protowire.VarintType), uint64(v))
	case float32:
		return protowire.AppendFixed32(protowire.AppendTag(m, id, protowire.Fixed32Type), math.Float32bits(v))
	case string:
		return protowire.AppendString(protowire.AppendTag(m, id, protowire.BytesType), v)
	case message:
		return protowire.AppendBytes(protowire.AppendTag(m, id, protowire.BytesType), v)
	}
	panic(value)
}

// tiny is a model of four pieces, and those added.
func tiny(more ...message) message {
	var m message
	for i, text := range []string{"<unk>", "<s>", "</s>", "▁a"} {
		m = m.put(1, message{}.put(1, text).put(2, float32(-i)).put(3, []int{2, 3, 3, 1}[i]))
	}
	for _, p := range more {
		m = m.put(1, p)
	}
	return m
}

// TestPiecesClass finds the class in tokenizer_config.json, else by the model_type of config.json.
func TestPiecesClass(t *testing.T) {
	for _, files := range []map[string]string{
		{"tokenizer_config.json": `{"tokenizer_class": "XLMRobertaTokenizerFast"}`},
		{"config.json": `{"model_type": "altclip"}`}, {"config.json": `{"model_type": "xlm-roberta"}`},
	} {
		dir := t.TempDir()
		write(t, dir, modelFile, string(tiny(message{}.put(1, "b").put(2, float32(-1)).put(99, "later"))))
		for name, text := range files {
			write(t, dir, name, text)
		}
		tok := mustOpen(t, dir)
		ids := encode(t, tok, "ab </s>c", -1).IDs
		must.EqualSlices(t, ids, []int32{0, 4, 5, 2, 3, 2}, files)
		must.Equal(t, len(tok.Files()), 2, files)
	}
}

func TestPiecesRefused(t *testing.T) {
	const damaged = "not a SentencePiece model, or damaged"
	piece := func(text any, kind int) message { return message{}.put(1, text).put(3, kind) }
	for want, model := range map[string]message{
		damaged + ": no piece":                                   {},
		damaged + ": byte 0: field 13 of wire type 4":            []byte("library"),
		damaged + ": byte 30: field 1 of wire type 2":            tiny()[:40],
		"field 1 has wire type 0, not 2":                         message{}.put(1, 7),
		"piece 4: field 1 has wire type 0, not 2":                tiny(piece(3, 1)),
		"piece 4: field 2 has wire type 0, not 5":                tiny(message{}.put(2, 1)),
		`piece 4: "" is no text`:                                 tiny(piece("", 1)),
		`piece 4: "\xff" is no text`:                             tiny(piece("\xff", 1)),
		"piece 4: the score is NaN":                              tiny(piece("b", 1).put(2, float32(math.NaN()))),
		`piece 4, "<0x00>", of type 6 is not supported`:          tiny(piece("<0x00>", 6)),
		`the token "▁a" occurs twice, as 4 and 5`:                tiny(piece("▁a", 1)),
		`the token "<mask>" occurs twice`:                        tiny(piece("<mask>", 4)),
		"piece 0 is not <unk>, as in an XLM-R":                   message{}.put(1, piece("▁a", 1)),
		"a model of type 2, not 1 (Unigram)":                     tiny().put(2, message{}.put(3, 2)),
		"a model with byte_fallback is not":                      tiny().put(2, message{}.put(35, 1)),
		"a normalizer without add_dummy_prefix is not supported": tiny().put(3, message{}.put(3, 0)),
		"a normalizer without escape_whitespaces is not":         tiny().put(3, message{}.put(5, 0)),
		"the normalizer Precompiled has a broken":                tiny().put(3, message{}.put(2, "x")),
		`not read for the tokenizer_class "T5Tokenizer" of `:     nil,
	} {
		dir, class := t.TempDir(), "XLMRobertaTokenizer"
		if model == nil {
			class = "T5Tokenizer"
		}
		write(t, dir, "spiece.model", string(model))
		write(t, dir, "tokenizer_config.json", fmt.Sprintf(`{"tokenizer_class": %q}`, class))
		_, err := Open(dir)
		checkLine(t, err, want)
		checkLine(t, err, dir)
	}
}

// FuzzSentencePiece changes a SentencePiece model: an error or a tokenizer whose ids are in its vocabulary, never a
// panic.
func FuzzSentencePiece(f *testing.F) {
	user := entries(f, filepath.Join("testdata", "pieces-user.zip"))[modelFile]
	for _, model := range [][]byte{user, tiny(), tiny().put(3, message{}.put(2, "\x04\x00\x00\x00\x00\x00\x00\x00a")),
		tiny(message{}.put(1, "<x>").put(3, pieceUser), message{}.put(1, "b").put(2, float32(1e30)))} {
		for i := 1; i <= 8; i++ {
			f.Add(model[:len(model)*i/8])
		}
	}
	f.Fuzz(func(t *testing.T, model []byte) {
		dir := t.TempDir()
		write(t, dir, modelFile, string(model))
		write(t, dir, "tokenizer_config.json", `{"tokenizer_class": "XLMRobertaTokenizer"}`)
		tok, err := Open(dir)
		if err != nil {
			must.Err(t, err)
			return
		}
		e := must.Get(tok.Encode("a  house <x>東 \xff b a\u0301\u0302", 9))(t)
		for _, id := range e.IDs {
			if id < 0 || int(id) >= tok.Size() {
				t.Errorf("id %d of %d", id, tok.Size())
			}
		}
		tok.Decode(e.IDs, false)
	})
}

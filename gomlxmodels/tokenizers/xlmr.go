package tokenizers

import (
	"encoding/json"
	"fmt"
	"slices"
)

// pieces reads a SentencePiece model under the rules of an XLMRobertaTokenizer or a SiglipTokenizer, the classes that
// are known: which ids its pieces have is not in the file. For the first it makes the tokenizer.json that transformers
// 4 converts such a model to.
func (o *opener) pieces(path string, text []byte, set *settings) (*Tokenizer, error) {
	if err := o.readFor(path, set, xlmrClass, siglipClass); err != nil {
		return nil, err
	}
	m, err := readSentencePiece(text)
	if err != nil {
		return nil, fmt.Errorf("%s: not a SentencePiece model, or damaged: %w; get the file again", path, err)
	}
	b := &bare{set: set}
	if set.class == siglipClass {
		return o.siglip(path, b, m)
	}
	if err := b.xlmr(m); err != nil {
		return nil, fmt.Errorf("%s: %w; save the tokenizer as a tokenizer.json", path, err)
	}
	return o.finish(path, b)
}

// check reports what no class supports.
func (m *sentencePiece) check() error {
	switch {
	case m.kind != modelUnigram:
		return fmt.Errorf("a model of type %d, not 1 (Unigram), is not supported", m.kind)
	case m.byteFallback:
		return fmt.Errorf("a model with byte_fallback is not supported")
	case m.plain != "":
		return fmt.Errorf("a normalizer without %s is not supported", m.plain)
	}
	return nil
}

// xlmr makes the tokenizer.json of an XLM-R. Pieces have their id in the SentencePiece model + 1, but for its first
// three, which make room for four special tokens; <mask> is last.
func (b *bare) xlmr(m *sentencePiece) error {
	own := []piece{{"<unk>", 0, pieceUnknown}, {"<s>", 0, pieceControl}, {"</s>", 0, pieceControl}}
	for i, p := range own {
		if len(m.pieces) <= i || m.pieces[i].text != p.text || m.pieces[i].kind != p.kind {
			return fmt.Errorf("piece %d is not %s, as in an XLM-R", i, p.text)
		}
	}
	if err := m.check(); err != nil {
		return err
	}
	list := [][2]any{{"<s>", 0}, {"<pad>", 0}, {"</s>", 0}, {"<unk>", 0}}
	for i, p := range m.pieces[len(own):] {
		switch p.kind {
		case pieceNormal, pieceUnused:
		case pieceControl, pieceUser:
			b.put(addedSpec{ID: len(list), Content: p.text, Special: p.kind == pieceControl})
		default:
			return fmt.Errorf("piece %d, %q, of type %d is not supported", i+len(own), p.text, p.kind)
		}
		list = append(list, [2]any{p.text, float64(p.score)})
	}
	list = append(list, [2]any{"<mask>", 0})
	b.vocab = make(map[string]int, len(list))
	for id, entry := range list {
		b.vocab[entry[0].(string)] = id
	}
	vocab, err := json.Marshal(list)
	if err != nil {
		return err
	}
	start, end, unknown, runs, split := tokenID(0), tokenID(2), int32(3), " {2,}", true
	b.Model = modelSpec{Type: "Unigram", Vocab: vocab, UnknownID: &unknown}
	normal := []normalSpec{{Type: "Strip", Right: true},
		{Type: "Replace", Pattern: pattern{Regex: &runs}, Content: "▁"}}
	if len(m.charsmap) > 0 {
		normal = slices.Insert(normal, 0, normalSpec{Type: "Precompiled", Charsmap: m.charsmap})
	}
	b.Normalizer = &normalSpec{Type: "Sequence", Normalizers: normal}
	b.PreTokenizer = &preSpec{Type: "Metaspace", Replacement: "▁", PrependScheme: "always", Split: &split}
	b.Decoder = &decoderSpec{Type: "Metaspace", Replacement: "▁", Scheme: "always"}
	b.PostProcessor = &postSpec{Type: "RobertaProcessing", Start: start, End: end}
	for _, role := range [][2]string{{"bos_token", "<s>"}, {"eos_token", "</s>"}, {"unk_token", "<unk>"},
		{"sep_token", "</s>"}, {"cls_token", "<s>"}, {"pad_token", "<pad>"}} {
		b.special(role[0], role[1])
	}
	b.mask()
	return nil
}

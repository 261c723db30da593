package tokenizers

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// sentencePiece is what a SentencePiece model says: its ModelProto, as far as a tokenizer needs it.
type sentencePiece struct {
	pieces       []piece // by id
	kind         uint64  // model_type of the trainer
	byteFallback bool
	charsmap     []byte // precompiled_charsmap of the normalizer, empty = none
	plain        string // the normalizer's first option that XLM-R's does not have, "" = none
}

// piece is a token of a SentencePiece model.
type piece struct {
	text  string
	score float32
	kind  uint64
}

// The types of pieces, and of models.
const (
	pieceNormal  = 1
	pieceUnknown = 2
	pieceControl = 3
	pieceUser    = 4
	pieceUnused  = 5

	modelUnigram = 1
)

// field is a field of a protobuf message: bytes of a length-delimited one, number of all others.
type field struct {
	id     protowire.Number
	kind   protowire.Type
	bytes  []byte
	number uint64
}

// has reports a field of that number; one of another wire type is an error.
func (f *field) has(id protowire.Number, kind protowire.Type) (bool, error) {
	if f.id == id && f.kind != kind {
		return false, fmt.Errorf("field %d has wire type %d, not %d", id, f.kind, kind)
	}
	return f.id == id, nil
}

// fields calls use for each field of a message.
func fields(message []byte, use func(f *field) error) error {
	for at := 0; at < len(message); {
		var f field
		var n int
		f.id, f.kind, n = protowire.ConsumeTag(message[at:])
		if n < 0 {
			return fmt.Errorf("byte %d: no field", at)
		}
		value := message[at+n:]
		size := -1
		switch f.kind {
		case protowire.VarintType:
			f.number, size = protowire.ConsumeVarint(value)
		case protowire.Fixed32Type:
			var v uint32
			v, size = protowire.ConsumeFixed32(value)
			f.number = uint64(v)
		case protowire.Fixed64Type:
			f.number, size = protowire.ConsumeFixed64(value)
		case protowire.BytesType:
			f.bytes, size = protowire.ConsumeBytes(value)
		}
		if size < 0 {
			return fmt.Errorf("byte %d: field %d of wire type %d is damaged or cut short", at, f.id, f.kind)
		}
		if err := use(&f); err != nil {
			return err
		}
		at += n + size
	}
	return nil
}

// readSentencePiece reads a SentencePiece model. Fields that it does not need are skipped.
func readSentencePiece(model []byte) (*sentencePiece, error) {
	m := &sentencePiece{kind: modelUnigram}
	parts := []func([]byte) error{1: m.piece, 2: m.trainer, 3: m.normalizer}
	err := fields(model, func(f *field) error {
		if int(f.id) >= len(parts) {
			return nil
		}
		if _, err := f.has(f.id, protowire.BytesType); err != nil {
			return err
		}
		return parts[f.id](f.bytes)
	})
	switch {
	case err != nil:
		return nil, err
	case len(m.pieces) == 0:
		return nil, errors.New("no piece")
	}
	return m, nil
}

func (m *sentencePiece) piece(message []byte) error {
	p := piece{kind: pieceNormal}
	err := fields(message, func(f *field) error {
		text, err1 := f.has(1, protowire.BytesType)
		score, err2 := f.has(2, protowire.Fixed32Type)
		kind, err3 := f.has(3, protowire.VarintType)
		switch {
		case text:
			p.text = string(f.bytes)
		case score:
			p.score = math.Float32frombits(uint32(f.number))
		case kind:
			p.kind = f.number
		}
		return errors.Join(err1, err2, err3) // at most one
	})
	switch id := len(m.pieces); {
	case err != nil:
		return fmt.Errorf("piece %d: %w", id, err)
	case id > most:
		return fmt.Errorf("more than %d pieces", most)
	case p.text == "" || !utf8.ValidString(p.text):
		return fmt.Errorf("piece %d: %q is no text", id, p.text)
	case p.score-p.score != 0:
		return fmt.Errorf("piece %d: the score is %v", id, p.score)
	}
	m.pieces = append(m.pieces, p)
	return nil
}

// trainer reads a TrainerSpec message.
func (m *sentencePiece) trainer(message []byte) error {
	return fields(message, func(f *field) error {
		kind, err1 := f.has(3, protowire.VarintType)
		fallback, err2 := f.has(35, protowire.VarintType)
		switch {
		case kind:
			m.kind = f.number
		case fallback:
			m.byteFallback = f.number != 0
		}
		return errors.Join(err1, err2)
	})
}

// normalizer reads a NormalizerSpec message.
func (m *sentencePiece) normalizer(message []byte) error {
	return fields(message, func(f *field) error {
		if charsmap, err := f.has(2, protowire.BytesType); charsmap || err != nil {
			m.charsmap = f.bytes
			return err
		}
		for id, name := range map[protowire.Number]string{3: "add_dummy_prefix", 4: "remove_extra_whitespaces",
			5: "escape_whitespaces"} {
			option, err := f.has(id, protowire.VarintType)
			if err != nil {
				return err
			}
			if option && f.number == 0 {
				m.plain = name
			}
		}
		return nil
	})
}

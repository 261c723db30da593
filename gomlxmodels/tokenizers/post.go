package tokenizers

import (
	"encoding/json"
	"fmt"
)

// postSpec is a post_processor of tokenizer.json: the special tokens around one text.
type postSpec struct {
	Type       string               `json:"type"`
	Processors []postSpec           `json:"processors"`
	Single     []postItem           `json:"single"`
	Special    map[string]postToken `json:"special_tokens"`
	Start      tokenID              `json:"cls"`
	End        tokenID              `json:"sep"`
}

// postItem is a part of a template: a special token or the text.
type postItem struct {
	SpecialToken *postName
	Sequence     *postName
}

// postName names a special token or a text.
type postName struct {
	ID string `json:"id"`
}

// postToken are the ids of a special token of a template.
type postToken struct {
	IDs []int32 `json:"ids"`
}

// tokenID is ["token", id].
type tokenID int32

func (t *tokenID) UnmarshalJSON(text []byte) error {
	pair := [2]any{new(string), (*int32)(t)}
	return json.Unmarshal(text, &pair)
}

// build puts the special tokens around what is around a text already.
func (s *postSpec) build(t *Tokenizer) error {
	var before, after []int32
	switch s.Type {
	case "ByteLevel": // offsets only
	case "BertProcessing", "RobertaProcessing":
		before, after = []int32{int32(s.Start)}, []int32{int32(s.End)}
	case "TemplateProcessing":
		into, texts := &before, 0
		for _, item := range s.Single {
			switch {
			case item.Sequence != nil:
				into = &after
				texts++
			case item.SpecialToken != nil:
				token, ok := s.Special[item.SpecialToken.ID]
				if !ok {
					return fmt.Errorf("the post_processor's token %q is not among its special_tokens",
						item.SpecialToken.ID)
				}
				*into = append(*into, token.IDs...)
			}
		}
		if texts != 1 {
			return fmt.Errorf("the post_processor's template has the text %d times", texts)
		}
	case "Sequence":
		for i := range s.Processors {
			if err := s.Processors[i].build(t); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("the post_processor %q is not supported", s.Type)
	}
	for _, id := range append(append([]int32{}, before...), after...) {
		if id < 0 || int(id) >= len(t.tokens) {
			return fmt.Errorf("the post_processor's token id %d is beyond the %d of the vocabulary", id, len(t.tokens))
		}
	}
	t.before = append(before, t.before...)
	t.after = append(t.after, after...)
	return nil
}

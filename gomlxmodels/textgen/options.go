package textgen

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Early says when a beam search ends: transformers' early_stopping.
type Early string

// The ways to end a beam search.
const (
	// False: when the best open beam, at its present length, is no better than the worst finished caption
	Heuristic Early = ""
	AtOnce    Early = "true"  // True: when as many captions are finished as there are beams
	Never     Early = "never" // "never": when no open beam can become better, at any length
)

// Options are the options of text generation; the names in parentheses are those of transformers. The zero value of a
// field is its default.
type Options struct {
	// Ends are the tokens that end a text (eos_token_id), none twice; at least one, unless MinTokens is MaxTokens
	Ends      []int32
	MaxTokens int // largest number of tokens, the end included (max_new_tokens); at least 1
	MinTokens int // number of tokens before an end token is allowed (min_new_tokens)
	Limit     int // only tokens below it are written; 0 = all. Not for beam search

	// RepetitionPenalty divides the logits of tokens that prompt or text contain already, or multiplies negative ones
	// (repetition_penalty); 0 and 1 = off. Beam search applies it to log-probabilities, as transformers does.
	RepetitionPenalty float64

	Sample      bool    // sample tokens (do_sample) instead of taking the most probable
	Temperature float64 // logits are divided by it; 0 = 1
	TopK        int     // sample from the K most probable tokens; 0 = all
	TopP        float64 // sample from the fewest tokens whose probabilities reach P; 0 and 1 = all

	Beams int // num_beams; 0 and 1 = no beam search
	// a text's score is its log-probability divided by its length to this power (length_penalty, there 1 by default)
	LengthPenalty float64
	Early         Early

	// texts per group (num_return_sequences): with beams the best ones, if sampled any number, else 1; 0 = 1
	Number int

	// Trace is called with every step's logits, a slice per row, before any option changes them, padding rows
	// included.
	Trace func(step int, logits [][]float32)
}

// Width returns N, the number of rows per group.
func (s *Options) Width() int {
	if s.Beams > 1 {
		return s.Beams
	}
	return max(1, s.Number)
}

// ends reports whether a token ends a text.
func (s *Options) ends(id int32) bool { return slices.Contains(s.Ends, id) }

// forbid sets the scores of the end tokens to −∞; scores may be those of the first tokens alone.
func (s *Options) forbid(scores []float32) {
	for _, id := range s.Ends {
		if int(id) < len(scores) {
			scores[id] = float32(math.Inf(-1))
		}
	}
}

// candidates is the number of continuations that a step of a beam search considers: enough that as many beams stay open
// if all others end.
func (s *Options) candidates() int { return (1 + len(s.Ends)) * s.Beams }

// maxWidth is the upper bound of beams and texts per group.
const maxWidth = 512

// Validate reports the first option that is invalid for a vocabulary of V tokens.
func (s *Options) Validate(vocab int) error {
	finite := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
	switch {
	case len(s.Ends) == 0 && (s.MinTokens != s.MaxTokens || s.Beams > 1):
		return errors.New("no token ends a text")
	case slices.ContainsFunc(s.Ends, func(id int32) bool { return id < 0 || int(id) >= vocab }):
		return fmt.Errorf("the end tokens %v are not all among the %d tokens", s.Ends, vocab)
	case s.MaxTokens < 1:
		return fmt.Errorf("max tokens %d: must be at least 1", s.MaxTokens)
	case s.MinTokens < 0 || s.MinTokens > s.MaxTokens:
		return fmt.Errorf("min tokens %d: must be between 0 and max tokens, %d", s.MinTokens, s.MaxTokens)
	case s.Limit < 0 || s.Limit > vocab:
		return fmt.Errorf("limit %d: must be between 0 and the number of tokens, %d", s.Limit, vocab)
	case s.Limit > 0 && s.Beams > 1:
		return errors.New("beam search takes no limit")
	case !finite(s.RepetitionPenalty):
		return fmt.Errorf("repetition penalty %v: must be positive", s.RepetitionPenalty)
	case !finite(s.Temperature):
		return fmt.Errorf("temperature %v: must be positive", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("top-k %d: must not be negative", s.TopK)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return fmt.Errorf("top-p %v: must be between 0 and 1", s.TopP)
	case s.Beams < 0 || s.Number < 0 || s.Width() > maxWidth:
		return fmt.Errorf("%d beams, %d texts: must be between 0 and %d", s.Beams, s.Number, maxWidth)
	case s.Beams > 1 && s.Sample:
		return errors.New("beam search does not sample tokens")
	case !s.Sample && (s.Temperature != 0 && s.Temperature != 1 || s.TopK != 0 || s.TopP != 0 && s.TopP != 1):
		return errors.New("temperature, top-k and top-p are for sampled tokens")
	case s.Beams > 1 && s.Number > s.Beams:
		return fmt.Errorf("%d texts of %d beams: a search returns at most as many as it has beams", s.Number, s.Beams)
	case s.Beams > 1 && vocab <= s.candidates():
		return fmt.Errorf("%d beams are too many for %d tokens", s.Beams, vocab)
	case s.Beams <= 1 && !s.Sample && s.Number > 1:
		return fmt.Errorf("%d texts: greedy search returns one; sample, or use beams", s.Number)
	case math.IsNaN(s.LengthPenalty) || math.IsInf(s.LengthPenalty, 0):
		return fmt.Errorf("length penalty %v: must be finite", s.LengthPenalty)
	case s.Early != Heuristic && s.Early != AtOnce && s.Early != Never:
		return fmt.Errorf("early stopping %q: must be %q, %q or empty", s.Early, AtOnce, Never)
	}
	return nil
}

// Request is the prompt of a group's texts.
type Request struct {
	Prompt []int32  // the first tokens, the start token included; at least one
	Seeds  []uint64 // of each sampled text; Options.Width says how many
}

// Text is one generated text.
type Text struct {
	Tokens []int32 // without prompt and end
	Ended  bool    // the end was written; otherwise MaxTokens stopped it
	// LogProb is the natural logarithm of the probability that the network, without any option, assigns to the
	// tokens and the end.
	LogProb float64
	Score   float64 // of a beam search: by which texts are ranked (sequences_scores); else 0
}

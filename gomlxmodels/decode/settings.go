package decode

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
	Heuristic Early = ""      // False: when the best open beam, at its present length, is no better than the worst finished caption
	AtOnce    Early = "true"  // True: when as many captions are finished as there are beams
	Never     Early = "never" // "never": when no open beam can become better, at whatever length
)

// Settings say how texts are written; names in brackets are transformers'. The zero value of a field is its default.
type Settings struct {
	Ends      []int32 // the tokens that end a text (eos_token_id); at least one, none twice
	MaxTokens int     // most tokens written, the end included (max_new_tokens); at least 1
	MinTokens int     // no end is written before so many tokens (min_new_tokens)

	// RepetitionPenalty divides the logits of tokens that stand in prompt or text already, or multiplies negative ones
	// (repetition_penalty); 0 and 1 = off. Beam search applies it to log-probabilities, as transformers does.
	RepetitionPenalty float64

	Sample      bool    // draw tokens (do_sample) rather than take the likeliest
	Temperature float64 // logits are divided by it; 0 = 1
	TopK        int     // draw from the K likeliest tokens; 0 = all
	TopP        float64 // draw from the fewest tokens whose probabilities reach P; 0 and 1 = all

	Beams         int     // num_beams; 0 and 1 = no beam search
	LengthPenalty float64 // a text's score is its log-probability divided by its length to this power (length_penalty, there 1 by default)
	Early         Early

	Number int // texts of each group (num_return_sequences): with beams the best, without and drawn any number, else 1; 0 = 1

	// Trace is called with every step's logits, a slice a row, before any setting changes them. Rows that fill up a call are among them.
	Trace func(step int, logits [][]float32)
}

// Width is N, the rows a group takes.
func (s *Settings) Width() int {
	if s.Beams > 1 {
		return s.Beams
	}
	return max(1, s.Number)
}

// ends says that a token ends a text.
func (s *Settings) ends(id int32) bool { return slices.Contains(s.Ends, id) }

// forbid takes the ends out of scores.
func (s *Settings) forbid(scores []float32) {
	for _, id := range s.Ends {
		scores[id] = float32(math.Inf(-1))
	}
}

// candidates is how many continuations a step of a beam search looks at: so many that as many beams stay open, whatever ends.
func (s *Settings) candidates() int { return (1 + len(s.Ends)) * s.Beams }

// maxWidth bounds beams and texts of a group in one call.
const maxWidth = 512

// Validate says what is wrong with the settings for a vocabulary of V tokens.
func (s *Settings) Validate(vocab int) error {
	finite := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
	switch {
	case len(s.Ends) == 0:
		return errors.New("no token ends a text")
	case slices.ContainsFunc(s.Ends, func(id int32) bool { return id < 0 || int(id) >= vocab }):
		return fmt.Errorf("the end tokens %v are not all among the %d tokens", s.Ends, vocab)
	case s.MaxTokens < 1:
		return fmt.Errorf("a most of %d tokens: it is at least 1", s.MaxTokens)
	case s.MinTokens < 0 || s.MinTokens > s.MaxTokens:
		return fmt.Errorf("a least of %d tokens: it is between 0 and the most, %d", s.MinTokens, s.MaxTokens)
	case !finite(s.RepetitionPenalty):
		return fmt.Errorf("repetition penalty %v: it is a positive number", s.RepetitionPenalty)
	case !finite(s.Temperature):
		return fmt.Errorf("temperature %v: it is a positive number", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("top-k %d: it is a number of tokens", s.TopK)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return fmt.Errorf("top-p %v: it is a probability", s.TopP)
	case s.Beams < 0 || s.Number < 0 || s.Width() > maxWidth:
		return fmt.Errorf("%d beams, %d texts: both are between 0 and %d", s.Beams, s.Number, maxWidth)
	case s.Beams > 1 && s.Sample:
		return errors.New("beams and drawing of tokens exclude each other")
	case !s.Sample && (s.Temperature != 0 && s.Temperature != 1 || s.TopK != 0 || s.TopP != 0 && s.TopP != 1):
		return errors.New("temperature, top-k and top-p are for drawn tokens")
	case s.Beams > 1 && s.Number > s.Beams:
		return fmt.Errorf("%d texts of %d beams: a search gives at most as many as it has beams", s.Number, s.Beams)
	case s.Beams > 1 && vocab <= s.candidates():
		return fmt.Errorf("%d beams are too many for %d tokens", s.Beams, vocab)
	case s.Beams <= 1 && !s.Sample && s.Number > 1:
		return fmt.Errorf("%d texts: the likeliest tokens give one; draw them, or search with beams", s.Number)
	case math.IsNaN(s.LengthPenalty) || math.IsInf(s.LengthPenalty, 0):
		return fmt.Errorf("length penalty %v: it is a number", s.LengthPenalty)
	case s.Early != Heuristic && s.Early != AtOnce && s.Early != Never:
		return fmt.Errorf("early stopping %q: it is %q, %q or nothing", s.Early, AtOnce, Never)
	}
	return nil
}

// Request is what a group's texts are written from.
type Request struct {
	Prompt []int32  // the first tokens, the start token included; at least one
	Seeds  []uint64 // of each drawn text; the rest of Settings says how many
}

// Text is one text, written.
type Text struct {
	Tokens []int32 // without prompt and end
	Ended  bool    // the end was written; otherwise MaxTokens stopped it
	// LogProb is the natural logarithm of the probability that the network itself, without any setting, gives the tokens and the end.
	LogProb float64
	Score   float64 // of a beam search: what texts were compared by (sequences_scores); 0 otherwise
}

package textgen

import (
	"cmp"
	"math"
	"slices"
)

// far is the score that transformers uses for hypotheses that must not be chosen.
const far = -1e9

// hypothesis is a text of a beam search, open or finished. Scores are float32, as transformers keeps them, so that
// the same additions round the same way.
type hypothesis struct {
	text  Text
	score float32
	done  bool    // finished, in a list of finished ones
	seen  []bool  // as row.seen
	beam  int     // the open beam it continues
	token int32   // what it continues it with
	raw   float64 // the network's own log-probability of token
}

// search is the beam search of one group.
type search struct {
	open     []hypothesis // by descending score
	finished []hypothesis // by descending score
	over     bool
	logs     []float32 // log-probabilities of one beam
}

func (s *Options) newSearch(seen []bool) *search {
	b := &search{open: make([]hypothesis, s.Beams), finished: make([]hypothesis, s.Beams)}
	for i := range s.Beams {
		b.open[i] = hypothesis{seen: slices.Clone(seen)}
		b.finished[i].score = far
		if i > 0 {
			b.open[i].score = far // all beams begin alike: the first alone is continued
		}
	}
	return b
}

// step takes the logits of the open beams after step tokens (from 0) and returns which beam each new one continues, and
// with which token.
func (s *Options) step(b *search, step int, logits [][]float32) (parents []int, tokens []int32, err error) {
	best := make([]hypothesis, 0, s.candidates()+1)
	for i := range b.open {
		if best, err = s.continuations(b, i, step, logits[i], best); err != nil {
			return nil, nil, err
		}
	}
	length := float32(math.Pow(float64(step+1), s.LengthPenalty))
	next := slices.Clone(best)
	for i, c := range best {
		if !s.ends(c.token) && step+1 < s.MaxTokens {
			continue
		}
		next[i].score += far
		if i >= s.Beams { // those only replace open beams
			continue
		}
		c.done, c.score = true, c.score/length
		c.text = s.extend(b.open[c.beam].text, c)
		b.finished = append(b.finished, c)
	}
	byScore := func(x, y hypothesis) int { return cmp.Compare(y.score, x.score) }
	slices.SortStableFunc(b.finished, byScore)
	b.finished = b.finished[:s.Beams]
	slices.SortStableFunc(next, byScore)
	open := make([]hypothesis, s.Beams)
	for i, c := range next[:s.Beams] {
		c.text = s.extend(b.open[c.beam].text, c)
		if c.seen = slices.Clone(b.open[c.beam].seen); c.seen != nil {
			c.seen[c.token] = true
		}
		open[i] = c
		parents, tokens = append(parents, c.beam), append(tokens, c.token)
	}
	b.open = open
	s.judge(b, step+1)
	return parents, tokens, nil
}

// continuations adds beam i's best ones to a list of as many candidates, by descending score.
func (s *Options) continuations(b *search, i, step int, logits []float32, best []hypothesis) ([]hypothesis, error) {
	total, err := logSum(logits)
	if err != nil {
		return nil, err
	}
	b.logs = b.logs[:0]
	for _, v := range logits {
		b.logs = append(b.logs, float32(float64(v)-total))
	}
	if s.penalty() {
		penalize(b.logs, b.open[i].seen, s.RepetitionPenalty)
	}
	if step < s.MinTokens {
		s.forbid(b.logs)
	}
	most := s.candidates()
	for id, v := range b.logs {
		score := v + b.open[i].score
		if len(best) == most && score <= best[most-1].score {
			continue
		}
		at := len(best)
		for at > 0 && score > best[at-1].score {
			at--
		}
		best = slices.Insert(best, at, hypothesis{score: score, beam: i, token: int32(id),
			raw: float64(logits[id]) - total})
		best = best[:min(most, len(best))]
	}
	return best, nil
}

// extend is a text with one token more; the end is not among its tokens.
func (s *Options) extend(t Text, c hypothesis) Text {
	t.LogProb += c.raw
	if s.ends(c.token) {
		t.Ended = true
		return t
	}
	t.Tokens = append(slices.Clone(t.Tokens), c.token)
	return t
}

// judge decides whether the search is over after a number of tokens: no open beam may still become better than what is
// finished, or the options end it.
func (s *Options) judge(b *search, tokens int) {
	length := float64(tokens)
	if s.Early == Never && s.LengthPenalty > 0 {
		length = float64(s.MaxTokens)
	}
	possible := b.open[0].score / float32(math.Pow(length, s.LengthPenalty))
	worst := b.finished[s.Beams-1] // not yet a text, of score far, while fewer are finished than there are beams
	b.over = possible <= worst.score || worst.done && s.Early == AtOnce || tokens == s.MaxTokens
}

// texts are the best finished ones.
func (s *Options) texts(b *search) []Text {
	out := make([]Text, max(1, s.Number))
	for i := range out {
		out[i] = b.finished[i].text
		out[i].Score = float64(b.finished[i].score)
	}
	return out
}

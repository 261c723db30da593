package dallemini

import (
	"math"
	"regexp"
	"strings"
)

// words splits text without spaces into words.
type words struct {
	cost    map[string]float64 // the logarithm of a word's rank
	longest int
}

// readWords reads lines of a word and its frequency, the most frequent first.
func readWords(text string) *words {
	w := &words{cost: map[string]float64{}}
	rank := 0
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		rank++
		w.cost[fields[0]] = math.Log(float64(rank))
		w.longest = max(w.longest, len([]rune(fields[0])))
	}
	return w
}

var notWord = regexp.MustCompile(`[^a-z0-9']+`)

// split returns the words of a text of ASCII in lower case, with spaces between them.
func (w *words) split(text string) string {
	var out []string
	for _, part := range notWord.Split(text, -1) {
		out = append(out, w.best(part)...)
	}
	return strings.Join(out, " ")
}

// best returns the words of least total cost. What is no word has an infinite cost, so that its characters are words;
// neighboring numbers are joined.
func (w *words) best(s string) []string {
	total, length := make([]float64, len(s)+1), make([]int, len(s)+1) // of the best split of the first i characters
	for i := 1; i <= len(s); i++ {
		total[i] = math.Inf(1)
		for k := 1; k <= min(i, w.longest); k++ {
			cost, known := w.cost[s[i-k:i]]
			if !known {
				cost = math.Inf(1)
			}
			if c := total[i-k] + cost; k == 1 || c < total[i] {
				total[i], length[i] = c, k
			}
		}
	}
	digit := func(b byte) bool { return b >= '0' && b <= '9' }
	var out []string // from the last to the first
	for i := len(s); i > 0; i -= length[i] {
		word := s[i-length[i] : i]
		if n := len(out); n > 0 && word != "'" && (out[n-1] == "'s" || digit(s[i-1]) && digit(out[n-1][0])) {
			out[n-1] = word + out[n-1]
		} else {
			out = append(out, word)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

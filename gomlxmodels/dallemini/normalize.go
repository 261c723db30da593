package dallemini

import (
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// NormalizerVersion is part of the digest of images whose prompts were normalized.
const NormalizerVersion = 1

// WordsFile has the words of English with their frequencies, the most frequent first; hashtags are split by it.
const WordsFile = "enwiki-words-frequency.txt"

// Normalizer converts prompts as the texts were converted that the model was trained on: to ASCII, in lower case, with
// commas for punctuation. It follows dalle-mini's TextNormalizer, step by step. Two things differ: a character outside
// the Latin script and common punctuation is an error, where the original transliterates it by the tables of Unidecode,
// and <person> becomes "a person", where the original chooses among three words at random.
type Normalizer struct {
	words *words // nil = the folder has no [WordsFile]
}

// openNormalizer reads the words of a folder. files are what was read.
func openNormalizer(dir string) (n *Normalizer, files []string, err error) {
	path := filepath.Join(dir, WordsFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Normalizer{}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &Normalizer{readWords(string(text))}, []string{path}, nil
}

// step replaces the matches of an expression.
type step struct {
	of   *regexp.Regexp
	with string
}

func steps(pairs ...string) (out []step) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, step{regexp.MustCompile(pairs[i]), pairs[i+1]})
	}
	return out
}

func apply(list []step, text string) string {
	for _, s := range list {
		text = s.of.ReplaceAllString(text, s.with)
	}
	return text
}

// dot, quote and slash protect characters from the replacement of punctuation.
const dot, quote, slash = "xtokxdotxtokx", "xtokxquotextokx", "xtokxslashxtokx"

var (
	early = steps(
		`<person>([,\s]*(and)*[,\s]*<person>)+`, " people ", `<person>`, " a person ",
		`\A\s*\[\d+\]`, "", `\[\d+\]\s*\z`, "", // references of Wikipedia
		`<[^<]+?>`, "", `http\S+`, "",
		`(\d),(\d{3})`, "${1}${2}", `(\d),(\d{3})`, "${1}${2}",
		`(\w)\.(\w)`, "${1}"+dot+"${2}", `'([stdm]|ll|re|ve)\b`, quote+"${1}", `(\d)/(\d)`, "${1}"+slash+"${2}",
		`(\w)-(\w)`, "${1} ${2}", `([%&/$*])`, " ${1} ")
	hashtag = regexp.MustCompile(`#(\w+)`)
	late    = steps(`[_#\\]`, " ", "['\"`]", ` " `, `[()\[\].,|:;?!=+~\-/{}]`, ",", dot, ".", quote, "'", slash, "/")
	last    = steps(`(\s*"+\s*)+`, ` " `, `(\s*,+\s*)+`, ", ", `\s+`, " ")
)

// Normalize converts a prompt. The error of a prompt that is not supported names its characters.
func (n *Normalizer) Normalize(prompt string) (string, error) {
	text, err := ascii(html.UnescapeString(html.UnescapeString(prompt)))
	if err != nil {
		return "", err
	}
	text = apply(early, strings.ToLower(text))
	if n.words == nil && hashtag.MatchString(text) {
		return "", fmt.Errorf("the prompt has a hashtag, which is split by word frequencies. Fix: put %s of the "+
			"original into the model's folder", WordsFile)
	}
	text = hashtag.ReplaceAllStringFunc(text, func(tag string) string { return n.words.split(tag[1:]) })
	text = apply(last, repeated(apply(late, text)))
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(strings.TrimSuffix(text, ","), ",")
	return " " + strings.TrimSpace(text), nil
}

// repeated returns a text with one character in place of four or more of it, digits and line ends left alone.
func repeated(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		n := 1
		for i+n < len(text) && text[i+n] == text[i] {
			n++
		}
		if n < 4 || text[i] >= '0' && text[i] <= '9' {
			out.WriteString(text[i : i+n])
		} else {
			out.WriteByte(text[i])
		}
		i += n
	}
	return out.String()
}

package dallemini

import (
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/mozillazg/go-unidecode"

	"antipode/internal/ftfy"
)

// NormalizerVersion is part of the digest of images whose prompts were normalized.
const NormalizerVersion = 2

// WordsFile has the words of English with their frequencies, the most frequent first; hashtags are split by it.
const WordsFile = "enwiki-words-frequency.txt"

// Normalizer converts prompts of any language as the texts were converted that the model was trained on: to ASCII, in
// lower case, with commas for punctuation. It follows dalle-mini's TextNormalizer, step by step, with the tables of
// June 2022, when the models were published: emoji become the names of emoji 1.7.0, and other characters the
// transliteration of Unidecode 1.3.4. Two things differ: text in the wrong encoding is an error, where the original
// repairs it, and <person> becomes "a person", where the original chooses among three words at random.
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
		`<[^<]+?>`, " ", `http\S+`, "",
		`(\d),(\d{3})`, "${1}${2}", `(\d),(\d{3})`, "${1}${2}",
		`(\w)\.(\w)`, "${1}"+dot+"${2}", `'([stdm]|ll|re|ve)\b`, quote+"${1}", `(\d)/(\d)`, "${1}"+slash+"${2}",
		`(\w)-(\w)`, "${1} ${2}", `([%&/$*])`, " ${1} ")
	hashtag = regexp.MustCompile(`#(\w+)`)
	late    = steps(`[_#\\]`, " ", "['\"`]", ` " `, `[()\[\].,|:;?!=+~\-/{}]`, ",", dot, ".", quote, "'", slash, "/")
	last    = steps(`(\s*"+\s*)+`, ` " `, `(\s*,+\s*)+`, ", ", `\s+`, " ")
)

// Normalize converts a prompt. lost are words of it that have no transliteration and are left out, as in the original:
// words of scripts such as Ol Chiki and Meetei Mayek, and symbols.
func (n *Normalizer) Normalize(prompt string) (text string, lost []string, err error) {
	if text, err = ftfy.FixText(prompt); err != nil {
		return "", nil, err
	}
	text = demojize(html.UnescapeString(html.UnescapeString(text)))
	for _, word := range strings.Fields(text) {
		if strings.TrimSpace(unidecode.Unidecode(word)) == "" && strings.ContainsFunc(word, visible) {
			lost = append(lost, word)
		}
	}
	text = unidecode.Unidecode(text)
	text = apply(early, strings.ToLower(text))
	if n.words == nil && hashtag.MatchString(text) {
		return "", nil, fmt.Errorf("the prompt has a hashtag, which is split by word frequencies. Fix: put %s of the "+
			"original into the model's folder", WordsFile)
	}
	text = hashtag.ReplaceAllStringFunc(text, func(tag string) string { return n.words.split(tag[1:]) })
	text = apply(last, repeated(apply(late, text)))
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(strings.TrimSuffix(text, ","), ",")
	return " " + strings.TrimSpace(text), lost, nil
}

// visible reports letters, digits and symbols, but not marks, punctuation and what joins characters.
func visible(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) }

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

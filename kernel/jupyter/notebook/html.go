package notebook

import (
	"bytes"
	_ "embed" // for the stylesheet
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"
)

//go:embed page.css
var stylesheet string

// policy is the page's Content-Security-Policy: no scripts, no remote resources.
const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// Page are the options of [HTML].
type Page struct {
	Title string // empty = the notebook's first heading
	Dir   string // folder of the images that Markdown cells refer to; empty = such images are left out
}

// HTML returns the notebook as a self-contained page: images are embedded, and no script or remote resource of the
// notebook remains.
func HTML(nb *Notebook, page Page) []byte {
	title := page.Title
	if title == "" {
		title = nb.heading()
	}
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"" + html.EscapeString(policy) + "\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"referrer\" content=\"no-referrer\">\n" +
		"<title>" + html.EscapeString(title) + "</title>\n<style>\n" + stylesheet +
		"</style>\n</head>\n<body>\n<main>\n")
	for _, c := range nb.Cells {
		switch {
		case strings.TrimSpace(c.Source) == "" && len(c.Outputs) == 0:
		case c.Type == Markdown:
			b.WriteString("<section class=\"text\">\n" + markdown(c, page.Dir) + "</section>\n")
		case c.Type == Code:
			writeCode(&b, c)
		default:
			b.WriteString("<section class=\"raw\"><pre>" + html.EscapeString(c.Source) + "</pre></section>\n")
		}
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.Bytes()
}

// SaveHTML writes the page to a file atomically.
func SaveHTML(path string, nb *Notebook, page Page) error { return save(path, HTML(nb, page)) }

var firstHeading = regexp.MustCompile(`(?m)^#{1,2}[ \t]+(.+?)[ \t#]*$`)

// heading returns the text of the first heading.
func (nb *Notebook) heading() string {
	for _, c := range nb.Cells {
		if c.Type == Markdown {
			if m := firstHeading.FindStringSubmatch(c.Source); m != nil {
				return strings.NewReplacer("*", "", "`", "", "_", " ").Replace(m[1])
			}
		}
	}
	return "Notebook"
}

func writeCode(b *bytes.Buffer, c *Cell) {
	b.WriteString("<section class=\"cell\">\n")
	number := ""
	if c.ExecutionCount > 0 {
		number = fmt.Sprint(c.ExecutionCount)
	}
	if strings.TrimSpace(c.Source) != "" {
		b.WriteString("<pre class=\"code\" data-n=\"" + number + "\"><code>" + highlight(c.Source) + "</code></pre>\n")
	}
	spoke := false
	for _, o := range c.Outputs {
		spoke = spoke || o.Type == Stream && o.Name == "stderr"
		if o.Type == Error && spoke && exitError.MatchString(o.ErrorValue) {
			continue // the cell printed its own message above
		}
		b.WriteString(outputHTML(o))
	}
	b.WriteString("</section>\n")
}

var exitError = regexp.MustCompile(`^(exit status \d+|signal: .*)$`)

func outputHTML(o *Output) string {
	switch o.Type {
	case Stream:
		class := "stdout"
		if o.Name == "stderr" {
			class = "stderr"
		}
		return "<pre class=\"out " + class + "\">" + html.EscapeString(printed(o.Text)) + "</pre>\n"
	case Error:
		text := strings.Join(o.Traceback, "\n")
		if strings.TrimSpace(text) == "" {
			text = o.ErrorName + ": " + o.ErrorValue
		}
		return "<pre class=\"out error\">" + html.EscapeString(strings.TrimSpace(printed(text))) + "</pre>\n"
	}
	text := func(mime string) (string, bool) {
		s, ok := o.Data[mime].(string)
		return s, ok && s != ""
	}
	if s, ok := text("text/html"); ok {
		return "<div class=\"out html\">" + sanitize(s) + "</div>\n"
	}
	if s, ok := text("image/svg+xml"); ok {
		return imageElement("image/svg+xml", base64.StdEncoding.EncodeToString([]byte(s)), o.Metadata)
	}
	for _, mime := range []string{"image/png", "image/jpeg", "image/gif", "image/webp"} {
		if s, ok := text(mime); ok {
			return imageElement(mime, s, o.Metadata)
		}
	}
	if s, ok := text("text/markdown"); ok {
		return "<div class=\"out text\">" + markdown(&Cell{Source: s}, "") + "</div>\n"
	}
	if s, ok := text("text/plain"); ok {
		return "<pre class=\"out stdout\">" + html.EscapeString(printed(s)) + "</pre>\n"
	}
	return ""
}

// imageElement returns an <img> element of base64 data, or "" if the data is not base64.
func imageElement(mime, encoded string, metadata map[string]any) string {
	data, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(encoded))
	if err != nil {
		return ""
	}
	size := ""
	if m, ok := metadata[mime].(map[string]any); ok {
		for _, side := range []string{"width", "height"} {
			if v := fmt.Sprint(m[side]); wholeNumber.MatchString(v) {
				size += " " + side + "=\"" + v + "\""
			}
		}
	}
	return "<div class=\"out\"><img alt=\"figure\"" + size + " src=\"data:" + mime + ";base64," +
		base64.StdEncoding.EncodeToString(data) + "\"></div>\n"
}

var wholeNumber = regexp.MustCompile(`^[0-9]{1,5}$`)

var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)`)

// Plain removes terminal escapes from text.
func Plain(s string) string { return ansi.ReplaceAllString(s, "") }

// printed returns text as a terminal would show it: without escapes, and with only the last state of an overwritten
// line.
func printed(s string) string {
	lines := strings.Split(strings.ReplaceAll(Plain(s), "\r\n", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

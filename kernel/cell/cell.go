package cell

import (
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// InNotebook says whether this process is a notebook's cell.
func InNotebook() bool { return gonbui.IsNotebook }

// Print shows text as it is, with its line breaks.
func Print(text string) {
	if text == "" {
		return
	}
	if !InNotebook() {
		fmt.Fprint(os.Stdout, text)
		return
	}
	display(map[protocol.MIMEType]any{protocol.MIMETextPlain: strings.TrimSuffix(text, "\n")})
}

// Say tells the user one line that is no result: in a notebook under the cell, elsewhere on standard error.
func Say(line string) {
	line = flatten(line)
	if !InNotebook() {
		fmt.Fprintln(os.Stderr, line)
		return
	}
	Print(line)
}

// Bundle is one result in the forms that a notebook may show; the front end chooses one. Empty forms are not sent.
type Bundle struct {
	HTML string // without script; the caller escapes what comes from data
	SVG  string // a document; front ends show it only in notebooks they trust
	PNG  []byte
	Text string // for consoles and plain programs
}

// Show shows a result in all forms of the bundle; outside a notebook it prints the text.
func Show(b Bundle) {
	if !InNotebook() {
		Print(b.Text)
		return
	}
	if data := b.data(); len(data) > 0 {
		display(data)
	}
}

// data is the bundle as Jupyter's MIME bundle.
func (b Bundle) data() map[protocol.MIMEType]any {
	data := map[protocol.MIMEType]any{}
	if b.HTML != "" {
		data[protocol.MIMETextHTML] = b.HTML
	}
	if b.SVG != "" {
		data[protocol.MIMEImageSVG] = b.SVG
	}
	if len(b.PNG) > 0 {
		data[protocol.MIMEImagePNG] = b.PNG
	}
	if text := strings.TrimRight(b.Text, "\n"); text != "" {
		data[protocol.MIMETextPlain] = text
	}
	return data
}

// HTML shows a piece of HTML under the cell, with its text for front ends that show none; outside a notebook it does
// nothing. The caller escapes what comes from data.
func HTML(source string) {
	if InNotebook() {
		Show(Bundle{HTML: source, Text: plain(source)})
	}
}

// SVG shows a drawing as an image, in which no script runs; alt describes it to those who do not see it. Outside a
// notebook it does nothing.
func SVG(svg, alt string) {
	if InNotebook() {
		Show(Bundle{HTML: Image("image/svg+xml", []byte(svg), alt), SVG: svg, Text: alt})
	}
}

// PNG shows an image; alt describes it to those who do not see it. Outside a notebook it does nothing.
func PNG(png []byte, alt string) {
	if InNotebook() {
		Show(Bundle{PNG: png, Text: alt})
	}
}

var (
	hidden = regexp.MustCompile(`(?is)<(style|script|svg|head)\b.*?</(style|script|svg|head)\s*>|<!--.*?-->`)
	blocks = regexp.MustCompile(`(?i)<(br|hr|/p|/div|/tr|/li|/h[1-6]|/table|/caption|/figcaption)\b[^>]*>`)
	alts   = regexp.MustCompile(`(?i)<img\b[^>]*\balt="([^"]*)"[^>]*>`)
	tags   = regexp.MustCompile(`<[^>]*>`)
)

// plain is the text of a piece of HTML, a line for each block; images are their descriptions.
func plain(source string) string {
	source = blocks.ReplaceAllString(alts.ReplaceAllString(hidden.ReplaceAllString(source, ""), " $1 "), "\n")
	var lines []string
	for line := range strings.Lines(html.UnescapeString(tags.ReplaceAllString(source, " "))) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Image is an <img> element that holds the picture itself. The type is one of image/svg+xml, image/png, image/jpeg.
func Image(mime string, data []byte, alt string) string {
	return `<img alt="` + html.EscapeString(alt) + `" src="data:` + mime + `;base64,` + base64.StdEncoding.EncodeToString(data) + `">`
}

// display sends a MIME bundle and waits until GoNB has it: a cell may end right after.
func display(data map[protocol.MIMEType]any) {
	gonbui.SendData(&protocol.DisplayData{Data: data})
	flush(10 * time.Second)
}

// flush waits until GoNB has received what was displayed, no longer than limit: where GoNB is gone it would be for ever.
func flush(limit time.Duration) {
	if !InNotebook() || gonbui.Error() != nil {
		return
	}
	arrived := make(chan struct{})
	go func() {
		gonbui.Sync()
		close(arrived)
	}()
	select {
	case <-arrived:
	case <-time.After(limit):
	}
}

// flatten turns several lines into one.
func flatten(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, " · ")
}

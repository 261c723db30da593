package cell

import (
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"antipode/internal/plaintext"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Variables of the environment with which `antipode export` runs a notebook: the folder that figures and tables are
// exported to, and the width of figures in inches.
const (
	ExportVariable      = "ANTIPODE_EXPORT"
	ExportWidthVariable = "ANTIPODE_EXPORT_WIDTH"
)

// Exports reports whether `antipode export` runs the notebook.
func Exports() bool { return os.Getenv(ExportVariable) != "" }

// Export writes the files of a result, by their extension, into the folder of `antipode export`, if that runs the
// notebook. Their name is the number of the result and its title in plain letters; it replaces NAME in a file tex.
func Export(title string, files map[string]string) error {
	dir := os.Getenv(ExportVariable)
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot export: %w", err)
	}
	n := 0
	for _, e := range entries {
		number := 0
		fmt.Sscanf(e.Name(), "%d", &number)
		n = max(n, number)
	}
	name := fmt.Sprintf("%03d", n+1)
	for _, word := range regexp.MustCompile(`[a-z0-9]+`).FindAllString(strings.ToLower(title), -1) {
		if len(name)+len(word) > 48 {
			break
		}
		name += "-" + word
	}
	for extension, data := range files {
		if extension == "tex" {
			data = strings.ReplaceAll(data, "NAME", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name+"."+extension), []byte(data), 0o644); err != nil {
			return fmt.Errorf("cannot export: %w", err)
		}
	}
	return nil
}

// InNotebook reports whether this process is a notebook cell.
func InNotebook() bool { return gonbui.IsNotebook }

// Print shows text with its line breaks.
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

// Say shows one line that is not a result: in a notebook under the cell, elsewhere on standard error.
func Say(line string) {
	line = flatten(line)
	if !InNotebook() {
		fmt.Fprintln(os.Stderr, plaintext.OneLine(line))
		return
	}
	Print(line)
}

// Bundle is one result in several formats; the notebook front end selects one. Empty formats are not sent.
type Bundle struct {
	HTML string // without scripts; the caller escapes data
	SVG  string // a document; front ends show it only in trusted notebooks
	PNG  []byte
	Text string // for consoles and plain programs
}

// Show shows a result; outside a notebook it prints the text.
func Show(b Bundle) {
	if !InNotebook() {
		Print(b.Text)
		return
	}
	if data := b.data(); len(data) > 0 {
		display(data)
	}
}

// data returns the Jupyter MIME bundle.
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

// HTML shows HTML under the cell, with its text for front ends without HTML. Outside a notebook it does nothing. The
// caller escapes data.
func HTML(source string) {
	if InNotebook() {
		Show(Bundle{HTML: source, Text: plain(source)})
	}
}

// SVG shows an SVG document as an image, in which no script runs, with alt as its text alternative. Outside a
// notebook it does nothing.
func SVG(svg, alt string) {
	if InNotebook() {
		Show(Bundle{HTML: Image("image/svg+xml", []byte(svg), alt), SVG: svg, Text: alt})
	}
}

// PNG shows an image with alt as its text alternative. Outside a notebook it does nothing.
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

// plain returns the text of HTML with a line for each block and the alt texts of images.
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

// Image returns an <img> element with the image as a data URL. mime is image/svg+xml, image/png or image/jpeg.
func Image(mime string, data []byte, alt string) string {
	return `<img alt="` + html.EscapeString(alt) + `" src="data:` + mime + `;base64,` +
		base64.StdEncoding.EncodeToString(data) + `">`
}

// display sends a MIME bundle and waits until GoNB has received it.
func display(data map[protocol.MIMEType]any) {
	gonbui.SendData(&protocol.DisplayData{Data: data})
	flush(10 * time.Second)
}

// flush waits until GoNB has received all output, at most for limit: GoNB may have ended.
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

// flatten joins lines into one.
func flatten(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, " · ")
}

package cell

import (
	"encoding/base64"
	"fmt"
	"html"
	"os"
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

// HTML shows a piece of HTML under the cell; outside a notebook, where nothing can show it, it does nothing. The caller
// escapes what comes from data.
func HTML(source string) {
	if InNotebook() {
		display(map[protocol.MIMEType]any{protocol.MIMETextHTML: source})
	}
}

// SVG shows a drawing as a picture, in which no script runs; alt describes it to those who do not see it. Outside a notebook it does nothing.
func SVG(svg, alt string) { HTML(Image("image/svg+xml", []byte(svg), alt)) }

// PNG shows a picture; alt describes it to those who do not see it. Outside a notebook it does nothing.
func PNG(png []byte, alt string) { HTML(Image("image/png", png, alt)) }

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

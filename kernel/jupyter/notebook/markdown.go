package notebook

import (
	"bytes"
	"encoding/base64"
	"html"
	"io"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxImage is the maximal size of an embedded image in bytes.
const maxImage = 16 << 20

// nested matches a line of more than 100 block quotes and lists in one another, which takes goldmark seconds.
var nested = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|[-+*][ \t]|[0-9]{1,9}[.)][ \t])){101}`)

var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
})

// markdown renders a Markdown cell: raw HTML is removed, images of attachments and of dir are embedded.
func markdown(c *Cell, dir string) string {
	source := []byte(c.Source)
	if nested.MatchString(c.Source) {
		return "<pre>" + html.EscapeString(c.Source) + "</pre>\n"
	}
	document := converter().Parser().Parse(text.NewReader(source))
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			if data := c.imageData(string(image.Destination), dir); data != "" {
				image.Destination = []byte(data)
			}
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	if err := converter().Renderer().Render(&b, source, document); err != nil {
		return "<pre>" + html.EscapeString(c.Source) + "</pre>\n"
	}
	return sanitize(b.String())
}

var imageTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml"}

// imageData returns an image that Markdown refers to as a data: URI, or "" if it is neither an attachment nor a file in
// dir.
func (c *Cell) imageData(destination, dir string) string {
	if name, attached := strings.CutPrefix(destination, "attachment:"); attached {
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		attachments, _ := c.extra["attachments"].(map[string]any)
		bundle, _ := attachments[name].(map[string]any)
		for mime, value := range bundle {
			if s, ok := value.(string); ok && strings.HasPrefix(mime, "image/") {
				if mime == "image/svg+xml" {
					s = base64.StdEncoding.EncodeToString([]byte(s))
				}
				return "data:" + mime + ";base64," + s
			}
		}
		return ""
	}
	u, err := url.Parse(destination)
	if err != nil || u.Scheme != "" || u.Host != "" || dir == "" {
		return ""
	}
	mime := imageTypes[strings.ToLower(path.Ext(u.Path))]
	if mime == "" {
		return ""
	}
	root, err := os.OpenRoot(dir) // prevents access outside dir, also through links
	if err != nil {
		return ""
	}
	defer root.Close()
	f, err := root.Open(path.Clean(u.Path))
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxImage+1))
	if err != nil || len(data) > maxImage {
		return ""
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

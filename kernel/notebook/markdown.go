package notebook

import (
	"bytes"
	"encoding/base64"
	"html"
	"io"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxPicture is the largest picture file that a page takes in, in bytes.
const maxPicture = 16 << 20

var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
})

// markdown renders a Markdown cell: raw HTML in it is left out, pictures from attachments and from dir are put in.
func markdown(c *Cell, dir string) string {
	source := []byte(c.Source)
	document := converter().Parser().Parse(text.NewReader(source))
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			if data := c.pictureData(string(image.Destination), dir); data != "" {
				image.Destination = []byte(data)
			}
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	if err := converter().Renderer().Render(&b, source, document); err != nil {
		return "<pre>" + html.EscapeString(c.Source) + "</pre>\n"
	}
	return sanitise(b.String())
}

var pictureTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml"}

// pictureData is a picture that Markdown refers to, as a data: URI; "" where it is not an attachment and not a file under dir.
func (c *Cell) pictureData(destination, dir string) string {
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
	mime := pictureTypes[strings.ToLower(path.Ext(u.Path))]
	if mime == "" {
		return ""
	}
	root, err := os.OpenRoot(dir) // nothing outside dir is read, whatever the path and its links say
	if err != nil {
		return ""
	}
	defer root.Close()
	f, err := root.Open(path.Clean(u.Path))
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPicture+1))
	if err != nil || len(data) > maxPicture {
		return ""
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

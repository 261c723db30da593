package browse

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"antipode/internal/atomicfile"
	"antipode/internal/fault"
)

// Limits of an exported page.
const (
	mostExported = 20_000      // rows
	mostBytes    = 200_000_000 // of its thumbnails
)

// Script and Style are the page's, for a server to send.
var (
	//go:embed page.js
	Script string
	//go:embed page.css
	Style string
	//go:embed page.html
	document string
)

// Served is the document of a page whose style, script and data a server sends as page.css, page.js and data.json.
func Served(title string) []byte {
	return fill(title, "", `<link rel="stylesheet" href="page.css">`, `<script src="page.js"></script>`)
}

func fill(title, policy, style, script string) []byte {
	return []byte(strings.NewReplacer("{{title}}", html.EscapeString(title), "{{policy}}", policy, "{{style}}", style,
		"{{script}}", script).Replace(document))
}

// Export writes the page as one HTML file with thumbnails of at most side pixels (0 = 256), which works without a
// server and loads nothing. Originals below the page's folder are linked. Tags, masks and nearest rows need a server.
// It returns the size of the file in bytes.
func (g *Gallery) Export(path string, side int) (int, error) {
	data, err := g.HTML(filepath.Dir(path), side)
	if err != nil {
		return 0, err
	}
	return len(data), atomicfile.Write(path, data)
}

// HTML is the file of [Gallery.Export] in a folder.
func (g *Gallery) HTML(dir string, side int) ([]byte, error) {
	if g.Len() > mostExported {
		return nil, fmt.Errorf("%d rows; a page holds at most %d. Fix: select rows, or use antipode view without "+
			"--export", g.Len(), mostExported)
	}
	side = cmp.Or(side, 256)
	p := g.Page()
	p.Vectors, p.Masks, p.Links = nil, false, g.links(dir)
	total := 0
	for _, name := range g.Images {
		thumbs := make([]string, g.Len())
		fault.Each(g.Len(), func(row int) {
			if g.Rows.Images(name)[row].Path == "" {
				return
			}
			data, kind, err := g.Thumbnail(row, name, "", side)
			if err != nil {
				p.Missing[row] = err.Error()
				return
			}
			thumbs[row] = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
		})
		for _, uri := range thumbs {
			total += len(uri)
		}
		p.Thumbs = append(p.Thumbs, thumbs)
	}
	for row := range p.Missing {
		if slices.ContainsFunc(p.Thumbs, func(of []string) bool { return of[row] != "" }) {
			p.Missing[row] = "" // the image that can be read is shown
		}
	}
	if total > mostBytes {
		return nil, fmt.Errorf("the thumbnails have %d MB; a page holds %d. Fix: fewer than %d pixels, or fewer rows",
			total/1e6, int(mostBytes)/1e6, side)
	}
	data, err := json.Marshal(p) // <, > and & are escaped
	if err != nil {
		return nil, err
	}
	policy := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src ` +
		Hash(Style) + "; script-src " + Hash(Script) + "; base-uri 'none'; form-action 'none'\">\n"
	return fill(g.Title, policy, "<style>"+Style+"</style>",
		`<script type="application/json" id="data">`+string(data)+"</script>\n<script>"+Script+"</script>"), nil
}

// Hash names an inline script or style in a Content-Security-Policy.
func Hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
}

// links are the paths of the originals relative to a folder, "" for those that are not below it.
func (g *Gallery) links(dir string) []string {
	out := make([]string, g.Len())
	dir, err := filepath.Abs(dir)
	for i, img := range g.Rows.Images(g.Images[0]) {
		relative, bad := filepath.Rel(dir, img.Path)
		if err == nil && bad == nil && img.Path != "" && filepath.IsLocal(relative) {
			out[i] = (&url.URL{Path: filepath.ToSlash(relative)}).String()
		}
	}
	return out
}

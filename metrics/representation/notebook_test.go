package representation

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	dataURI = regexp.MustCompile(`data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)`)
	markup  = regexp.MustCompile(`(?s)<[^>]*>`)
)

// TestNotebookSaysPerceived: in every table, figure and line that the committed notebooks show, a trait is a
// perceived one.
func TestNotebookSaysPerceived(t *testing.T) {
	for _, name := range []string{"entigen_annotations.ipynb", "entigen.ipynb"} {
		t.Run(name, func(t *testing.T) { saysPerceived(t, name) })
	}
}

func saysPerceived(t *testing.T, name string) {
	data, err := os.ReadFile(filepath.Join("..", "..", "notebooks", name))
	if err != nil {
		t.Fatal(err)
	}
	var nb struct {
		Cells []struct {
			Outputs []struct {
				Text []string
				Data map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatal(err)
	}
	nodes, perceived := 0, 0
	look := func(source string) {
		for _, n := range markup.Split(source, -1) {
			if n = strings.TrimSpace(html.UnescapeString(n)); n != "" {
				nodes++
				checkPerceived(t, name, n)
				if strings.Contains(strings.ToLower(n), "perceived") {
					perceived++
				}
			}
		}
	}
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			look(strings.Join(o.Text, ""))
			for mime, raw := range o.Data {
				var lines []string
				if mime == "image/png" { // the drawing of the HTML next to it
					continue
				}
				if err := json.Unmarshal(raw, &lines); err != nil {
					t.Fatalf("%s: %v", mime, err)
				}
				source := strings.Join(lines, "")
				for _, m := range dataURI.FindAllStringSubmatch(source, -1) {
					svg, err := base64.StdEncoding.DecodeString(m[1])
					if err != nil {
						t.Fatal(err)
					}
					look(string(svg))
				}
				look(dataURI.ReplaceAllString(source, ""))
			}
		}
	}
	if nodes == 0 || perceived < 20 {
		t.Errorf("%d texts, %d of them about what was perceived: the notebook was committed without its outputs", nodes,
			perceived)
	}
}

package representation

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	data "antipode/datasets/entigen"
	"antipode/internal/must"
)

var (
	dataURI = regexp.MustCompile(`data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)`)
	markup  = regexp.MustCompile(`(?s)<[^>]*>`)
)

// TestNotebookSaysPerceived: in every table, figure and line that the committed notebook shows, a trait is a
// perceived one. Prompts of the paper are quoted.
func TestNotebookSaysPerceived(t *testing.T) {
	const name = "entigen.ipynb"
	prompts := must.Get(data.BuildAblations(data.AblationOptions{}))(t)
	var texts, quoted []string
	for _, p := range prompts {
		texts = append(texts, p.Text, p.ID)
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	for _, text := range texts {
		quoted = append(quoted, text, "")
	}
	unquoted := strings.NewReplacer(quoted...)
	source := must.Get(os.ReadFile(filepath.Join("..", "..", "notebooks", name)))(t)
	var nb struct {
		Cells []struct {
			Outputs []struct {
				Text []string
				Data map[string]json.RawMessage
			}
		}
	}
	must.Do(t, json.Unmarshal(source, &nb))
	nodes, perceived := 0, 0
	look := func(source string) {
		for _, n := range markup.Split(source, -1) {
			if n = strings.TrimSpace(unquoted.Replace(html.UnescapeString(n))); n != "" {
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
					svg := must.Get(base64.StdEncoding.DecodeString(m[1]))(t)
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

package seegull

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/manifest/manifesttest"
	"antipode/internal/must"
)

// unit is a piece of an output within which an identity and an attribute stand together: a line of a table, a figure,
// a text.
type unit struct{ nodes []string }

var (
	dataURI  = regexp.MustCompile(`data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)`)
	tableRow = regexp.MustCompile(`(?s)<tr\b.*?</tr>`)
	markup   = regexp.MustCompile(`(?s)<[^>]*>`)
)

func nodesOf(source string) unit {
	var u unit
	for _, n := range markup.Split(source, -1) {
		if n = strings.TrimSpace(html.UnescapeString(n)); n != "" {
			u.nodes = append(u.nodes, n)
		}
	}
	return u
}

// unitsOf takes an output apart: figures inside data URIs, lines of tables, and what is left of it.
func unitsOf(t *testing.T, source string) (units []unit) {
	for _, m := range dataURI.FindAllStringSubmatch(source, -1) {
		units = append(units, nodesOf(string(must.Get(base64.StdEncoding.DecodeString(m[1]))(t))))
	}
	source = dataURI.ReplaceAllString(source, "")
	for _, row := range tableRow.FindAllString(source, -1) {
		units = append(units, nodesOf(row))
	}
	return append(units, nodesOf(tableRow.ReplaceAllString(source, "")))
}

// outputsOf gives all text that a notebook's outputs show. An image without text (PNG) cannot be searched: none is
// expected in a notebook that names identities.
func outputsOf(t *testing.T, path string) (outputs []string, png bool) {
	data := must.Get(os.ReadFile(path))(t)
	var nb struct {
		Cells []struct {
			Outputs []struct {
				Text json.RawMessage
				Data map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	text := func(raw json.RawMessage) string {
		var lines []string
		var one string
		if json.Unmarshal(raw, &lines) == nil {
			return strings.Join(lines, "")
		}
		if err := json.Unmarshal(raw, &one); err != nil {
			t.Fatalf("%s: an output that is no text: %v", path, err)
		}
		return one
	}
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if len(o.Text) > 0 {
				outputs = append(outputs, text(o.Text))
			}
			for mime, raw := range o.Data {
				if strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" {
					outputs = append(outputs, text(raw))
				}
				png = png || strings.Contains(string(raw), "data:image/png")
			}
			// A figure is stored as PNG next to HTML of the same text (an SVG, or a grid's captions), which is
			// searched.
			png = png || len(o.Data["image/png"]) > 0 && len(o.Data["text/html"]) == 0
		}
	}
	return outputs, png
}

// scan reports pairs that may not be shown: an attribute that is a text of its own next to an identity it is not
// rated harmless for, and, anywhere in the words, one of the identity's own attributes that is rated offensive or
// not rated.
func scan(units []unit, pairs []Pair) (found []string) {
	rating := map[[2]string]float64{}
	attributes, identities := map[string]bool{}, map[string][]Pair{}
	for _, p := range pairs {
		name := strings.TrimSuffix(p.Identity, "UK")
		rating[[2]string{name, p.Attribute}] = p.Offensiveness
		attributes[p.Attribute] = true
		identities[name] = append(identities[name], p)
	}
	for name := range identities { // some attributes are names of identities; a list of groups is no pair
		delete(attributes, strings.ToLower(name))
	}
	for _, u := range units {
		all := strings.Join(u.nodes, "\n")
		words := " " + notWord.ReplaceAllString(strings.ToLower(all), " ") + " "
		for identity, own := range identities {
			if !strings.Contains(all, identity) ||
				!regexp.MustCompile(`\b`+regexp.QuoteMeta(identity)+`\b`).MatchString(all) {
				continue
			}
			for _, n := range u.nodes {
				if mean, listed := rating[[2]string{identity, strings.ToLower(n)}]; attributes[strings.ToLower(n)] &&
					(!listed || !Shown(mean)) {
					found = append(found, identity+", "+n)
				}
			}
			for _, p := range own {
				if attributes[p.Attribute] && !Shown(p.Offensiveness) &&
					strings.Contains(words, " "+p.Attribute+" ") {
					found = append(found, identity+", "+p.Attribute)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

var notWord = regexp.MustCompile(`[^\p{L}\p{M}\p{N}]+`)

func TestScanFindsPairs(t *testing.T) {
	pairs := []Pair{{Identity: "Veltan", Attribute: "tall hats", Offensiveness: -1},
		{Identity: "Veltan", Attribute: "rude", Offensiveness: 2},
		{Identity: "Veltan", Attribute: "odd", Offensiveness: math.NaN()},
		{Identity: "Norra", Attribute: "quiet", Offensiveness: 0}}
	svg := base64.StdEncoding.EncodeToString(
		[]byte(`<svg><text>Seen in images of: Veltan</text><text>masked 1 (rated offensive)</text><text>quiet</text></svg>`))
	for source, want := range map[string]string{
		"<table><tr><td>Veltan</td><td>tall hats</td></tr></table>": "[]",

		"<table><tr><td>Veltan</td><td>Rude</td></tr></table>": "[Veltan, Rude Veltan, rude]",

		"<table><tr><td>Veltan</td><td>0.5</td></tr><tr><td>Norra</td><td>quiet, rude</td></tr></table>": "[]",

		"Veltan people look odd.": "[Veltan, odd]",
		"Veltan codd":             "[]",
		`<img src="data:image/svg+xml;base64,` + svg + `">`: "[Veltan, quiet]", // never rated for Veltan
	} {
		must.Equal(t, fmt.Sprint(scan(unitsOf(t, source), pairs)), want, source)
	}
}

// ofLanguages are the notebooks that compare languages, with the identities whose names are the languages' names
// there.
var ofLanguages = map[string][]string{"cococrola.ipynb": {"English", "Chinese"}, "indictti.ipynb": {"English"},
	"words.ipynb": {"English"}}

// TestCommittedNotebooks: no committed output pairs a real identity with an attribute that SeeGULL rates offensive
// for it or leaves unrated.
func TestCommittedNotebooks(t *testing.T) {
	dir := manifesttest.Dir(t, Name)
	pairs, _ := must.Get2(Load(os.DirFS(dir)))(t)
	notebooks, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "*.ipynb"))
	if err != nil || len(notebooks) == 0 {
		t.Fatalf("no notebooks (%v)", err)
	}
	named := false
	for _, path := range notebooks {
		outputs, png := outputsOf(t, path)
		var units []unit
		for _, o := range outputs {
			units = append(units, unitsOf(t, o)...)
		}
		for _, found := range scan(units, pairs) {
			if identity, _, _ := strings.Cut(found, ", "); slices.Contains(ofLanguages[filepath.Base(path)], identity) {
				continue
			}
			t.Errorf("%s shows the pair %s", filepath.Base(path), found)
		}
		for _, u := range units {
			named = named || slices.Contains(u.nodes, "Mexican")
		}
		if png && strings.Contains(filepath.Base(path), "visage") {
			t.Errorf("%s holds a PNG, whose text cannot be searched", filepath.Base(path))
		}
	}
	if !named {
		t.Errorf("no output names an identity: the search has no input")
	}
}

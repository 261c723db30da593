package annotate

import (
	"bytes"
	_ "embed" // style and script of the pages
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"image/png"
	"math"
	"slices"

	"antipode/datasets/table"
	"antipode/internal/thumb"
	"antipode/plots/browse"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// pageImages is the number of bytes of the images of a page, in base64. The rest of a page is small.
const pageImages = 2_700_000

// Sizes of embedded images in pixels, longer side.
const (
	largeSide = 512 // the only image of an item
	smallSide = 256 // one of several
)

// shownPage is what a page holds.
type shownPage struct {
	Study  string      `json:"study"`
	Page   string      `json:"page"`
	Title  string      `json:"title"`
	Intro  []string    `json:"intro"`
	Boxes  bool        `json:"boxes,omitempty"`
	Items  []shownItem `json:"items"`
	Images []string    `json:"images"` // data URIs
}

type shownItem struct {
	Heading string            `json:"heading,omitempty"`
	Images  []int             `json:"images,omitempty"`  // positions in shownPage.Images
	Compare []int             `json:"compare,omitempty"` // the same
	Steps   [][]shownQuestion `json:"steps"`             // each is shown at once
}

type shownQuestion struct {
	Text    string   `json:"text"`
	Many    bool     `json:"many,omitempty"`
	Options []string `json:"options"`
	Unsure  string   `json:"unsure,omitempty"`
	Note    string   `json:"note,omitempty"`
	Needs   *[2]int  `json:"needs,omitempty"` // position of a question of the item, and of its option
}

// embed returns the data URIs of the images of a page, by digest and size.
func (s *study) embed(p sheet) (map[string]string, error) {
	type need struct {
		img table.Image
		id  string
	}
	uris, needs := map[string]string{}, []need{}
	for _, it := range p.Items {
		sub := &s.subjects[it.Subject]
		for _, img := range slices.Concat(sub.images, sub.compare) {
			if _, known := uris[img.SHA256]; !known {
				uris[img.SHA256] = ""
				needs = append(needs, need{img, sub.ID})
			}
		}
	}
	side := largeSide
	if slices.ContainsFunc(s.subjects, func(s subject) bool { return len(s.images)+len(s.compare) > 1 }) {
		side = smallSide
	}
	for _, n := range needs {
		uri, err := dataURI(n.img.Path, side, pageImages/len(needs))
		if err != nil {
			return nil, fmt.Errorf("annotate: the image of %q: %w", n.id, err)
		}
		uris[n.img.SHA256] = uri
	}
	return uris, nil
}

// dataURI encodes an image anew, without its metadata, in at most most bytes if it can be.
func dataURI(path string, side, most int) (string, error) {
	img, err := thumb.Load(path)
	if err != nil {
		return "", err
	}
	img = thumb.Within(img, float64(side))
	uri := func(mime string, b *bytes.Buffer) string {
		return "data:image/" + mime + ";base64," + base64.StdEncoding.EncodeToString(b.Bytes())
	}
	var b bytes.Buffer
	if max(img.Rect.Dx(), img.Rect.Dy()) <= smallSide { // sharp where it is small
		if err := png.Encode(&b, img); err != nil {
			return "", err
		}
		if text := uri("png", &b); len(text) <= most {
			return text, nil
		}
	}
	for {
		size := 0
		for _, quality := range []int{88, 70} {
			b.Reset()
			if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
				return "", err
			}
			text := uri("jpeg", &b)
			if size = len(text); size <= most || max(img.Rect.Dx(), img.Rect.Dy()) <= 32 {
				return text, nil
			}
		}
		img = thumb.Scaled(img, min(0.9, math.Sqrt(float64(most)/float64(size))))
	}
}

// page returns the HTML page of a rater.
func (s *study) page(k *key, p sheet, embedded map[string]string) ([]byte, error) {
	shown := shownPage{Study: k.Study, Page: p.Name, Title: "Image annotation", Intro: s.intro, Boxes: s.boxes}
	at := map[string]int{}
	refer := func(images []table.Image) (list []int) {
		for _, img := range images {
			if _, known := at[img.SHA256]; !known {
				at[img.SHA256] = len(shown.Images)
				shown.Images = append(shown.Images, embedded[img.SHA256])
			}
			list = append(list, at[img.SHA256])
		}
		return list
	}
	for _, it := range p.Items {
		sub := &s.subjects[it.Subject]
		out := shownItem{Heading: sub.heading, Images: refer(sub.images), Compare: refer(sub.compare)}
		for i, q := range it.Parts {
			shown := s.question(sub, it.Parts, q)
			if i > 0 && s.together {
				out.Steps[0] = append(out.Steps[0], shown)
			} else {
				out.Steps = append(out.Steps, []shownQuestion{shown})
			}
		}
		shown.Items = append(shown.Items, out)
	}
	data, err := json.Marshal(shown) // <, > and & are escaped
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src %s; `+
		`script-src %s; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>%s</style>
</head>
<body>
<noscript>This page needs JavaScript. It loads nothing and sends nothing.</noscript>
<script type="application/json" id="page">%s</script>
<script>%s</script>
</body>
</html>
`, browse.Hash(style), browse.Hash(script), shown.Title, style, data, script)
	return b.Bytes(), nil
}

// question returns a part of a question as a rater sees it.
func (s *study) question(sub *subject, parts []part, q part) shownQuestion {
	a := &s.asks[sub.Asks[q.Ask]]
	out := shownQuestion{Text: a.Text, Many: a.Many, Unsure: a.Unsure, Note: a.Note}
	for _, o := range q.Options {
		out.Options = append(out.Options, a.Options[o].Text)
	}
	if a.Needs != nil {
		before := slices.IndexFunc(parts, func(p part) bool { return p.Ask == a.Needs.Ask })
		out.Needs = &[2]int{before, slices.Index(parts[before].Options, a.Needs.Option)}
	}
	return out
}

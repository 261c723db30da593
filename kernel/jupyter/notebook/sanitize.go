package notebook

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// sanitize removes everything from HTML except text, tables, embedded images and inline styles without side effects. An
// <svg> element becomes an image, in which scripts do not run.
func sanitize(source string) string {
	return inert().Sanitize(svgToImages(source))
}

// inert is the allow list. Scripts, styles and frames are removed with their content, other elements and attributes
// without.
var inert = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "div", "span", "section", "figure", "figcaption", "center", "blockquote",
		"h1", "h2", "h3", "h4", "h5", "h6", "b", "strong", "i", "em", "u", "s", "del", "ins", "mark", "small", "sub",
		"sup",
		"code", "pre", "kbd", "samp", "var", "abbr", "bdi", "bdo", "ruby", "rt", "rp", "wbr", "ul", "ol", "li", "dl",
		"dt", "dd",
		"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "colgroup", "col", "details", "summary", "img",
		"a")
	number := regexp.MustCompile(`^[0-9]{1,5}(\.[0-9]{1,3})?%?$`)
	p.AllowAttrs("colspan", "rowspan", "span").Matching(number).OnElements("th", "td", "col", "colgroup")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|right|center)$`)).OnElements("th", "td", "tr", "div", "p")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^(row|col|rowgroup|colgroup)$`)).OnElements("th")
	p.AllowAttrs("start").Matching(number).OnElements("ol")
	p.AllowAttrs("open").OnElements("details")
	p.AllowAttrs("title", "lang").Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`^(ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("width", "height").Matching(number).OnElements("img", "table", "td", "th", "col")
	p.AllowAttrs("src").Matching(imageURI).OnElements("img")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("id").Matching(regexp.MustCompile(`^[\p{L}\p{N}_-]{1,120}$`)).OnElements("h1", "h2", "h3", "h4", "h5",
		"h6")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowURLSchemeWithCustomPolicy("data", imageData)
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoReferrerOnLinks(true)
	p.RequireNoFollowOnLinks(true)
	value := regexp.MustCompile(`^[-\p{L}\p{N}#%.,()/ '"+*!]{0,200}$`)
	for _, property := range strings.Fields(styles) {
		p.AllowStyles(property).MatchingHandler(func(v string) bool {
			low := strings.ToLower(v)
			return value.MatchString(v) && !strings.Contains(low, "url") && !strings.Contains(low, "expression") &&
				!strings.Contains(low, "image-set")
		}).Globally()
	}
	return p
})

// styles are the allowed inline styles: layout and color, without positioning and remote resources.
const styles = `color background background-color opacity
	font font-family font-size font-style font-weight font-variant font-variant-numeric line-height letter-spacing
	text-align text-decoration text-indent vertical-align white-space word-break overflow-wrap direction unicode-bidi
	width min-width max-width height min-height max-height aspect-ratio object-fit image-rendering overflow overflow-x overflow-y
	margin margin-top margin-right margin-bottom margin-left padding padding-top padding-right padding-bottom padding-left
	border border-top border-right border-bottom border-left border-color border-style border-width border-radius
	border-collapse border-spacing box-sizing display flex flex-wrap flex-direction justify-content align-items gap row-gap column-gap
	grid-template-columns grid-auto-flow table-layout columns`

var (
	imageType = regexp.MustCompile(`^image/(png|jpeg|gif|webp|svg\+xml);base64,`)
	imageURI  = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]+$`)
)

// imageData accepts data: URIs that are base64 images.
func imageData(u *url.URL) bool {
	if u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	prefix := imageType.FindString(u.Opaque)
	if prefix == "" {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(u.Opaque[len(prefix):])
	return err == nil
}

// svgToImages replaces each outermost <svg> element by an <img>.
func svgToImages(source string) string {
	if !strings.Contains(strings.ToLower(source), "<svg") {
		return source
	}
	body := &nethtml.Node{Type: nethtml.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := nethtml.ParseFragment(strings.NewReader(source), body)
	if err != nil {
		return source
	}
	var b bytes.Buffer
	for _, n := range nodes {
		body.AppendChild(n)
	}
	replaceSVG(body)
	for n := body.FirstChild; n != nil; n = n.NextSibling {
		if err := nethtml.Render(&b, n); err != nil {
			return source
		}
	}
	return b.String()
}

func replaceSVG(parent *nethtml.Node) {
	for n := parent.FirstChild; n != nil; {
		next := n.NextSibling
		if n.Type != nethtml.ElementNode || n.Data != "svg" || n.Namespace != "svg" {
			replaceSVG(n)
		} else if img := svgImage(n); img != nil {
			parent.InsertBefore(img, n)
			parent.RemoveChild(n)
		}
		n = next
	}
}

// svgImage is an <img> of a parsed <svg>, as XML.
func svgImage(n *nethtml.Node) *nethtml.Node {
	attributes := n.Attr[:0:0]
	for _, a := range n.Attr {
		if a.Key != "xmlns" {
			attributes = append(attributes, a)
		}
	}
	n.Attr = append(attributes, nethtml.Attribute{Key: "xmlns", Val: "http://www.w3.org/2000/svg"})
	var b bytes.Buffer
	if nethtml.Render(&b, n) != nil {
		return nil
	}
	return &nethtml.Node{Type: nethtml.ElementNode, Data: "img", DataAtom: atom.Img, Attr: []nethtml.Attribute{
		{Key: "alt", Val: "figure"},
		{Key: "src", Val: "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())},
	}}
}

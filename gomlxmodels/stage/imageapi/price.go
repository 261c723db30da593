package imageapi

import "strings"

// Price is what an image costs, in US dollars. Of several that fit the first counts.
type Price struct {
	Model   string // the model's name, or with * at the end how it begins
	Quality string // "" = any
	Size    string // "" = any
	Image   float64
	// What a million tokens cost, for servers that say in their answer how many there were: then that is the cost.
	InputTokens, OutputTokens float64
	Date                      string // when it was the price, YYYY-MM-DD
}

// DefaultPrices are OpenAI's prices as first published for each model, with their dates: look them up before you rely
// on them.
var DefaultPrices = expand([]published{
	{"dall-e-3", "2023-11-06", "standard", 0.040, 0.080, "1024x1792", 0, 0},
	{"dall-e-3", "2023-11-06", "hd", 0.080, 0.120, "1024x1792", 0, 0},
	{"gpt-image-1", "2025-04-23", "low", 0.011, 0.016, "1024x1536", 5, 40},
	{"gpt-image-1", "2025-04-23", "medium", 0.042, 0.063, "1024x1536", 5, 40},
	{"gpt-image-1", "2025-04-23", "high", 0.167, 0.250, "1024x1536", 5, 40},
	{"gpt-image-1-mini", "2025-10-06", "low", 0.005, 0.006, "1024x1536", 2, 8},
	{"gpt-image-1-mini", "2025-10-06", "medium", 0.011, 0.015, "1024x1536", 2, 8},
	{"gpt-image-1-mini", "2025-10-06", "high", 0.036, 0.052, "1024x1536", 2, 8},
	{"gpt-image-1.5", "2025-12-16", "low", 0.009, 0.013, "1024x1536", 5, 32},
	{"gpt-image-1.5", "2025-12-16", "medium", 0.034, 0.050, "1024x1536", 5, 32},
	{"gpt-image-1.5", "2025-12-16", "high", 0.133, 0.200, "1024x1536", 5, 32},
})

// published is a line of a price list: of a quality, the square image of 1024 pixels, and the tall one, upright or
// lying.
type published struct {
	model, date, quality string
	square, oblong       float64
	tall                 string
	input, output        float64 // a million tokens
}

func expand(list []published) []Price {
	var out []Price
	for _, l := range list {
		width, height, _ := strings.Cut(l.tall, "x")
		for _, size := range []string{"1024x1024", l.tall, height + "x" + width} {
			p := Price{Model: l.model, Quality: l.quality, Size: size, Image: l.oblong, InputTokens: l.input,
				OutputTokens: l.output, Date: l.date}
			if size == "1024x1024" {
				p.Image = l.square
			}
			out = append(out, p)
		}
	}
	return out
}

// highest is the price of an image; where size or quality are left to the server, the highest that may come of it.
func highest(table []Price, model, size, quality string) (Price, bool) {
	var found Price
	known := false
	for _, p := range table {
		if !p.fits(model, size, quality) {
			continue
		}
		if !known || p.Image > found.Image {
			found, known = p, true
		}
		if size != "" && size != "auto" && quality != "" && quality != "auto" {
			break
		}
	}
	return found, known
}

func (p *Price) fits(model, size, quality string) bool {
	named := p.Model == model
	if prefix, open := strings.CutSuffix(p.Model, "*"); open {
		named = strings.HasPrefix(model, prefix)
	}
	open := func(price, asked string) bool { return price == "" || asked == "" || asked == "auto" || price == asked }
	return named && open(p.Size, size) && open(p.Quality, quality)
}

// Estimate is what images will cost.
type Estimate struct {
	Images int
	Known  bool    // a price is known
	Image  float64 // US dollars for one image; where the server chooses size or quality, the highest
	Total  float64
	Date   string // of the price, YYYY-MM-DD
}

// Estimate is what so many images will cost, if each takes one request.
func (g *Generator) Estimate(images int) Estimate {
	return Estimate{Images: images, Known: g.priced, Image: g.price.Image, Total: g.price.Image * float64(images),
		Date: g.price.Date}
}

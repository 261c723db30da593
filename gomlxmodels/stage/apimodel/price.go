package apimodel

// Estimate is what images or answers will cost.
type Estimate struct {
	Unit   string // "image" or "answer"
	Images int
	Known  bool    // the price of an image is known before it is requested
	Image  float64 // US dollars for one image, without the tokens of its prompt
	Total  float64 // US dollars
	Date   string  // of the price, YYYY-MM-DD; "" = [Options].Price
}

// Estimate returns what so many images will cost if each takes one request.
func (g *Client) Estimate(images int) Estimate {
	e := Estimate{Unit: g.unit(), Images: images, Known: g.priced, Image: g.price, Total: g.price * float64(images)}
	if g.priced && g.o.Price == 0 {
		e.Date = g.model.Date
	}
	return e
}

// estimate returns the price of an image in US dollars, if it is known before the request.
func estimate(m *Model, o *Options) (dollars float64, known bool) {
	if o.Price > 0 {
		return o.Price, true
	}
	tokens, known := m.OutputTokens[o.Size+" "+o.Quality]
	return tokens * m.ImageOutput / 1e6, known && m.ImageOutput > 0
}

// usage are the tokens of a request as its answer counts them.
type usage struct {
	Input   float64 `json:"input_tokens"`
	Output  float64 `json:"output_tokens"`
	Details struct {
		Image float64 `json:"image_tokens"`
	} `json:"input_tokens_details"` // the rest of the input is text
}

// cost returns what a request cost in US dollars: by the tokens of its answer, else by the price of an image. It is
// not known if the answer counts no tokens, or the model's price of a token is unknown, and so is that of an image.
func (g *Client) cost(a *answer) (dollars float64, known bool) {
	if !a.paid {
		return 0, true
	}
	if u := a.usage; u != nil && u.Output > 0 && g.model.ImageOutput > 0 {
		image := min(max(0, u.Details.Image), max(0, u.Input))
		text := max(0, u.Input) - image
		return (text*g.model.TextInput + image*g.model.ImageInput + u.Output*g.model.ImageOutput) / 1e6, true
	}
	return g.price, g.priced
}

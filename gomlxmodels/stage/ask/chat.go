package ask

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"image/png"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/apimodel"
	"antipode/gomlxmodels/stage/execmodel"
)

// chatJudge is a judge behind a chat API.
type chatJudge struct {
	env    stage.Env
	args   gomlxmodels.AskArgs
	client *apimodel.Client
}

// ClientOptions returns the options of the client of a chat model.
func ClientOptions(a gomlxmodels.AskArgs) apimodel.Options {
	o := a.Chat
	return apimodel.Options{Chat: true, BaseURL: o.BaseURL, Model: strings.TrimPrefix(a.Model, gomlxmodels.Chat),
		PerMinute: o.PerMinute, Price: o.Price, Budget: o.Budget, BudgetPaid: o.BudgetRequests}
}

func openChat(env stage.Env, args gomlxmodels.AskArgs) (*chatJudge, error) {
	o := ClientOptions(args)
	o.Key = apimodel.Secret(env.Secret(gomlxmodels.APIKey))
	o.Warn = func(text string) { env.Note("%s", text) }
	client, err := apimodel.New(o)
	if err != nil {
		return nil, err
	}
	chat := &args.Chat
	if chat.ModelDigest != "" {
		env.NoteModel(args.Model, chat.ModelDigest, "")
	}
	chat.ImageSize, chat.MaxTokens = cmp.Or(chat.ImageSize, 1024), cmp.Or(chat.MaxTokens, 64)
	chat.Format = cmp.Or(chat.Format, gomlxmodels.FormatLetters)
	return &chatJudge{env, args, client}, nil
}

func (c *chatJudge) name() string               { return c.client.Label() }
func (c *chatJudge) Batch() int                 { return apimodel.AtOnce }
func (c *chatJudge) Load(context.Context) error { return nil }
func (c *chatJudge) Close()                     {}

// Digest contains the address of the server, which stands for the weights of its model unless their digest is given.
func (c *chatJudge) Digest() string {
	o := c.args.Chat
	weights := "at " + o.BaseURL
	if o.ModelDigest != "" {
		weights = fmt.Sprintf("weights %q", o.ModelDigest)
	}
	return fmt.Sprintf("chat %s %s %d %d %s %d", c.client.Label(), weights, o.ImageSize, o.MaxTokens, o.Format,
		o.Samples)
}

// Price is that of a row.
func (c *chatJudge) Price() (dollars float64, words string) {
	requests := c.args.Requests()
	e := c.client.Estimate(requests)
	if !e.Known {
		return nan, "price unknown"
	}
	return e.Total, fmt.Sprintf("%d at %.3f each, as given", requests, e.Image)
}

// read decodes the image and encodes it as it is sent: a PNG of at most the stated size.
func (c *chatJudge) read(q *question) (string, error) {
	rgb, err := stage.ReadImage(q.image)
	if err != nil {
		return "image", err
	}
	if edge, size := max(rgb.Width, rgb.Height), c.args.Chat.ImageSize; edge > size {
		height, width := max(1, rgb.Height*size/edge), max(1, rgb.Width*size/edge)
		fit := preprocess.Config{Resize: preprocess.Stretch, Height: height, Width: width, Filter: preprocess.Bicubic}
		if rgb, err = fit.Pixels(rgb, height, width); err != nil {
			return "image", err
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, rgb)
	q.png = b.Bytes()
	return "image", err
}

func (c *chatJudge) answers(ctx context.Context, rows []*question) ([][]execmodel.Answer, error) {
	n := max(1, c.args.Chat.Samples)
	type request struct {
		q    *question
		item *execmodel.Item
		k    int
	}
	var requests []request
	for _, q := range rows {
		for i := range q.items {
			for k := range n {
				requests = append(requests, request{q, &q.items[i], k})
			}
		}
	}
	replies := make([]stored, len(requests))
	errs := apimodel.Each(len(requests), func(i int) (err error) {
		r := requests[i]
		replies[i], err = c.ask(ctx, r.q, r.item, r.k)
		return err
	})
	out, at := make([][]execmodel.Answer, len(rows)), 0
	for row, q := range rows {
		of := []execmodel.Answer{}
		for i := range q.items {
			if errors.Join(errs[at:at+n]...) == nil && of != nil {
				of = append(of, c.answer(&q.items[i], replies[at:at+n]))
			} else {
				of = nil
			}
			at += n
		}
		out[row] = of
	}
	if err := cmp.Or(errs...); err != nil {
		return out, fmt.Errorf("%w; answers are stored", err)
	}
	return out, nil
}

// stored is the answer to a request, as stored next to the models.
type stored struct {
	Outcome string         `json:"outcome"`
	Reason  string         `json:"reason"`
	Reply   apimodel.Reply `json:"reply"`
	Cost    *float64       `json:"cost"` // US dollars; null = unknown

	transient bool
}

// ask requests an answer, unless it is stored.
func (c *chatJudge) ask(ctx context.Context, q *question, item *execmodel.Item, sample int) (stored, error) {
	ask := apimodel.Question{System: item.System, Text: prompt(item, c.args.Chat.Format), PNG: q.png,
		Seed: int64(item.Seed) + int64(sample), MaxTokens: c.args.Chat.MaxTokens, Sampled: c.args.Chat.Samples > 0}
	same := *c // the answers to another number of samples are the same
	same.args.Chat.Samples = min(1, c.args.Chat.Samples)
	key := fmt.Sprintf("%s %s %q %q %d", same.Digest(), stage.ImageKey(q.image), ask.System, ask.Text, ask.Seed)
	dir := filepath.Join(c.env.ModelDir(), "api")
	return apimodel.Once(dir, key, nil, func() (a stored, keep bool, err error) {
		r, err := c.client.Ask(ctx, ask)
		a = stored{Outcome: r.Outcome, Reason: r.Reason, Reply: r.Reply, transient: r.Transient}
		if !r.CostUnknown {
			a.Cost = &r.Cost
		}
		return a, r.Final(), err
	})
}

// answer returns the answer to an item from one reply, or from several samples.
func (c *chatJudge) answer(item *execmodel.Item, replies []stored) (a execmodel.Answer) {
	shares, counted := make([]float64, len(item.Choices)), 0
	var last execmodel.Answer // one that is not ok
	for _, s := range replies {
		one := c.single(item, s)
		cost := nan
		if s.Cost != nil {
			cost = *s.Cost
		}
		one.Cost, a.Cost = cost, a.Cost+cost
		if one.Transient || len(replies) == 1 {
			return one
		}
		if one.Outcome != execmodel.OK {
			last = one
			continue
		}
		if shares[*one.Choice]++; a.Text == "" {
			a.Text = one.Text
		}
		counted++
	}
	if counted == 0 {
		last.Cost = a.Cost
		return last
	}
	best := 0
	for i := range shares {
		if shares[i] /= float64(counted); shares[i] > shares[best] {
			best = i
		}
	}
	if left := len(replies) - counted; left > 0 {
		a.Reason = fmt.Sprintf("%d of %d samples have no answer: %s", left, len(replies), last.Reason)
	}
	a.Outcome, a.Choice, a.Probabilities, a.Source = execmodel.OK, &best, shares, execmodel.FromSamples
	return a
}

// noChoice starts the reason of an answer that names none of the choices, or several.
const noChoice = "the answer names none of the choices: "

func (c *chatJudge) single(item *execmodel.Item, s stored) execmodel.Answer {
	a := execmodel.Answer{Outcome: s.Outcome, Reason: s.Reason, Transient: s.transient, Text: s.Reply.Text,
		Source: execmodel.FromNothing}
	if a.Outcome != execmodel.OK {
		return a
	}
	a.Text = strings.Join(strings.Fields(a.Text), " ")
	names := spellings(item.Choices, c.args.Chat.Format)
	choice, start := names.find(s.Reply.Text)
	if choice < 0 {
		a.Outcome, a.Reason = execmodel.Failed, noChoice+fmt.Sprintf("%.200q", a.Text)
		if refusal.MatchString(s.Reply.Text) {
			a.Outcome, a.Reason = execmodel.Refused, a.Text
		}
		return a
	}
	if p := names.probabilities(s.Reply, start); p != nil && c.args.Chat.Samples == 0 {
		a.Probabilities, a.Source = p, execmodel.FromLogits
		choice = slices.Index(p, slices.Max(p))
	}
	a.Choice = &choice
	return a
}

// random returns a generator that depends on the seed and the key only.
func random(seed int64, key string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(key))
	return rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
}

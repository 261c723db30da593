package apimodel

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Options are the options of [New]. Model is required; the zero value of all other fields is the default.
type Options struct {
	BaseURL string // "" = that of OpenAI's own API, which ends in /v1
	Key     Secret // may be empty for another server than OpenAI's. Over http it is sent to this machine only

	Model   string // one of [Models], or any that the server has
	Chat    bool   // requests are questions ([Client.Ask]), not for images
	Size    string // "1024x1024", …; "" or "auto" = the server chooses
	Quality string // one of the model's [Model].Qualities, any for another model; "" or "auto" = the server chooses

	PerMinute   int           // requests per minute at most; 0 = no limit but the server's
	Price       float64       // US dollars per image or answer where its tokens do not tell; 0 = by [Models]
	Budget      float64       // largest total cost in US dollars; 0 = no limit. It requires a known price
	BudgetPaid  int           // largest number of paid images or answers; 0 = no limit
	Retries     int           // how often an unpaid request is repeated; 0 = 6, −1 = never
	PaidRetries int           // how often a request that may have been paid is repeated; 0 = 1, −1 = never
	Timeout     time.Duration // per request; 0 = 3 minutes
	LongestWait time.Duration // a longer Retry-After is an error; 0 = 10 minutes

	Warn      func(text string) // called with a warning in one line; nil = warnings are dropped
	Transport http.RoundTripper // nil = the default one
}

// Secret is a text that is not printed.
type Secret string

// Format prints a placeholder for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[secret]")) }

// MarshalText returns a placeholder.
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

const (
	officialHost = "api.openai.com"
	officialURL  = "https://" + officialHost + "/v1"

	maxAnswer = 64 << 20 // bytes of an answer; a PNG of 4 million pixels takes less than 20 MiB in base64
	maxImage  = 48 << 20 // bytes of an image
	maxPrompt = 32_000   // characters; the longest that a GPT image model takes
)

// New checks the options; it sends nothing. What only a request needs (the key, a model that was not shut down, a
// price for the budget) is checked before the first request, so that stored images can be read without it.
func New(o Options) (*Client, error) {
	if o.Model == "" {
		if o.Chat {
			return nil, errors.New("name the chat model as its server lists it")
		}
		return nil, errors.New("name the image model, for example " + Models[0].Name)
	}
	o.BaseURL = cmp.Or(o.BaseURL, officialURL)
	o.Key = Secret(strings.TrimSpace(string(o.Key)))
	base, err := baseURL(o.BaseURL, o.Key)
	if err != nil {
		return nil, err
	}
	if o.Size != "" && o.Size != "auto" && !sizePattern.MatchString(o.Size) {
		return nil, fmt.Errorf("size %q: write it as WIDTHxHEIGHT, for example 1024x1024", o.Size)
	}
	model := Model{}
	if !o.Chat {
		model = find(o.Model)
	}
	if err := model.check(o.Size, o.Quality); err != nil {
		return nil, err
	}
	if o.PerMinute < 0 || !(o.Budget >= 0) || !(o.Price >= 0) || o.BudgetPaid < 0 || o.Timeout < 0 ||
		o.LongestWait < 0 {
		return nil, errors.New("a price or a limit of requests, cost or time is negative; leave it at 0 for the " +
			"default")
	}
	o.Retries = orDefault(o.Retries, 6)
	o.PaidRetries = orDefault(o.PaidRetries, 1)
	o.Timeout = cmp.Or(o.Timeout, 3*time.Minute)
	o.LongestWait = cmp.Or(o.LongestWait, 10*time.Minute)
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	key := string(o.Key)
	o.Key = ""
	g := &Client{o: o, key: func() string { return key }, base: base, model: model, now: time.Now,
		sleep: sleep}
	g.client = &http.Client{Transport: o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	g.price, g.priced = estimate(&g.model, &g.o)
	return g, nil
}

var sizePattern = regexp.MustCompile(`^[1-9][0-9]{1,4}x[1-9][0-9]{1,4}$`)

// orDefault returns a count, for which 0 means the default and −1 none.
func orDefault(count, standard int) int {
	if count == 0 {
		return standard
	}
	return max(0, count)
}

// baseURL parses an API's address: without password, query or fragment, and with a key only over https or on this
// machine.
func baseURL(text string, key Secret) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil:
		return nil, errors.New("the base URL is not an address such as " + officialURL)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL has a user, a query or a fragment; give the key in OPENAI_API_KEY")
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("the base URL is %q; it must be an http or https address such as %s", text,
			officialURL)
	case u.Scheme == "http" && key != "" && !local(u.Hostname()):
		return nil, fmt.Errorf("the base URL is %s: the key would be sent unencrypted; use https, or unset "+
			"OPENAI_API_KEY", text)
	case strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("OPENAI_API_KEY has a space or a character that no key has")
	}
	return u, nil
}

// local reports whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

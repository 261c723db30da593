package webimages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"antipode/internal/fetch"
)

// Options are the options of [Fetch]. The zero value of a number means its default.
type Options struct {
	Dir string // folder of the images and the journal; made if missing
	Limits

	// Progress receives the number of finished URLs, of which found were finished before; may be nil. Calls do not
	// overlap.
	Progress func(done, found, total int)

	// Expected are SHA-256 sums in lower-case hex by URL. With Retry, a URL whose image has another one is requested
	// again.
	Expected map[string]string

	pause time.Duration // before a second attempt; tests shorten it
}

// Limits are the options of the requests. Zero values are the defaults.
type Limits struct {
	Rate      float64       `json:"rate" default:"2" min:">0" help:"requests a second to one host, at most"`
	Workers   int           `json:"workers" default:"16" min:"1" help:"requests at a time to all hosts together; to one host at most two"`
	MaxBytes  int64         `json:"max_bytes" default:"33554432" min:"1" help:"size of the largest image file, in bytes"`
	Timeout   time.Duration `json:"timeout" min:"0" help:"time for one image, such as 90s; default 1m"`
	UserAgent string        `json:"user_agent" default:"antipode" help:"the TEXT of the header User-Agent; some servers want an address to write to in it"`
	Retry     bool          `json:"retry" help:"request the URLs again that failed in an earlier call"`
	Private   bool          `json:"allow_private" help:"also request loopback, private and link-local addresses, for a server of your own"`
}

// Result is what became of a URL.
type Result struct {
	File   string // absolute path of the image; "" = there is none
	SHA256 string // of the file, lower-case hex
	Reason string // why there is no image
	Found  bool   // it was finished by an earlier call
}

// Fetch fetches the images of some URLs and returns their results in the same order. An error means that the folder
// cannot be used or that ctx ended; finished URLs are in the journal in both cases.
func Fetch(ctx context.Context, urls []string, o Options) ([]Result, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	j, err := openJournal(o.Dir)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	limits := fetch.Usual
	limits.Public = !o.Private
	client, err := fetch.New(limits)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	one := *client.HTTP()
	one.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := &run{Options: o, client: &one, journal: j, hosts: map[string]*host{}, decoding: make(chan struct{}, 2)}
	for _, text := range unique(urls) {
		e, known := j.entries[text]
		want := o.Expected[text]
		if known && (!o.Retry || e.Reason == "" && (want == "" || want == e.SHA256)) {
			r.found++
			continue
		}
		delete(j.entries, text)
		at, err := parse(text)
		if err != nil {
			err = j.add(entry{URL: text, Reason: err.Error()})
		} else {
			r.total++
			err = r.enqueue(&task{url: text, at: at})
		}
		if err != nil {
			return nil, err
		}
	}
	r.total += r.found
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	out := make([]Result, len(urls))
	for i, text := range urls {
		e := j.entries[strings.TrimSpace(text)]
		out[i] = Result{SHA256: e.SHA256, Reason: e.Reason, Found: !e.fresh}
		if e.File != "" {
			out[i].File = filepath.Join(o.Dir, e.File)
		}
	}
	return out, nil
}

// complete fills in the defaults.
func (o Options) complete() (Options, error) {
	o.MaxBytes = min(cmp.Or(o.MaxBytes, 32<<20), math.MaxInt64-1) // one more is read
	o.Rate = cmp.Or(o.Rate, 2)
	o.Workers = cmp.Or(o.Workers, 16)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.pause = cmp.Or(o.pause, 2*time.Second)
	o.UserAgent = cmp.Or(o.UserAgent, "antipode")
	if o.Progress == nil {
		o.Progress = func(int, int, int) {}
	}
	switch {
	case o.MaxBytes < 1 || o.Workers < 1 || o.Timeout < 0:
		return o, errors.New("the size limit, the number of requests at a time and the timeout must be positive")
	case !(o.Rate > 0) || math.IsInf(o.Rate, 1):
		return o, fmt.Errorf("the rate is %v requests a second and host; it must be positive", o.Rate)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, err
	}
	o.Dir = dir
	return o, os.MkdirAll(dir, 0o755)
}

// unique returns the URLs without surrounding spaces, each once, in order.
func unique(urls []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, u := range urls {
		if u = strings.TrimSpace(u); !seen[u] {
			seen[u] = true
			out = append(out, u)
		}
	}
	return out
}

// parse parses an address that can be requested. Errors are reasons.
func parse(text string) (*url.URL, error) {
	if text == "" {
		return nil, errors.New("no URL")
	}
	at, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("not a valid URL")
	case at.Scheme != "http" && at.Scheme != "https":
		return nil, fmt.Errorf("the URL starts with %q; only http and https are fetched", at.Scheme+":")
	case at.Hostname() == "":
		return nil, errors.New("the URL names no host")
	}
	at.Fragment = ""
	return at, nil
}

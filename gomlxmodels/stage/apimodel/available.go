package apimodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	maxList     = 4 << 20          // bytes of a list of models
	listTimeout = 30 * time.Second // for the list of models
	notice      = 60               // days before its shutdown in which a model gives a warning
)

// begin checks what every request needs, once and before the first one.
func (g *Client) begin(ctx context.Context) error {
	g.beginning.Lock()
	defer g.beginning.Unlock()
	if g.begun {
		return g.refusal
	}
	err := g.check(ctx)
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	g.begun, g.refusal = true, err
	return err
}

// check reports what makes every request useless. It sends at most one request, which costs nothing.
func (g *Client) check(ctx context.Context) error {
	ownAPI := official(g.base.String())
	if date := ShutDown(g.o.Model, g.base.String(), g.now()); date != "" {
		return g.shutDown(date)
	}
	if ownAPI && g.key() == "" {
		return errors.New("set OPENAI_API_KEY to the key of your account")
	}
	if g.o.Budget > 0 && !g.priced {
		other := "BudgetImages (--budget-images)"
		if g.o.Chat {
			other = "BudgetRequests (--budget-requests)"
		}
		return fmt.Errorf("the price of an %s by %s is unknown, so that a budget in US dollars cannot be kept; set "+
			"Price (--price), or %s in place of Budget", g.unit(), g.Label(), other)
	}
	date, err := g.listed(ctx)
	if err != nil {
		return err
	}
	if date == "" && ownAPI {
		date = historical[withoutSnapshot(g.o.Model)]
	}
	if day, err := time.Parse(time.DateOnly, date); err == nil {
		if past(date, g.now()) {
			return g.shutDown(date)
		}
		if g.o.Warn != nil && day.Before(g.now().AddDate(0, 0, notice)) {
			g.o.Warn(fmt.Sprintf("%s will be shut down on %s: %ss cannot be requested after that; stored ones stay "+
				"readable", g.o.Model, date, g.unit()))
		}
	}
	return nil
}

func (g *Client) shutDown(date string) error {
	if g.o.Chat {
		return fmt.Errorf("%w %s: %s; use another one", ErrShutDown, date, g.o.Model)
	}
	return fmt.Errorf("%w %s: %s; import existing images with `antipode import`, or use one of %s", ErrShutDown, date,
		g.o.Model, names())
}

// listed returns the date in the server's list of models on which the model will be shut down, "" if there is none,
// and reports a model that is not in the list. Not every server has a list, and not every key may read it: then it
// returns "".
func (g *Client) listed(ctx context.Context) (shutdown string, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(g.o.Timeout, listTimeout))
	defer cancel()
	request, err := g.request(ctx, http.MethodGet, nil, "models")
	if err != nil {
		return "", nil //nolint:nilerr // the request for an image reports it
	}
	response, err := g.client.Do(request)
	if err != nil {
		return "", nil //nolint:nilerr // as above
	}
	defer response.Body.Close()
	var list struct {
		Data []struct {
			ID       string `json:"id"`
			Shutdown any    `json:"shutdown_date"` // a date, YYYY-MM-DD
		} `json:"data"`
		More bool `json:"has_more"`
	}
	data, err := read(response.Body, maxList)
	if err != nil || response.StatusCode != http.StatusOK || json.Unmarshal(data, &list) != nil ||
		len(list.Data) == 0 {
		return "", nil //nolint:nilerr // as above
	}
	var others []string
	for _, m := range list.Data {
		if m.ID == g.o.Model {
			date, _ := m.Shutdown.(string)
			if _, err := time.Parse(time.DateOnly, date); err != nil {
				return "", nil //nolint:nilerr // a date in an unknown format
			}
			return date, nil
		}
		others = append(others, m.ID)
	}
	if list.More {
		return "", nil
	}
	return "", errors.New(g.say(fmt.Sprintf("%s has no model %q; it has %s", g.base.Host, g.o.Model,
		some(others, !g.o.Chat))))
}

// some lists up to five names, those of image models, if wanted, where there are any.
func some(names []string, ofImages bool) string {
	images := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.Contains(n, "image") })
	if ofImages && len(images) > 0 {
		names = images
	}
	slices.Sort(names)
	if len(names) > 5 {
		names = append(names[:5:5], "…")
	}
	return strings.Join(names, ", ")
}

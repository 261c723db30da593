package apimodel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrBudget is wrapped by the error about a request that would exceed [Options].Budget or BudgetPaid.
var ErrBudget = errors.New("the budget is exhausted")

// admit waits until the rate limit and the server allow another request, and reserves its cost.
func (g *Client) admit(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.mu.Lock()
		if err := g.exhausted(); err != nil {
			g.mu.Unlock()
			return err
		}
		wait := g.next.Sub(g.now())
		if wait <= 0 {
			if g.o.PerMinute > 0 {
				g.next = g.now().Add(time.Minute / time.Duration(g.o.PerMinute))
			}
			g.flying++
			g.mu.Unlock()
			return nil
		}
		g.mu.Unlock()
		if err := g.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// exhausted reports that another request would exceed a budget. The caller holds the lock.
func (g *Client) exhausted() error {
	reserved := g.spent + g.price*float64(g.flying)
	if g.o.Budget > 0 && reserved+g.price > g.o.Budget*(1+1e-9) {
		return fmt.Errorf("%w: $%.3f of $%.2f are spent or reserved, and the next %s costs $%.3f", ErrBudget,
			reserved, g.o.Budget, g.unit(), g.price)
	}
	if n := g.count + g.flying; g.o.BudgetPaid > 0 && n >= g.o.BudgetPaid {
		return fmt.Errorf("%w: %d of %d %ss are paid or requested", ErrBudget, n, g.o.BudgetPaid, g.unit())
	}
	return nil
}

// settle replaces the reservation of a request by its cost.
func (g *Client) settle(paid bool, cost float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flying--
	g.spent += cost
	if paid {
		g.count++
	}
}

// postpone delays all requests.
func (g *Client) postpone(wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := g.now().Add(wait); until.After(g.next) {
		g.next = until
	}
}

// pause returns how long to wait before a request is repeated for the attempt-th time (from 0): what the server
// requested, else 1, 2, 4 … seconds up to a minute, with up to a quarter more so that clients do not come back all
// at once.
func pause(attempt int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	wait := min(time.Second<<min(attempt, 6), time.Minute)
	return wait + rand.N(wait/4)
}

// retryAfter returns the wait that a response requests: seconds, milliseconds in a header of OpenAI's, or a
// date; else 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"antipode/datasets/table"
)

// maxDeaths is the number of consecutive deaths of the backend, without a finished item, after which a run fails.
const maxDeaths = 3

// Run sends a request to the backend and returns its result. It starts the backend if necessary, and restarts it if it
// dies or is killed at startup; finished items are in the store and are not computed again.
func (b *Backend) Run(ctx context.Context, req Request, progress func(table.Progress)) (*Result, error) {
	if progress == nil {
		progress = func(table.Progress) {}
	}
	carried, deaths := 0, 0 // items computed by backends that died
	for {
		computed := 0
		var result *Result
		err := b.Ensure(ctx)
		if err == nil {
			result, err = b.once(ctx, req, func(p table.Progress) {
				computed = max(computed, p.Computed)
				progress(p)
			})
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var remote *table.Error
		switch {
		case err == nil:
			result.Computed += carried
			result.Found = max(0, result.Found-carried) // computed by this run before a restart
			return result, nil
		case errors.As(err, &remote) && remote.Code == table.CodeBusy:
			carried += computed
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(200 * time.Millisecond):
			}
			continue
		case !errors.Is(err, errDied):
			return nil, err
		}
		carried += computed
		if deaths++; computed > 0 {
			deaths = 0
		}
		if deaths >= maxDeaths {
			return nil, fmt.Errorf("the backend died %d times without finishing an item: %s; see `antipode "+
				"backend log`", deaths, lastReason(LogPath(b.Home), b.logged.Load()))
		}
		line := "the backend ended unexpectedly and was restarted; finished items are kept"
		if req.Careful = deaths > 0; req.Careful {
			line += ", and the others are computed in a process of their own"
		}
		b.say(line)
	}
}

// replaced returns the error of a request before which the backend was replaced, by that of another build or by none.
func (b *Backend) replaced(ctx context.Context) error {
	if binary, err := Binary(b.Home); err == nil && !b.serves(ctx, binary) {
		return &table.Error{Code: table.CodeBusy, Message: "the backend was replaced"}
	}
	return nil
}

func (b *Backend) once(ctx context.Context, r Request, progress func(table.Progress)) (*Result, error) {
	if r.Plan != nil && r.Secrets == nil { // the backend's environment may not contain them
		r.Secrets = map[string]string{}
		for _, name := range r.Plan.AllSecrets() {
			if value := os.Getenv(name); value != "" {
				r.Secrets[name] = value
			}
		}
	}
	if len(r.Secrets) > 0 {
		err := b.verifyRunning()
		if err := cmp.Or(b.replaced(ctx), err); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	silent := time.AfterFunc(b.patience(), func() { b.say(b.frozen().Error()) })
	defer silent.Stop()
	_, in, err := b.send(ctx, "POST", "/v1/run", body)
	if err != nil {
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" { // it was not asked
			return nil, cmp.Or(b.replaced(ctx), errDied)
		}
		return nil, errDied
	}
	defer in.Close()
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil, errDied
		}
		silent.Reset(b.patience())
		var m Message
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("cannot read the backend's reply: %w", err)
		}
		switch {
		case m.Progress != nil:
			progress(*m.Progress)
		case m.Error != nil:
			return nil, m.Error
		case m.Result != nil:
			if m.FrameBytes > 0 {
				if m.Result.Frame, err = readFrame(in, m.FrameBytes); err != nil {
					return nil, err
				}
			}
			return m.Result, nil
		}
	}
}

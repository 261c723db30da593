package jupyter

import "context"

// attempt is a start of GoNB in progress.
type attempt struct {
	done chan struct{}
	err  error  // set before done is closed
	note string // the current step, shown below the waiting cell
}

// begin starts the kernel in the background unless it runs or is being started. It returns nil if it runs.
func (r *relay) begin(ctx context.Context) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kernel != nil || r.attempt != nil {
		return r.attempt
	}
	a := &attempt{done: make(chan struct{})}
	r.attempt = a
	go func() {
		k, err := r.start(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.attempt, a.err, a.note = nil, err, ""
		if r.kernel = k; err != nil {
			r.kernel = nil // the next cell tries again
		} else {
			k.onComm(func(m Message) {
				r.noteComm(m)
				r.front.publishMessage(m, false)
			})
		}
		close(a.done)
	}()
	return a
}

// ready waits for the kernel on behalf of a cell. life bounds the start of the kernel, ctx the wait.
func (r *relay) ready(life, ctx context.Context, cell *Message) (*Kernel, error) {
	a := r.begin(life)
	if a != nil {
		r.mu.Lock()
		note := a.note
		r.mu.Unlock()
		r.show(note, cell)
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if a.err != nil {
			return nil, a.err
		}
	}
	r.mu.Lock()
	k, noted := r.kernel, r.noted
	r.noted = false
	r.mu.Unlock()
	if noted {
		r.front.publish("clear_output", ClearContent{}, cell)
	}
	return k, nil
}

// say shows a step of the start below the waiting cell.
func (r *relay) say(line string) {
	r.mu.Lock()
	if r.attempt != nil {
		r.attempt.note = line
	}
	cell := r.running
	r.mu.Unlock()
	if cell != nil {
		r.show(line, cell)
	}
}

func (r *relay) show(line string, cell *Message) {
	if line != "" {
		r.mu.Lock()
		r.noted = true
		r.mu.Unlock()
		r.front.publish("stream", StreamContent{"stderr", line + "\n"}, cell)
	}
}

package jupyter

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"antipode/kernel/jupyter/complete"
)

// lookUpLimit is the timeout of completion and inspection: JupyterLab ignores later replies.
const lookUpLimit = 900 * time.Millisecond

// lookUp answers a "complete_request" or an "inspect_request".
func (r *relay) lookUp(q request) any {
	var c struct {
		Code   string `json:"code"`
		Cursor int    `json:"cursor_pos"`
	}
	_ = json.Unmarshal(q.Content, &c)
	ctx, cancel := context.WithTimeout(context.Background(), lookUpLimit)
	defer cancel()
	r.mu.Lock()
	asked := complete.Request{Cells: slices.Clone(r.ran), Code: c.Code, Cursor: c.Cursor}
	k := r.kernel
	r.mu.Unlock()
	if k != nil {
		asked.Columns = k.columns()
	}
	if q.Header.Type == "inspect_request" {
		found := r.names.Inspect(ctx, asked)
		data := map[string]string{}
		if found.Found {
			data["text/plain"], data["text/markdown"] = found.Plain, found.Markdown
		}
		return map[string]any{"status": "ok", "found": found.Found, "data": data, "metadata": emptyObject}
	}
	found := r.names.Complete(ctx, asked)
	if len(found.Matches) == 0 {
		found.Start, found.End = c.Cursor, c.Cursor
	}
	matches, types := []string{}, []map[string]any{}
	for _, m := range found.Matches {
		matches = append(matches, m.Text)
		types = append(types, map[string]any{
			"text": m.Text, "type": m.Type, "signature": m.Signature, "start": found.Start, "end": found.End,
		})
	}
	return map[string]any{
		"status": "ok", "matches": matches, "cursor_start": found.Start, "cursor_end": found.End,
		"metadata": map[string]any{"_jupyter_types_experimental": types},
	}
}

var inspection = regexp.MustCompile(`^\s*(?:\?{1,2}\s*([\pL_][\pL\pN_.]*)|([\pL_][\pL\pN_.]*)\s*\?{1,2})\s*$`)

// inspected returns the name in a cell such as "plots.Bars?", or "" if the cell is code.
func inspected(code string) string {
	m := inspection.FindStringSubmatch(code)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// page returns the pager content for "name?".
func (r *relay) page(ctx context.Context, name string) map[string]string {
	r.mu.Lock()
	asked := complete.Request{Cells: slices.Clone(r.ran), Code: "var _ = " + name,
		Cursor: len([]rune("var _ = " + name))}
	r.mu.Unlock()
	found := r.names.Inspect(ctx, asked)
	if !found.Found {
		return map[string]string{"text/plain": name + ": no documentation found"}
	}
	return map[string]string{"text/plain": found.Plain}
}

// historyReply answers a "history_request" from the cells of this session.
func (r *relay) historyReply(content json.RawMessage) any {
	var c struct {
		Access  string `json:"hist_access_type"`
		Output  bool   `json:"output"`
		N       int    `json:"n"`
		Start   int    `json:"start"`
		Stop    *int   `json:"stop"`
		Pattern string `json:"pattern"`
		Unique  bool   `json:"unique"`
	}
	_ = json.Unmarshal(content, &c)
	r.mu.Lock()
	all := slices.Clone(r.history)
	r.mu.Unlock()
	var found []entry
	for _, e := range all {
		switch c.Access {
		case "range":
			if e.line < c.Start || c.Stop != nil && e.line >= *c.Stop {
				continue
			}
		case "search":
			flat := strings.NewReplacer("/", "\x00") // path.Match treats a slash as a separator
			pattern := flat.Replace(cmp.Or(c.Pattern, "*"))
			if matched, err := path.Match(pattern, flat.Replace(e.source)); err != nil || !matched {
				continue
			}
			if c.Unique {
				found = slices.DeleteFunc(found, func(other entry) bool { return other.source == e.source })
			}
		}
		found = append(found, e)
	}
	if c.Access != "range" && c.N > 0 && len(found) > c.N {
		found = found[len(found)-c.N:]
	}
	rows := []any{}
	for _, e := range found {
		if c.Output {
			rows = append(rows, []any{1, e.line, []any{e.source, nil}})
		} else {
			rows = append(rows, []any{1, e.line, e.source})
		}
	}
	return map[string]any{"status": "ok", "history": rows}
}

// commContent is the content of the "comm_*" messages.
type commContent struct {
	ID     string `json:"comm_id"`
	Target string `json:"target_name"`
}

// widgetTarget is the only comm target of GoNB.
const widgetTarget = "gonb_comm"

// noteComm records opened and closed comms. It returns false for a comm_open of an unknown target.
func (r *relay) noteComm(m Message) bool {
	var c commContent
	if json.Unmarshal(m.Content, &c) != nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch m.Header.Type {
	case "comm_open":
		if c.Target != widgetTarget {
			return false
		}
		r.comms[c.ID] = c.Target
	case "comm_close":
		delete(r.comms, c.ID)
	}
	return true
}

// refuseComm closes a comm of an unknown target.
func (r *relay) refuseComm(q request) {
	var c commContent
	_ = json.Unmarshal(q.Content, &c)
	r.status(busyState, &q.Message)
	r.front.publish("comm_close", map[string]any{"comm_id": c.ID, "data": emptyObject}, &q.Message)
	r.status(idleState, &q.Message)
}

// commInfo answers a "comm_info_request".
func (r *relay) commInfo(content json.RawMessage) any {
	var c commContent
	_ = json.Unmarshal(content, &c)
	r.mu.Lock()
	defer r.mu.Unlock()
	open := map[string]any{}
	for id, target := range r.comms {
		if c.Target == "" || c.Target == target {
			open[id] = map[string]string{"target_name": target}
		}
	}
	return map[string]any{"status": "ok", "comms": open}
}

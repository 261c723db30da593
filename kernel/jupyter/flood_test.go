//go:build torture

package jupyter

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"antipode/internal/must"
)

// More than 5,000 messages and 50 MB pass through the kernel, next to a front end that is connected and reads nothing;
// the kernel's memory stays flat.
func TestServeFlood(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, deaf := open(t, s.conn, s.conn.IOPubPort, zmq4.Sub)
	must.Do(t, deaf.SendMsg(zmq4.NewMsg([]byte{1})))
	s.printed(t, "import \"github.com/janpfeifer/gonb/gonbui\"\n%%\ngonbui.DisplayMarkdown(\"warm\")")
	before := memory(t, s.process.Pid)
	const n, size = 6000, 9000
	displays, stored := 0, 0
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	code := fmt.Sprintf("%%%%\ntext := strings.Repeat(\"x\", %d)\nfor range %d {\n\tgonbui.DisplayMarkdown(text)\n}",
		size, n)
	reply, err := s.execute(ctx, code, false, func(m Message) {
		if m.Header.Type == "display_data" {
			displays++
			stored += len(m.Content)
		}
	}, nil)
	must.True(t, err == nil && reply.Status == "ok" && displays == n && stored >= n*size,
		"%d of %d displays, %d bytes; %+v, %v", displays, n, stored, reply, err)
	if grown := memory(t, s.process.Pid) - before; grown > 100<<20 {
		t.Errorf("the kernel's memory grew by %d MB", grown>>20)
	}
}

// memory is the resident set of a process, in bytes.
func memory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc: memory cannot be measured")
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	return must.Get(strconv.Atoi(strings.Fields(rest)[0]))(t) << 10
}

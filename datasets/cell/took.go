package cell

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// slowDeclaration is the time from which a variable's initializer is reported.
const slowDeclaration = 500 * time.Millisecond

// cached is the time in nanoseconds that this process has spent on results that are stored.
var cached atomic.Int64

// Caches counts the time since start as spent on a result that is stored: later cells are expected to find it.
func Caches(start time.Time) { cached.Add(int64(time.Since(start))) }

// Clock is the time at which an initializer starts; see [Took].
type Clock struct {
	start  time.Time
	cached int64
}

// Start returns the current time.
func Start() Clock { return Clock{time.Now(), cached.Load()} }

// Took returns the value of a variable of a notebook and reports that its initializer took more than half a second: a
// cell runs the initializers of all cells before it. The kernel writes the call. Time spent on results that are stored
// is reported from its second time.
func Took[T any](name string, clock Clock, value T) T {
	took := time.Since(clock.start)
	if took <= slowDeclaration || !InNotebook() {
		return value
	}
	mark := noteMark
	if took-time.Duration(cached.Load()-clock.cached) <= slowDeclaration {
		mark = againMark
	}
	sendMarked(map[protocol.MIMEType]any{protocol.MIMETextPlain: fmt.Sprintf("var %s takes more than 0.5 s, and every "+
		"later cell computes it again; move the work below %%%%, or store its table: var %[1]s = cell.Keep(%[1]q, "+
		"func() datasets.Table { … }, inputs…)", name)}, mark)
	return value
}

package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// GroupNotes collects notes about groups and reports each kind of note once, with total counts and the groups that it
// concerns. The zero value is an empty collection.
type GroupNotes struct {
	list []*groupNote
}

type groupNote struct {
	text   string
	counts []int
	groups []string
}

// Add adds a note about a group; group is "" if the rows are not grouped. The counts, summed over the groups, replace
// the %d in the text, in order.
func (n *GroupNotes) Add(text, group string, counts ...int) {
	at := slices.IndexFunc(n.list, func(o *groupNote) bool { return o.text == text })
	if at < 0 {
		at, n.list = len(n.list), append(n.list, &groupNote{text: text, counts: make([]int, len(counts))})
	}
	note := n.list[at]
	for i := range note.counts {
		note.counts[i] += counts[i]
	}
	if group != "" {
		note.groups = append(note.groups, group)
	}
}

// namedGroups is the largest number of groups that a note names.
const namedGroups = 6

// AddTo adds the notes to a call, in the order of their first occurrence. by names the grouping columns.
func (n *GroupNotes) AddTo(call *Call, by ...string) {
	for _, note := range n.list {
		line := note.text
		for _, c := range note.counts {
			line = strings.Replace(line, "%d", strconv.Itoa(c), 1)
		}
		if len(note.groups) > 0 {
			separator := " "
			if len(by) > 0 {
				separator = "; by " + strings.Join(by, "/") + ": "
			}
			line += separator + strings.Join(note.groups[:min(namedGroups, len(note.groups))], ", ")
			if more := len(note.groups) - namedGroups; more > 0 {
				line += fmt.Sprintf(" and %d more", more)
			}
		}
		call.Notef("%s", line)
	}
	n.list = nil
}

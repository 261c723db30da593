package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// GroupNotes collects notes about groups, so that each is told once, with its counts and the groups it is about. The zero
// value is ready.
type GroupNotes struct {
	list []*groupNote
}

type groupNote struct {
	text   string
	counts []int
	groups []string
}

// Add notes something about a group, "" where the rows are not grouped. The counts, summed over the groups, take the
// places of %d in the text, in their order.
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

// namedGroups is how many groups a note names.
const namedGroups = 6

// Tell tells the notes of a call, in the order in which they came first.
func (n *GroupNotes) Tell(call Call) {
	for _, note := range n.list {
		line := note.text
		for _, c := range note.counts {
			line = strings.Replace(line, "%d", strconv.Itoa(c), 1)
		}
		if len(note.groups) > 0 {
			separator := " "
			if len(call.By) > 0 {
				separator = "; by " + strings.Join(call.By, "/") + ": "
			}
			line += separator + strings.Join(note.groups[:min(namedGroups, len(note.groups))], ", ")
			if more := len(note.groups) - namedGroups; more > 0 {
				line += fmt.Sprintf(" and %d more", more)
			}
		}
		call.note("%s", line)
	}
	n.list = nil
}

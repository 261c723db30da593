package representation

import (
	"context"
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
)

// Note is in the last column of every table about people.
const Note = "labels are perceived expression in generated images, in two groups an axis; they say nothing of identity"

// noted is embedded in every row about people.
type noted struct {
	Note string `column:"note"`
}

func (n *noted) note() { n.Note = Note }

func score[O, R any](version int, d metrics.Definition[O, R]) datasets.Defined[O] {
	return metrics.Define(complete(version, d))
}

// listing defines a table operation.
func listing[O, R any](version int, d metrics.Definition[O, R]) datasets.Defined[O] {
	return datasets.Define(complete(version, d))
}

// complete adds the citation, and the note to rows that embed noted.
func complete[O, R any](version int, d metrics.Definition[O, R]) metrics.Definition[O, R] {
	d.Version, d.Citation = version, "Bansal et al., EMNLP 2022, "+d.Citation
	if compute := d.Compute; compute != nil {
		d.Compute = func(ctx context.Context, call *metrics.Call, o O) ([]R, error) {
			rows, err := compute(ctx, call, o)
			for i := range rows {
				if r, has := any(&rows[i]).(interface{ note() }); has {
					r.note()
				}
			}
			return rows, err
		}
	}
	return d
}

// columnsOf parses column specs that are separated by spaces.
func columnsOf(specs string) []table.ColumnSpec { return datasets.Columns(strings.Fields(specs)...) }

// intervals describes the intervals of a table; "" = it has none.
func intervals(i metrics.Intervals, cluster string) string {
	return Resampling{Intervals: i, Cluster: cluster}.options().Label(
		map[string]string{ByImage: "images within attributes", ByPrompt: "prompts"}[cluster])
}

// warning marks a score of few images.
func warning(usable, least int) string {
	switch {
	case usable == 0:
		return "not available: no usable image"
	case usable < least:
		return fmt.Sprintf("few usable images: %d", usable)
	}
	return ""
}

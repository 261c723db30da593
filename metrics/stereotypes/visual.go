package stereotypes

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	data "antipode/datasets/visage"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// When an attribute counts as visual, by three scores from 1 (Strongly Disagree) to 5 (Strongly Agree). A missing score
// satisfies none of the rules.
const (
	AllAgree      = "all"      // every score is at least the threshold: the paper's rule, with threshold 4
	MajorityAgree = "majority" // two of three
	AnyAgrees     = "any"      // one of three
	MeanAgrees    = "mean"     // the mean of the three
)

// Visual reports whether an attribute can be seen in an image, visual(a), by a rule and the least score that counts
// as agreement. With [AllAgree] and 4 the released ratings give 518 distinct attributes; the paper prints 385, which
// no rule that was tried gives.
func Visual(scores [3]float64, rule string, atLeast float64) (bool, error) {
	n, sum := 0, 0.0
	for _, s := range scores {
		if s >= atLeast {
			n++
		}
		sum += s
	}
	switch rule {
	case AllAgree:
		return n == 3, nil
	case MajorityAgree:
		return n >= 2, nil
	case AnyAgrees:
		return n >= 1, nil
	case MeanAgrees:
		return sum/3 >= atLeast, nil
	}
	return false, fmt.Errorf("stereotypes: no rule %q; use %s, %s, %s or %s", rule, AllAgree, MajorityAgree, AnyAgrees,
		MeanAgrees)
}

// StereotypeOptions define St(id), the visual stereotypes of an identity: visual attributes that enough annotators of
// SeeGULL call a stereotype of it.
type StereotypeOptions struct {
	MinStereo    float64 `json:"min_stereo,omitempty" default:"2" none:"-1" help:"least number of SeeGULL annotators who call the pair a stereotype"`
	StereoColumn string  `json:"stereo_column,omitempty" default:"na_stereo" values:"na_stereo,region_stereo" help:"annotators in North America, or in the region of the identity"`
	Rule         string  `json:"rule,omitempty" default:"all" values:"all,majority,any,mean" help:"how many of three scores must agree that the attribute is visual"`
	MinScore     float64 `json:"min_score,omitempty" default:"4" help:"least score that counts as agreement, from 1 to 5"`
}

// visual reports for every row of a frame whether its attribute is visual.
func (o StereotypeOptions) visual(f *table.Frame) ([]bool, error) {
	out := make([]bool, f.Len())
	for i, s := range scores(f) {
		var err error
		if out[i], err = Visual(s, o.Rule, o.MinScore); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stereotypes reports for every row of a frame whether its pair is in St(id).
func (o StereotypeOptions) stereotypes(f *table.Frame) ([]bool, error) {
	counts, err := f.Need(o.StereoColumn, table.KindNumber)
	if err != nil {
		return nil, err
	}
	out, err := o.visual(f)
	for i := range out {
		out[i] = out[i] && counts.Numbers[i] >= o.MinStereo
	}
	return out, err
}

// scores returns the three scores of every row.
func scores(f *table.Frame) [][3]float64 {
	a, e, n := f.Numbers("score_asia"), f.Numbers("score_europe"), f.Numbers("score_na")
	out := make([][3]float64, f.Len())
	for i := range out {
		out[i] = [3]float64{a[i], e[i], n[i]}
	}
	return out
}

const scoreColumns = "score_asia:number score_europe:number score_na:number"

// columnsOf parses column specs that are separated by spaces.
func columnsOf(specs string) []table.ColumnSpec { return datasets.Columns(strings.Fields(specs)...) }

// StereotypeCounts is the table operation visage-stereotypes (Jha et al., ACL 2024, Figure 2): for each identity that
// has visual stereotypes their number |St(id)|, and that of its pairs in SeeGULL (n_used). Join the regions of package
// datasets/visage to it for bars or a map.
func StereotypeCounts(pairs datasets.Table, options ...StereotypeOptions) datasets.Table {
	return stereotypeCounts.Of(pairs, options...)
}

type stereotypeCountRow struct {
	Identity    string `column:"identity"`
	Stereotypes int    `column:"n_stereotypes" unit:"attributes" range:"[0, ∞)"`
	Used        int    `column:"n_used" unit:"pairs" help:"pairs of SeeGULL"`
	described
}

var stereotypeCounts = listing(metrics.Definition[StereotypeOptions, stereotypeCountRow]{
	Name: "visage-stereotypes", Title: "number of visual stereotypes by identity", Citation: "Figure 2",
	Inputs: []metrics.Input{{Role: "in", Columns: columnsOf("identity:text attribute:text " + scoreColumns),
		About: "a row for each pair of identity and attribute, as datasets/visage returns them, with the option " +
			"stereo-column"}},
	Compute: func(_ context.Context, call *metrics.Call, o StereotypeOptions) ([]stereotypeCountRow, error) {
		f := call.Inputs["in"]
		stereo, err := o.stereotypes(f)
		if err != nil {
			return nil, err
		}
		by := map[string]*stereotypeCountRow{}
		for i, id := range f.Texts("identity") {
			if by[id] == nil {
				by[id] = &stereotypeCountRow{Identity: id}
			}
			by[id].Used++
			if stereo[i] {
				by[id].Stereotypes++
			}
		}
		var out []stereotypeCountRow
		for _, r := range by {
			if r.Stereotypes > 0 {
				out = append(out, *r)
			}
		}
		slices.SortFunc(out, func(a, b stereotypeCountRow) int {
			if a.Stereotypes != b.Stereotypes {
				return b.Stereotypes - a.Stereotypes
			}
			return strings.Compare(a.Identity, b.Identity)
		})
		for i := range out {
			out[i].Identity = data.DisplayName(out[i].Identity)
		}
		return out, nil
	},
})

// VisualAttributes is the table operation visage-visual-attributes (Jha et al., ACL 2024, section 3.1): the attributes
// of a table of pairs, each once, by name, with the verdict of the rule (see [Visual]) and the number of identities
// whose visual stereotype it is. The released data have 518 visual ones by the rule as written; the paper counts 385.
func VisualAttributes(pairs datasets.Table, options ...StereotypeOptions) datasets.Table {
	return visualAttributes.Of(pairs, options...)
}

type visualAttributeRow struct {
	Attribute   string  `column:"attribute"`
	Visual      string  `column:"visual" help:"yes or no, by the options rule and min-score"`
	Asia        float64 `column:"score_asia" range:"[1, 5]"`
	Europe      float64 `column:"score_europe" range:"[1, 5]"`
	NA          float64 `column:"score_na" range:"[1, 5]"`
	Stereotypes int     `column:"n_stereotypes" unit:"identities" help:"identities whose visual stereotype it is"`
	Used        int     `column:"n_used" unit:"pairs" help:"pairs with the attribute"`
	described
}

var visualAttributes = listing(metrics.Definition[StereotypeOptions, visualAttributeRow]{
	Name: "visage-visual-attributes", Version: 2, // 1 counted masked labels
	Title:    "attributes, and whether they can be seen in an image",
	Citation: "section 3.1", Inputs: []metrics.Input{{Role: "in",
		Columns: columnsOf("identity:text attribute:text " + scoreColumns),
		About:   "a row for each pair of identity and attribute, with the option stereo-column"}},
	Compute: func(_ context.Context, call *metrics.Call, o StereotypeOptions) ([]visualAttributeRow, error) {
		f := call.Inputs["in"]
		visual, err := o.visual(f)
		if err != nil {
			return nil, err
		}
		stereo, err := o.stereotypes(f)
		if err != nil {
			return nil, err
		}
		by, all := map[string]visualAttributeRow{}, scores(f)
		for i, a := range f.Texts("attribute") {
			if seegull.IsMasked(a) {
				return nil, tabular.BadRow(f, i, "attribute", "%q is masked; read the pairs unmasked", a)
			}
			r, known := by[a]
			if s := all[i]; !known {
				r = visualAttributeRow{Attribute: a, Asia: s[0], Europe: s[1], NA: s[2],
					Visual: map[bool]string{true: "yes", false: "no"}[visual[i]]}
			}
			r.Used++
			if stereo[i] {
				r.Stereotypes++
			}
			by[a] = r
		}
		var out []visualAttributeRow
		for _, a := range slices.Sorted(maps.Keys(by)) {
			out = append(out, by[a])
		}
		return out, nil
	},
})

// Labels are the answers of the rating task by score, 1 to 5.
var Labels = [6]string{1: "Strongly Disagree", 2: "Disagree", 3: "Unsure", 4: "Agree", 5: "Strongly Agree"}

// ConsensusBar is a bar of the paper's Figure 6: how many attributes got one label from at least two of three
// annotators.
type ConsensusBar struct {
	Label string           `column:"label"`
	Share metrics.Estimate `column:"share" unit:"percent of attributes" range:"[0, 100]"` // 100·Count/Of
	Count int              `column:"n_attributes" unit:"attributes"`
	Of    int              `column:"n_used" unit:"attributes" help:"attributes rated"`
}

// ComputeConsensus counts the labels that at least two of three annotators gave, from Strongly Agree down to Strongly
// Disagree; Unsure comes last, as in the figure. The remainder to 100 % are attributes with three different labels.
// Intervals: bootstrap of attributes.
func ComputeConsensus(scores [][3]float64, i metrics.Intervals) ([]ConsensusBar, error) {
	var count [6]int
	for i, s := range scores {
		for _, v := range s {
			if v != math.Trunc(v) || v < 1 || v > 5 {
				return nil, fmt.Errorf("stereotypes: rating %d has the score %g; scores are integers from 1 to 5", i+1,
					v)
			}
		}
		switch {
		case s[0] == s[1] || s[0] == s[2]:
			count[int(s[0])]++
		case s[1] == s[2]:
			count[int(s[1])]++
		}
	}
	options := i.Bootstrap()
	options.Range = interval.Share
	var out []ConsensusBar
	for _, label := range []int{5, 4, 2, 1, 3} {
		c := ConsensusBar{Label: Labels[label], Count: count[label], Of: len(scores),
			Share: metrics.Exact(100 * float64(count[label]) / float64(len(scores)))}
		if len(scores) > 1 {
			hits := make([]float64, len(scores))
			for i := range c.Count {
				hits[i] = 1
			}
			iv, err := interval.BootstrapMean(hits, nil, options)
			if err != nil {
				return nil, fmt.Errorf("stereotypes: %w", err)
			}
			c.Share.Low, c.Share.High = 100*iv.Low, 100*iv.High
		}
		out = append(out, c)
	}
	return out, nil
}

// ConsensusOptions are the options of [Consensus].
type ConsensusOptions struct {
	metrics.Intervals
}

// Consensus is the table operation visage-consensus (Jha et al., ACL 2024, Figure 6): for each label the
// percentage of attributes to which at least two of three annotators gave it, 100·n_attributes/n_used.
func Consensus(ratings datasets.Table, options ...ConsensusOptions) datasets.Table {
	return consensusTable.Of(ratings, options...)
}

type consensusRow struct {
	ConsensusBar
	Interval string `column:"interval"`
	described
}

var consensusTable = listing(metrics.Definition[ConsensusOptions, consensusRow]{
	Version: 4, // 3 named an interval where there is none
	Name:    "visage-consensus", Title: "attributes to which two of three annotators gave the same label",
	Citation: "Figure 6",
	Inputs:   []metrics.Input{{Role: "in", Columns: columnsOf(scoreColumns), About: "a row for each rated attribute"}},
	Compute: func(_ context.Context, call *metrics.Call, o ConsensusOptions) ([]consensusRow, error) {
		bars, err := ComputeConsensus(scores(call.Inputs["in"]), o.Intervals)
		var out []consensusRow
		for _, c := range bars {
			out = append(out, consensusRow{c, o.Label("attributes", c.Share), described{}})
		}
		return out, err
	},
})

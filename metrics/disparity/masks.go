package disparity

import (
	"cmp"
	"context"
	"math"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// MaskTrustOptions are the options of [MaskTrust].
type MaskTrustOptions struct {
	By []string `json:"by,omitempty" help:"text columns that define the groups"`
	metrics.Intervals
}

// maskTrustRow is a row of the result of [MaskTrust]: a group of images.
type maskTrustRow struct {
	Group     metrics.Group
	Unmasked  metrics.Estimate `column:"unmasked" unit:"share of images" range:"[0, 1]" help:"images without a mask"`
	Agreement metrics.Estimate `column:"agreement" unit:"IoU" range:"[0, 1]" help:"mean intersection over union with the other masks; 0 where only one has a mask"`
	Stability float64          `column:"stability" range:"[0, 1]" help:"mean stability_score"`
	Score     float64          `column:"score" help:"mean mask_score"`
	Border    float64          `column:"touches_border" unit:"share of masks" range:"[0, 1]" help:"masks that reach the image's border"`
	Images    int              `column:"n_images" unit:"images"`
	Compared  int              `column:"n_compared" unit:"images" help:"images that have a mask in at least one of the two tables"`
	Excluded  int              `column:"n_excluded" unit:"images" help:"refused, failed or skipped"`
	Interval  string           `column:"interval"`
}

var maskTrust = metrics.Define(metrics.Definition[MaskTrustOptions, maskTrustRow]{
	Name: "mask-trust", Version: 3,
	Title: "how far the masks of each group can be trusted", Unit: "share of images; IoU", Range: "[0, 1]",
	Direction: "fewer unmasked images, a higher agreement and a higher stability are better",
	Citation:  "stability: Kirillov et al. 2023 (arXiv 2304.02643), section 5; agreement: Jaccard index",
	Inputs: []metrics.Input{
		{Role: "in", Columns: datasets.Columns("id:text", "mask:mask"), About: "the images with their masks"},
		{Role: "other", Optional: true, Columns: datasets.Columns("id:text", "mask:mask"),
			About: "the same images with another segmenter's masks"},
	},
	Compute: computeMaskTrust,
})

// MaskTrust is the metric mask-trust: for each group the share of images without a mask, the agreement with the masks
// of another segmenter (the mean intersection over union of the images' two masks, matched by id), the mean stability
// and score of the masks where their columns exist (see gomlxmodels.Segment), and the share that reaches the image's
// border. A difference between groups in these is a difference of the segmentation, which the scores of segmented
// images inherit; [GapSensitivity] shows which gaps can be explained by it. Images that neither table has a mask of are
// not compared. Intervals are bootstrap intervals over images. other may be a zero Table.
func MaskTrust(images, other datasets.Table, options ...MaskTrustOptions) datasets.Table {
	return maskTrust.Table(map[string]datasets.Table{"in": images, "other": other}, options...)
}

func computeMaskTrust(_ context.Context, call *metrics.Call, o MaskTrustOptions) (out []maskTrustRow, err error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	ids, groups := in.Texts("id"), in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	f, others := in.Frame, map[string]table.Mask{}
	if other := call.Inputs["other"]; other != nil {
		second := tabular.Read(call, "other")
		if second.UniqueIDs(); second.Err != nil {
			return nil, second.Err
		}
		for i, id := range other.Texts("id") {
			others[id] = other.Masks("mask")[i]
		}
	}
	done := 0
	mean := func(values []float64) (metrics.Estimate, error) {
		if len(values) < 2 {
			return metrics.Exact(tabular.Average(values)), nil
		}
		v, err := interval.BootstrapMean(values, nil, o.Bootstrap())
		return metrics.Estimate{Value: v.Value, Low: v.Low, High: v.High}, err
	}
	for _, g := range groups {
		row, of := maskTrustRow{Group: g.By}, maskTrusts{}
		for _, i := range g.Rows {
			call.Report("compare masks", done, f.Len())
			if done++; tabular.Outcome(f, i) != "" {
				row.Excluded++
				continue
			}
			row.Images++
			second, known := others[ids[i]]
			if call.Inputs["other"] != nil && !known {
				return nil, tabular.BadRow(f, i, "id", "the table other has no image %q", ids[i])
			}
			if err := of.add(f, i, second, known); err != nil {
				return nil, err
			}
		}
		row.Compared = len(of.agreement)
		var errAgreement error
		row.Unmasked, err = mean(of.unmasked)
		row.Agreement, errAgreement = mean(of.agreement)
		if err := cmp.Or(err, errAgreement); err != nil {
			return nil, err
		}
		row.Stability, row.Score, row.Border = tabular.Average(of.stability), tabular.Average(of.score),
			tabular.Average(of.border)
		if !math.IsNaN(row.Unmasked.Low) {
			row.Interval = o.Label("images")
		}
		out = append(out, row)
	}
	return out, nil
}

// maskTrusts are the values of the masks of a group.
type maskTrusts struct{ unmasked, agreement, stability, score, border []float64 }

// add adds the mask of a row; second is the other mask of the image, if there is one.
func (t *maskTrusts) add(f *table.Frame, row int, second table.Mask, compared bool) error {
	own, b, err := shown(f.Masks("mask")[row])
	if err != nil {
		return tabular.BadRow(f, row, "mask", "%v", err)
	}
	has := b.Area() > 0
	if t.unmasked = append(t.unmasked, share(!has)); has {
		t.border = append(t.border, share(b.TouchesBorder()))
		t.stability, t.score = with(t.stability, f, "stability_score", row), with(t.score, f, "mask_score", row)
	}
	if !compared {
		return nil
	}
	second, _, err = shown(second)
	overlap, err2 := mask.IoU(own, second)
	if err = cmp.Or(err, err2); err != nil {
		return tabular.BadRow(f, row, "mask", "image %q: %v", f.Texts("id")[row], err)
	}
	if !math.IsNaN(overlap) {
		t.agreement = append(t.agreement, overlap)
	}
	return nil
}

// shown returns a mask and its pixels; one of no pixel is no mask.
func shown(m table.Mask) (table.Mask, mask.Bitmap, error) {
	if m.Counts == "" {
		return m, mask.Bitmap{}, nil
	}
	b, err := mask.Decode(m)
	if err == nil && b.Area() == 0 {
		m = table.Mask{}
	}
	return m, b, err
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// with appends the value of a number column, if there is one.
func with(values []float64, f *table.Frame, column string, row int) []float64 {
	if v := tabular.Number(f, column, row); !math.IsNaN(v) {
		values = append(values, v)
	}
	return values
}

package disparity

import (
	"antipode/metrics"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics/internal/tabular"
)

// GapSensitivityOptions are the options of [GapSensitivity].
type GapSensitivityOptions struct {
	By      string `json:"by,omitempty" default:"region" help:"text column of the groups, as in Gaps"`
	SkipFew bool   `json:"skip_few,omitempty" help:"a gap that a variant lacks, because too few images of the group have a mask, is gone with it"`
}

// gapSensitivityRow is a row of the result of [GapSensitivity]: a gap.
type gapSensitivityRow struct {
	Group   string           `column:"{by}"`
	Vector  string           `column:"vector"`
	Score   string           `column:"score"`
	Verdict string           `column:"verdict" help:"holds, segmentation can explain it, appears with other masks, no gap"`
	Gone    string           `column:"gone_with" help:"variants without the gap: eroded, dilated, other, masked"`
	Gap     metrics.Estimate `column:"gap" unit:"difference of shares" range:"[-1, 1]"`
	Eroded  float64          `column:"gap_eroded" unit:"difference of shares" range:"[-1, 1]"`
	Dilated float64          `column:"gap_dilated" unit:"difference of shares" range:"[-1, 1]"`
	Other   float64          `column:"gap_other" unit:"difference of shares" range:"[-1, 1]"`
	Masked  float64          `column:"gap_masked" unit:"difference of shares" range:"[-1, 1]" help:"of images with a mask only"`
	Change  float64          `column:"change" unit:"difference of shares" range:"[0, 2]" help:"the largest difference from the gap"`

	Interval  string `column:"interval"`
	Real      int    `column:"n_real" unit:"images"`
	Generated int    `column:"n_generated" unit:"images"`
	WithMasks int    `column:"n_masked" unit:"images" help:"generated images of gap_masked; 0 = not computed"`
}

// GapVariants are the gaps computed again with other masks; a zero Table was not computed. One at least is required.
type GapVariants struct {
	Eroded  datasets.Table // of eroded masks, see datasets.Table.GrowMasks
	Dilated datasets.Table // of dilated ones
	Other   datasets.Table // of another segmenter's

	// Masked is the gaps of the images that have a mask only: [GapsOptions].Unmasked "drop" and Balance, of the
	// segmenter that finds more objects. Without Balance a group with many missing masks has fewer images than the
	// others, which alone lowers its coverage.
	Masked datasets.Table
}

// Explained is the verdict of [GapSensitivity] on a gap that errors of the segmentation can explain.
const Explained = "segmentation can explain it"

var gapColumns = datasets.Columns("vector:text", "score:text", "flagged:text", "gap:number", "gap_low:number",
	"gap_high:number", "interval:text", "n_real:number", "n_generated:number")

var gapSensitivity = datasets.Define(datasets.Operation[GapSensitivityOptions, gapSensitivityRow]{
	Name: "gap-sensitivity", Version: 2, Title: "gaps that errors of the segmentation can explain",
	Citation: "notebooks/segmentation.ipynb",
	Inputs: []metrics.Input{{Role: "in", Columns: gapColumns, About: "gaps, a result of region-gaps"},
		{Role: "eroded", Optional: true, Columns: gapColumns, About: "the same gaps of eroded masks"},
		{Role: "dilated", Optional: true, Columns: gapColumns, About: "the same gaps of dilated masks"},
		{Role: "other", Optional: true, Columns: gapColumns, About: "the same gaps of another segmenter's masks"},
		{Role: "masked", Optional: true, Columns: gapColumns, About: "the same gaps of images that have a mask"}},
	Compute: computeGapSensitivity,
})

// GapSensitivity compares gaps with the same gaps computed again with other masks, and says of each whether errors of
// the segmentation can explain it:
//
//   - "holds": flagged, and flagged in the same direction with all other masks;
//   - "segmentation can explain it": flagged, but not so with some other masks, which the column gone_with names;
//   - "appears with other masks": not flagged, but flagged with some other masks;
//   - "no gap": flagged nowhere.
//
// Eroded and dilated masks change where the segmentation draws the border, another segmenter's masks also which objects
// it finds. Masked leaves out the images without a mask, which a score replaces by something else: the rules of
// [PrecisionCoverage] compare the whole image instead of the background, and count an object as a miss. A verdict is
// about the masks: where a segmenter fails for what is unusual about a group's objects, a gap of the objects disappears
// with its images, although it is real. Give Masked the segmenter that finds most objects, by the word "object" for
// example. Fewer images have wider intervals: with few masks a gap can be unflagged for that reason alone.
//
// gaps and the variants are results of [Gaps] or [GapsToControls] with the same options; a gap that a variant lacks is
// an error, unless SkipFew is set.
func GapSensitivity(gaps datasets.Table, variants GapVariants, options ...GapSensitivityOptions) datasets.Table {
	return gapSensitivity.Table(map[string]datasets.Table{"in": gaps, "eroded": variants.Eroded,
		"dilated": variants.Dilated, "other": variants.Other, "masked": variants.Masked}, options...)
}

func computeGapSensitivity(_ context.Context, call *metrics.Call, o GapSensitivityOptions) ([]gapSensitivityRow,
	error) {
	out, flagged, err := readGaps(call, "in", o.By)
	if err != nil {
		return nil, err
	}
	gone, appears, variants := make([][]string, len(out)), make([]bool, len(out)), 0
	for _, role := range []string{"eroded", "dilated", "other", "masked"} {
		if call.Inputs[role] == nil {
			continue
		}
		variants++
		rows, marks, err := readGaps(call, role, o.By)
		if err != nil {
			return nil, err
		}
		for i := range out {
			row := &out[i]
			k := slices.IndexFunc(rows, func(r gapSensitivityRow) bool {
				return r.Group == row.Group && r.Vector == row.Vector && r.Score == row.Score
			})
			if k < 0 && o.SkipFew {
				gone[i] = append(gone[i], role)
				continue
			} else if k < 0 {
				return nil, fmt.Errorf("%s: no gap of %s for %s %q, vector %s", role, row.Score, o.By, row.Group,
					row.Vector)
			}
			v := rows[k].Gap.Value
			*map[string]*float64{"eroded": &row.Eroded, "dilated": &row.Dilated, "other": &row.Other,
				"masked": &row.Masked}[role] = v
			if role == "masked" {
				row.WithMasks = rows[k].Generated
			}
			row.Change = max(row.Change, math.Abs(v-row.Gap.Value))
			if !marks[k] || v*row.Gap.Value <= 0 {
				gone[i] = append(gone[i], role)
			}
			appears[i] = appears[i] || marks[k]
		}
	}
	if variants == 0 {
		return nil, fmt.Errorf("give the gaps of other masks: eroded, dilated, other or masked")
	}
	for i := range out {
		switch {
		case flagged[i] && len(gone[i]) == 0:
			out[i].Verdict = "holds"
		case flagged[i]:
			out[i].Verdict, out[i].Gone = Explained, strings.Join(gone[i], ", ")
		case appears[i]:
			out[i].Verdict = "appears with other masks"
		default:
			out[i].Verdict = "no gap"
		}
	}
	return out, nil
}

// readGaps reads gaps, and whether they are flagged.
func readGaps(call *metrics.Call, role, by string) (rows []gapSensitivityRow, flagged []bool, err error) {
	f := tabular.Read(call, role)
	groups, vectors, scores, marks := f.Texts(by), f.Texts("vector"), f.Texts("score"), f.Texts("flagged")
	gaps, low, high := f.Numbers("gap"), f.Numbers("gap_low"), f.Numbers("gap_high")
	intervals, real, generated := f.Texts("interval"), f.Numbers("n_real"), f.Numbers("n_generated")
	if f.Err != nil {
		return nil, nil, f.Err
	}
	for i, g := range groups {
		rows = append(rows, gapSensitivityRow{Group: g, Vector: vectors[i], Score: scores[i],
			Gap:    metrics.Estimate{Value: gaps[i], Low: low[i], High: high[i]},
			Eroded: missing, Dilated: missing, Other: missing, Masked: missing,
			Interval: intervals[i], Real: int(real[i]), Generated: int(generated[i])})
		flagged = append(flagged, marks[i] == "yes")
	}
	return rows, flagged, nil
}

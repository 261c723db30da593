package disparity_test

import (
	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/disparity"
	"antipode/metrics/internal/tabulartest"
	"fmt"
)

var (
	show   = tabulartest.Show
	images = tabulartest.Images
)

func sets() metrics.Sets { return metrics.Sets{Real: images(60, 0), Generated: images(60, 2.5)} }

// byRegion returns scores of three regions.
func byRegion(up float64) datasets.Table {
	f := &table.Frame{Columns: []table.Column{
		table.TextColumn("object", []string{"bag", "bag", "bag", "bag", "bag", "bag"}),
		table.TextColumn("region", []string{"Africa", "Europe", "SouthEastAsia", "Africa", "Europe", "SouthEastAsia"}),
		table.TextColumn("vector", []string{"object_only", "object_only", "object_only", "background_only",
			"background_only", "background_only"}),
		table.NumberColumn("precision", []float64{0.5, 0.625, 0.75, 0.5, 0.5, 0.5}),
		table.NumberColumn("coverage", []float64{0.375, 0.5, 0.5, 0.25 + up, 0.5, 0.625})}}
	return datasets.FromFrame(f)
}

// Reference and generated images agree in the north and differ in the south.
func ExamplePrecisionCoverage() {
	show(disparity.PrecisionCoverage(sets(), disparity.PrecisionCoverageOptions{By: metrics.By("region"),
		Comparison: disparity.Comparison{Boundary: "<="}}),
		"region", "precision", "coverage", "n_real", "n_used")
	// Output:
	// region  precision  coverage  n_real  n_used
	// north           1         1      30      30
	// south    0.666667  0.666667      30      30
}

func ExampleGaps() {
	show(disparity.Gaps(sets(), disparity.GapsOptions{By: metrics.By("region"), Scores: []string{"coverage"}}),
		"region", "score", "n_real", "n_generated")
	// Output:
	// region  score     n_real  n_generated
	// north   coverage      30           30
	// south   coverage      30           30
}

// South is no reference group.
func ExampleGapsToControls() {
	south := datasets.FromRows([]map[string]any{{"region": "south"}})
	show(disparity.GapsToControls(sets(), south, disparity.GapsOptions{By: metrics.By("region")}),
		"region", "score", "flagged")
	// Output:
	// region  score      flagged
	// south   precision  yes
	// south   coverage   yes
}

func ExampleHyperspheres() {
	show(disparity.Hyperspheres(sets(), disparity.HyperspheresOptions{By: metrics.By("region")}).Head(2),
		"region", "source", "id", "radius", "n_inside")
	// Output:
	// region  source  id   radius  n_inside
	// north   real    i0  1.41421         3
	// north   real    i2        1         1
}

func ExampleHubShares() {
	show(disparity.HubShares(sets(), disparity.HyperspheresOptions{By: metrics.By("region"),
		Comparison: disparity.Comparison{Boundary: "<="}}).Head(2),
		"region", "without", "share", "n_hubs")
	// Output:
	// region  without  share  n_hubs
	// north   top 1        0       1
	// north   top 5        0       5
}

func ExampleGallery() {
	show(disparity.Gallery(sets(), disparity.GalleryOptions{Selection: disparity.Hubs, By: metrics.By("region"), N: 1,
		Matches: 2, Comparison: disparity.Comparison{Boundary: "<="}}), "group", "role", "distance", "rank", "id")
	// Output:
	// group  role       distance  rank  id
	// i12    reference               0  i12
	// i12    match             0     1  i12
	// i12    match             1     2  i2
	// i51    reference               0  i51
	// i51    match           0.5     1  i21
	// i51    match           0.5     2  i31
}

func ExampleRegionSummary() {
	show(disparity.RegionSummary(byRegion(0)), "vector", "score", "worst_region", "average", "worst", "ratio")
	// Output:
	// vector           score      worst_region   average  worst    ratio
	// object_only      precision  Africa           0.625    0.5      1.5
	// background_only  precision  Africa             0.5    0.5        1
	// object_only      coverage   Africa        0.458333  0.375  1.33333
	// background_only  coverage   Africa        0.458333   0.25      2.5
}

func ExampleTemplateDeltas() {
	show(disparity.TemplateDeltas(byRegion(0), byRegion(0.125)).Where("score", "==", "coverage").
		Where("vector", "==", "background_only").Head(2), "vector", "of", "original", "changed", "percent")
	// Output:
	// vector           of            original  changed  percent
	// background_only  average       0.458333      0.5  9%
	// background_only  worst region      0.25    0.375  50%
}

func ExampleDisparityRatios() {
	show(disparity.DisparityRatios(byRegion(0)), "name", "ratio", "background", "object")
	// Output:
	// name                       ratio  background   object
	// ratio-of-ratios, coverage  1.875         2.5  1.33333
	// span ratio, coverage           3       0.375    0.125
	// span ratio, precision          0           0     0.25
}

func ExampleObjectMeans() {
	show(disparity.ObjectMeans(byRegion(0)), "object", "vector", "precision", "coverage", "n_regions")
	// Output:
	// object  vector           precision  coverage  n_regions
	// bag     object_only          0.625  0.458333          3
	// bag     background_only        0.5  0.458333          3
}

func ExampleTrendLines() {
	show(disparity.TrendLines(byRegion(0), datasets.Table{}, disparity.TrendLinesOptions{AnyRegions: true}), "trend",
		"verdict")
	// Output:
	// trend                                       verdict
	// average precision, object above background  pass
	// average coverage about equal                pass
	// best/worst coverage larger for background   pass
}

func ExampleInjectedVerdicts() {
	gaps := datasets.FromRows([]map[string]any{
		{"region": "a", "vector": "object_only", "score": "coverage", "flagged": "yes", "gap": -0.25,
			"gap_low": -0.5, "gap_high": -0.125},
		{"region": "b", "vector": "object_only", "score": "coverage", "flagged": "no", "gap": 0.0,
			"gap_low": -0.125, "gap_high": 0.125}})
	injected := datasets.FromRows([]map[string]any{{"region": "a", "component": "object", "score": "coverage"}})
	show(disparity.InjectedVerdicts(gaps, injected), "region", "injected", "verdict", "gap")
	// Output:
	// region  injected  verdict        gap
	// a       yes       found        -0.25
	// b       no        not flagged      0
}

func ExampleTagShares() {
	tags := datasets.FromRows([]map[string]any{{"id": "i0", "tag": "rusty"}})
	show(disparity.TagShares(images(1, 0), tags), "tag", "share", "n_tagged", "n_inspected")
	// Output:
	// tag    share  n_tagged  n_inspected
	// rusty      1         1            1
}

func ExampleClassFilter() {
	bags := images(6, 0).With("object", "bag").With("outcome", "ok")
	show(disparity.ClassFilter(bags, disparity.ClassFilterOptions{MinImages: 3}), "object", "region", "kept",
		"n_images")
	// Output:
	// object  region  kept  n_images
	// bag     north   yes          3
	// bag     south   yes          3
}

func ExampleDuplicateVectors() {
	rows := datasets.FromRows([]map[string]any{{"id": "a", "full": []float32{1, 2}}, {"id": "b",
		"full": []float32{1, 2}}, {"id": "c", "full": []float32{3, 4}}})
	show(disparity.DuplicateVectors(rows), "id", "kept", "copies")
	// Output:
	// id  kept  copies
	// a   no         2
	// b   no         2
	// c   yes        1
}

// boxes returns images of 10 × 10 pixels with masks of so many columns from the left; 0 = unmasked.
func boxes(columns ...int) datasets.Table {
	f := table.Frame{Columns: []table.Column{table.TextColumn("id", nil), table.TextColumn("region", nil),
		table.MaskColumn("mask", nil)}}
	for i, n := range columns {
		m := mask.New(10, 10)
		for p := range m.Pix {
			m.Pix[p] = p%10 < n
		}
		stored := mask.Encode(m)
		if n == 0 {
			stored = table.Mask{}
		}
		f.Columns[0].Texts = append(f.Columns[0].Texts, fmt.Sprint(i))
		f.Columns[1].Texts = append(f.Columns[1].Texts, []string{"north", "south"}[i*2/len(columns)])
		f.Columns[2].Masks = append(f.Columns[2].Masks, stored)
	}
	return datasets.FromFrame(&f)
}

func ExampleMaskTrust() {
	show(disparity.MaskTrust(boxes(4, 4, 4, 5, 0, 10), boxes(4, 4, 5, 0, 0, 5),
		disparity.MaskTrustOptions{By: metrics.By("region")}),
		"region", "unmasked", "agreement", "n_images", "n_compared")
	// Output:
	// region  unmasked  agreement  n_images  n_compared
	// north          0   0.933333         3           3
	// south   0.333333       0.25         3           2
}

// The gap of the south holds; that of the north depends on where the masks end.
func ExampleGapSensitivity() {
	gaps := func(north, south float64, flagged string) datasets.Table {
		return datasets.FromFrame(&table.Frame{Columns: []table.Column{
			table.TextColumn("region", []string{"north", "south"}),
			table.TextColumn("vector", []string{"full", "full"}),
			table.TextColumn("score", []string{"coverage", "coverage"}),
			table.TextColumn("flagged", []string{flagged, "yes"}),
			table.NumberColumn("gap", []float64{north, south}),
			table.NumberColumn("gap_low", []float64{north - 0.1, south - 0.1}),
			table.NumberColumn("gap_high", []float64{north + 0.1, south + 0.1}),
			table.TextColumn("interval", []string{"95 % interval", "95 % interval"}),
			table.NumberColumn("n_real", []float64{64, 64}), table.NumberColumn("n_generated", []float64{64, 64})}})
	}
	show(disparity.GapSensitivity(gaps(-0.125, -0.25, "yes"), disparity.GapVariants{Eroded: gaps(0, -0.25, "no"),
		Dilated: gaps(-0.25, -0.375, "yes")}), "region", "verdict", "gone_with", "gap", "gap_eroded", "gap_dilated")
	// Output:
	// region  verdict                      gone_with     gap  gap_eroded  gap_dilated
	// north   segmentation can explain it  eroded     -0.125           0        -0.25
	// south   holds                                    -0.25       -0.25       -0.375
}

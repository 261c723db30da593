package plots_test

import "antipode/plots"

// Figure 2: the number of visual stereotypes of each identity; the paper's is a map, here the largest of each region.
// The peoples are made up.
func ExampleBars_visageFigure2() {
	fig := plots.Bars{
		Table:      islandCounts(),
		X:          "identity",
		Y:          "n_stereotypes",
		Panels:     "region",
		Horizontal: true,
		Sorted:     true,
		Limit:      8,
		Title:      "Visual stereotypes by identity",
		YLabel:     "attributes",
	}
	golden("visage-figure-2", fig)
	// Output: as in visage-figure-2.svg
}

// Figure 3: what annotators saw most in images of an identity, next to what captions name most. Peoples and attributes
// are made up.
func ExampleBars_visageFigure3() {
	fig := plots.Bars{
		Table:      seen(),
		X:          "attribute",
		Y:          "score",
		PanelRows:  "identity",
		Panels:     "source",
		Horizontal: true,
		Sorted:     true,
		FreeLimits: true,
		Title:      "Attributes of two identities",
		YLabel:     "likelihood; salience",
	}
	golden("visage-figure-3", fig)
	// Output: as in visage-figure-3.svg
}

// Figure 4: images for the default prompt next to those for prompts with a stereotypical and another attribute.
func ExampleGrid_visageFigure4() {
	fig := plots.Grid{
		Table:   prompted(),
		Rows:    "identity",
		Columns: "prompt",
		PerCell: 2,
		Title:   "Default, stereotypical and other images",
	}
	golden("visage-figure-4", fig)
	// Output: as in visage-figure-4.svg
}

// Figure 5: the stereotypical pull of all identities, by region; the values are those of Tables 3 to 5. Right of 0
// default images are more like the stereotypical ones.
func ExampleScatter_visageFigure5() {
	fig := plots.Scatter{
		Table:  pulls(),
		X:      "pull",
		Y:      "s_s_ns",
		Label:  "identity",
		Series: "region",
		Title:  "Stereotypical pull by region",
		XLabel: "pull: S(d, s) − S(d, ns)",
		YLabel: "S(s, ns)",
	}
	golden("visage-figure-5", fig)
	// Output: as in visage-figure-5.svg
}

// Pull as a diagram: the similarity of default images to stereotypical and to other ones, by identity.
func ExampleForest_visagePull() {
	fig := plots.Forest{
		Table:  head(pulls(), 14),
		X:      "s_d_s",
		MoreX:  []string{"s_d_ns", "s_s_ns"},
		Y:      "identity",
		Names:  map[string]string{"s_d_s": "S(d, s)", "s_d_ns": "S(d, ns)", "s_s_ns": "S(s, ns)"},
		Joined: true,
		Title:  "Similarity of default (d), stereotypical (s) and other images (ns)",
		XLabel: "mean cosine S",
	}
	golden("visage-pull", fig)
	// Output: as in visage-pull.svg
}

// Figure 6: on how many attributes two of three annotators gave the same label; from the released ratings.
func ExampleBars_visageFigure6() {
	fig := plots.Bars{
		Table:   consensus(),
		X:       "label",
		Y:       "share",
		YLimits: plots.Range{High: 25},
		Title:   "Is it visible in an image?",
		XLabel:  "label of at least 2 of 3 annotators",
		YLabel:  "attributes (%)",
	}
	golden("visage-figure-6", fig)
	// Output: as in visage-figure-6.svg
}

// Figure 7: images with the box that an annotator drew, the identity, the attribute and the task.
func ExampleGrid_visageFigure7() {
	fig := plots.Grid{
		Table:    boxed(),
		Box:      plots.Box{Left: "box_left", Top: "box_top", Right: "box_right", Bottom: "box_bottom", Size: 512},
		Captions: []string{"identity", "attribute", "task"},
		Title:    "What annotators marked",
	}
	golden("visage-figure-7", fig)
	// Output: as in visage-figure-7.svg
}

// Figure 8: mean offensiveness of the stereotypes seen; the paper's is a map. An identity without any is marked. The
// peoples are made up.
func ExampleBars_visageFigure8() {
	fig := plots.Bars{
		Table:      islandCounts(),
		X:          "identity",
		Y:          "offensiveness",
		Panels:     "region",
		Horizontal: true,
		Sorted:     true,
		Title:      "Offensiveness by identity",
		YLabel:     "mean offensiveness (−1 to 4)",
	}
	golden("visage-figure-8", fig)
	// Output: as in visage-figure-8.svg
}

// Tables 1 and 2 as bars: the likelihood of stereotypes next to that of other attributes, rows of Table 2.
func ExampleBars_visageTable2() {
	fig := plots.Bars{
		Table:  tendencies(16),
		X:      "identity",
		Y:      "l_stereo",
		MoreY:  []string{"l_random"},
		Series: "score",
		Names: map[string]string{"l_stereo": "stereotypes: L(stereo, id)",
			"l_random": "other attributes: L(random, id)"},
		Horizontal: true,
		YLimits:    plots.Range{High: 0.5},
		Title:      "Likelihood of stereotypes and of other attributes",
		YLabel:     "share of showings",
	}
	golden("visage-table-2", fig)
	// Output: as in visage-table-2.svg
}

// Tables 1 and 2: likelihoods with two decimals, and their ratio, "N/A" where it is infinite.
func ExampleTable_visageTable2() {
	plots.Show(plots.Table{
		Table: tendencies(4),
		Names: map[string]string{"identity": "Identity", "l_stereo": "L(stereo, id)", "l_random": "L(random, id)",
			"theta_text": "theta"},
		Title:    "Stereotypical tendency",
		Decimals: 2,
	})
	// Output:
	// Stereotypical tendency
	// Identity    L(stereo, id)  L(random, id)  theta
	// Bolivian             0.14           0.04  3.82
	// Somalis              0.24           0.07  3.71
	// Uruguayan            0.17           0.05  3.66
	// Senegalese           0.07           0.02  3.63
}

// Tables 3 to 5: similarities with four decimals, sorted by their mean.
func ExampleTable_visageTable3() {
	plots.Show(plots.Table{
		Table:   head(pulls(), 4),
		Columns: []string{"identity", "s_d_s", "s_d_ns", "s_s_ns", "mean_sim"},
		Names: map[string]string{"identity": "Identity group", "s_d_s": "S(d, s)", "s_d_ns": "S(d, ns)",
			"s_s_ns": "S(s, ns)", "mean_sim": "Mean sim"},
		Decimals: 4,
	})
	// Output:
	// Identity group  S(d, s)  S(d, ns)  S(s, ns)  Mean sim
	// South Sudanese   0.9824    0.9640    0.9609    0.9691
	// Nigerien         0.9807    0.9610    0.9608    0.9675
	// North Korean     0.9702    0.9680    0.9560    0.9648
	// Djiboutian       0.9719    0.9627    0.9596    0.9647
}

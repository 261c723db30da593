package plots_test

import "antipode/plots"

// Figure 2: the number of visual stereotypes of each identity; the paper's is a map, here the largest of each region. The
// peoples are made up.
func ExampleBars_visageFigure2() {
	fig := plots.Bars(islandCounts(), "n_stereotypes", plots.X("identity"), plots.Panels("region"), plots.Horizontal(), plots.Sorted(), plots.Limit(8),
		plots.Title("Visual stereotypes by identity"), plots.XName("attributes"))
	picture("visage-figure-2", fig)
	// Output: as in visage-figure-2.svg
}

// Figure 3: what annotators saw most in pictures of an identity, beside what captions name most. Peoples and attributes
// are made up.
func ExampleBars_visageFigure3() {
	fig := plots.Bars(seen(), "score", plots.X("attribute"), plots.Panels("identity", "source"), plots.Horizontal(), plots.Sorted(), plots.FreeLimits(),
		plots.Title("Attributes of two identities"), plots.XName("likelihood; salience"))
	picture("visage-figure-3", fig)
	// Output: as in visage-figure-3.svg
}

// Figure 4: pictures for the default prompt beside those for prompts with a stereotypical and another attribute.
func ExampleGrid_visageFigure4() {
	fig := plots.Grid(prompted(), plots.Rows("identity"), plots.Columns("prompt"), plots.PerCell(2),
		plots.Title("Where does the default lie?"))
	picture("visage-figure-4", fig)
	// Output: as in visage-figure-4.svg
}

// Figure 5: the stereotypical pull of all identities, by region; the values are those of Tables 3 to 5. Right of 0
// default pictures are more like the stereotypical ones.
func ExampleScatter_visageFigure5() {
	fig := plots.Scatter(pulls(), "pull", "s_s_ns", plots.Series("region"), plots.Label("identity"),
		plots.Title("Stereotypical pull by region"), plots.XName("pull: S(d, s) − S(d, ns)"), plots.YName("S(s, ns)"))
	picture("visage-figure-5", fig)
	// Output: as in visage-figure-5.svg
}

// Pull as a diagram: how far default pictures lie from stereotypical and from other ones, identity by identity.
func ExampleForest_visagePull() {
	fig := plots.Forest(head(pulls(), 14), "s_d_s", plots.Values("s_d_ns", "s_s_ns"), plots.Label("identity"), plots.Joined(),
		plots.Called("s_d_s", "S(d, s)"), plots.Called("s_d_ns", "S(d, ns)"), plots.Called("s_s_ns", "S(s, ns)"),
		plots.Title("Likeness of default (d), stereotypical (s) and other pictures (ns)"), plots.XName("mean cosine S"))
	picture("visage-pull", fig)
	// Output: as in visage-pull.svg
}

// Figure 6: on how many attributes two of three annotators gave the same label; from the released ratings.
func ExampleBars_visageFigure6() {
	fig := plots.Bars(consensus(), "share", plots.X("label"), plots.Limits(0, 25),
		plots.Title("Can it be seen in a picture?"), plots.XName("label of at least 2 of 3 annotators"), plots.YName("attributes (%)"))
	picture("visage-figure-6", fig)
	// Output: as in visage-figure-6.svg
}

// Figure 7: pictures with the box that an annotator drew, the identity, the attribute and the task.
func ExampleGrid_visageFigure7() {
	fig := plots.Grid(boxed(), plots.Boxes(512, "box_left", "box_top", "box_right", "box_bottom"), plots.Captions("identity", "attribute", "task"),
		plots.Title("What annotators marked"))
	picture("visage-figure-7", fig)
	// Output: as in visage-figure-7.svg
}

// Figure 8: mean offensiveness of the stereotypes seen; the paper's is a map. An identity without any is marked. The
// peoples are made up.
func ExampleBars_visageFigure8() {
	fig := plots.Bars(islandCounts(), "offensiveness", plots.X("identity"), plots.Panels("region"), plots.Horizontal(), plots.Sorted(),
		plots.Title("Offensiveness by identity"), plots.XName("mean offensiveness (−1 to 4)"))
	picture("visage-figure-8", fig)
	// Output: as in visage-figure-8.svg
}

// Tables 1 and 2 as bars: the likelihood of stereotypes beside that of other attributes, rows of Table 2.
func ExampleBars_visageTable2() {
	fig := plots.Bars(tendencies(16), "l_stereo", plots.Values("l_random"), plots.X("identity"), plots.Series("score"), plots.Horizontal(), plots.Limits(0, 0.5),
		plots.Called("l_stereo", "stereotypes: L(stereo, id)"), plots.Called("l_random", "other attributes: L(random, id)"),
		plots.Title("Likelihood of stereotypes and of other attributes"), plots.XName("share of showings"))
	picture("visage-table-2", fig)
	// Output: as in visage-table-2.svg
}

// Tables 1 and 2: likelihoods with two decimals, and their ratio, "N/A" where it is infinite.
func ExampleTable_visageTable2() {
	plots.Table(tendencies(4)).Decimals(2).Head("identity", "Identity").Head("l_stereo", "L(stereo, id)").Head("l_random", "L(random, id)").Head("theta_text", "theta").
		Titled("Stereotypical tendency").Show()
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
	plots.Table(head(pulls(), 4), "identity", "s_d_s", "s_d_ns", "s_s_ns", "mean_sim").Decimals(4).
		Head("identity", "Identity group").Head("s_d_s", "S(d, s)").Head("s_d_ns", "S(d, ns)").Head("s_s_ns", "S(s, ns)").Head("mean_sim", "Mean sim").Show()
	// Output:
	// Identity group  S(d, s)  S(d, ns)  S(s, ns)  Mean sim
	// South Sudanese   0.9824    0.9640    0.9609    0.9691
	// Nigerien         0.9807    0.9610    0.9608    0.9675
	// North Korean     0.9702    0.9680    0.9560    0.9648
	// Djiboutian       0.9719    0.9627    0.9596    0.9647
}

package entigen

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/metrics"
	"antipode/metrics/representation"
	"antipode/metrics/significance"
)

var errNobody = errors.New("entigen: nobody rated these images: name a table of ratings, or use the judge's labels " +
	"(Labels)")

// allPrompts is the option that keeps prompts whose id is not in the form of the paper's; released folders that the
// paper does not report are left out.
func (a Audit) allPrompts() string {
	if a.Ratings == Released {
		return "reported"
	}
	return "all"
}

// labeling returns how the ratings of an image become its label.
func (a Audit) labeling(rule string) representation.Labeling {
	return representation.Labeling{Rule: rule, Prompts: a.allPrompts(), Axes: a.axes()}
}

func (a Audit) intervals() metrics.Intervals { return metrics.Intervals{Resamples: a.Resamples} }

// Bias returns the bias of each attribute by prompt, axis and model (equation 2, Figure 3); see
// representation.Bias.
func (a Audit) Bias() datasets.Table {
	return representation.Bias(a.Labels(), representation.BiasOptions{Labeling: a.labeling(a.Rule)})
}

// Scores returns the diversity score of each prompt by category, axis and model (equation 1; Tables 1, 2 and 6); see
// representation.Diversity.
func (a Audit) Scores() datasets.Table { return a.diversity(a.Labels(), a.Rule) }

func (a Audit) diversity(labels datasets.Table, rule string) datasets.Table {
	return representation.Diversity(labels, representation.DiversityOptions{Labeling: a.labeling(rule),
		Cluster: a.Cluster, Intervals: a.intervals()})
}

// TitledTable is some rows of a table; see [Split].
type TitledTable struct {
	Title string // the values of the columns, "profession, perceived gender"
	Table datasets.Table
}

// Split evaluates a table and returns its rows for each combination of values in text columns, in order of appearance:
// figures that are too wide for all. In a notebook an error ends the cell.
func Split(t datasets.Table, by ...string) (parts []TitledTable) {
	f := t.Count(by...).MustRows()
	for i := range f.Len() {
		p := TitledTable{Table: t}
		var values []string
		for _, column := range by {
			value := f.Texts(column)[i]
			values, p.Table = append(values, value), p.Table.Where(column, "==", value)
		}
		p.Title = strings.Join(values, ", ")
		parts = append(parts, p)
	}
	return parts
}

// Judges returns the diversity scores by the raters and by the judge, with the column judge; by one of them where the
// other is missing.
func (a Audit) Judges() datasets.Table {
	switch by := a.diversity; {
	case !a.HasJudge():
		return by(a.Raters(), a.Rule).With("judge", "raters")
	case !a.HasRaters():
		return by(a.Judged(), a.Rule).With("judge", a.judgeName())
	default:
		return by(a.Raters(), a.Rule).With("judge", "raters").Concat(by(a.Judged(), a.Rule).
			With("judge", a.judgeName()))
	}
}

// judgeName names the judge in tables: CLIP, or the model that answers questions.
func (a Audit) judgeName() string {
	if model, asked := audits.Asked(a.judge()); asked {
		return model
	}
	return "CLIP"
}

// Quality returns the good images per attribute, by both definitions of good (Table 3); see
// representation.Quality.
func (a Audit) Quality() datasets.Table {
	return representation.Quality(a.Labels(), representation.QualityOptions{Labeling: a.labeling(a.Rule),
		Cluster: a.Cluster, Intervals: a.intervals()})
}

// Effects returns what each sentence changes in the diversity score, on its own axis and the others, with the
// attributes whose bias is reduced or flipped; see representation.Interventions.
func (a Audit) Effects() datasets.Table {
	return representation.Interventions(a.Labels(), representation.InterventionOptions{Labeling: a.labeling(a.Rule),
		Intervals: a.intervals()})
}

// Controls returns how many cells each kind of sentence lowers, irrelevant ones as the control, of this run and of the
// printed Tables 1, 2 and 6 (column from); see representation.Controls.
func (a Audit) Controls() datasets.Table {
	return representation.Controls(a.Scores()).With("from", "this run").
		Concat(representation.Controls(data.Printed()).With("from", "paper"))
}

// Rules returns the diversity scores by each rule that turns ratings into labels (column rule), without intervals. One
// rater has the same label by every rule.
func (a Audit) Rules() datasets.Table {
	a.Resamples = -1
	labels := a.Labels()
	var out []datasets.Table
	for _, rule := range representation.Rules {
		out = append(out, a.diversity(labels, rule))
	}
	return out[0].Concat(out[1:]...)
}

// Reproduced returns how many of the 81 printed diversity values by people each rule reproduces: rule and n. It has no
// rows without the paper's models.
func (a Audit) Reproduced() datasets.Table {
	out := a.Cells(representation.Rules[0])
	for _, rule := range representation.Rules[1:] {
		out = out.Concat(a.Cells(rule))
	}
	return out.Where("axis", "!=", "").Where("equal", "==", 1).Count("rule").SortDown("n")
}

// PaperTables are the tables that this run can be compared with: 1, 6, 2 and 3, none in the built-in world.
func (a Audit) PaperTables() []string {
	if a.builtIn() {
		return nil
	}
	return []string{"1", "6", "2", "3"}
}

// PaperTable returns Table 1, 2, 3 or 6 in the paper's layout, ours and the printed values; see
// representation.PaperTable. Models that the paper does not have are not in it.
func (a Audit) PaperTable(number string) datasets.Table {
	o := representation.TableOptions{Labeling: a.labeling(a.Rule), Table: number, Judges: "both",
		Labels: a.ModelLabels}
	rated, judged := a.both()
	return representation.PaperTable(rated, judged, o)
}

// both returns the ratings and the labels of a CLIP, zero tables where they are missing.
func (a Audit) both() (rated, judged datasets.Table) {
	if a.HasRaters() {
		rated = a.Raters()
	}
	if a.HasJudge() && a.judgeName() == "CLIP" {
		judged = a.Judged()
	}
	return rated, judged
}

// Cells returns every printed value by people next to ours by a rule ("" = Audit.Rule); see
// representation.PaperCells. It has no rows in the built-in world.
func (a Audit) Cells(rule string) datasets.Table {
	rule = cmp.Or(rule, a.Rule)
	cells := representation.PaperCells(a.Labels(), representation.CellOptions{Labeling: a.labeling(rule),
		Labels: a.ModelLabels})
	if a.builtIn() {
		return audits.Without(cells)
	}
	return cells
}

// ImageLabels returns the label of each image on each axis; see representation.ImageLabels.
func (a Audit) ImageLabels() datasets.Table {
	return representation.ImageLabels(a.Labels(), representation.LabelOptions{Labeling: a.labeling(a.Rule)})
}

// Examples returns the images of an attribute with a column of labels for each axis (Figures 4 to 8): id, image,
// prompt_id, attribute, model.
func (a Audit) Examples(attribute string) datasets.Table {
	images := a.Images().Where("attribute", "==", attribute).Where("outcome", "==", "ok")
	out := images.Select("id", "image", "prompt_id", "attribute", "model")
	labels := a.ImageLabels()
	for _, column := range axisColumns(a.Labels()) {
		axis := axisName(column)
		out = out.Join(labels.Where("axis", "==", axis).Select("image_id", "label").Rename("image_id", "id").
			Rename("label", axis), "id")
	}
	return out
}

// Striking returns the attribute of the smallest p-value of [Audit.Tests] or, without tests, of the first image. It
// evaluates them; in a notebook an error ends the cell.
func (a Audit) Striking() string {
	if f := a.Tests().Sort("p").Head(1).MustRows(); f.Len() > 0 {
		return f.Texts("attribute")[0]
	}
	return a.Images().Head(1).Text("attribute")
}

// Votes returns two rows for each labeled image, for [Imbalances]: whether its label is the first group (group is
// first) and whether it is the second (group is second), 1 or 0 in the column seen. column holds the labels; labels has
// no column id.
func Votes(labels datasets.Table, column, first, second string) datasets.Table {
	a, b := labels.Where(column, "==", first), labels.Where(column, "==", second)
	yes := a.With("group", "first").Concat(b.With("group", "second")).With("seen", 1)
	no := a.With("group", "second").Concat(b.With("group", "first")).With("seen", 0)
	return yes.Concat(no)
}

// resamples is the number of random permutations of a test.
const resamples = 4000

// Imbalances tests whether the images of an original prompt show one group more often than the other, and Changes
// whether an added sentence changes the share of the first group. answers are [Votes]; by are the columns that separate
// the tests. group_a is "first", or the prompt_id of the sentence; difference is the share of the first group minus
// that of the second (the bias), or the change of the share of the first.
func Imbalances(answers datasets.Table, by ...string) datasets.Table {
	return significance.PermutationTest(answers.Where("prompt_id", "==", data.Original), significance.TestOptions{
		Value: "seen", Group: "group", Unit: "image_id", Paired: true, By: by, Resamples: resamples})
}

// Changes is described at [Imbalances].
func Changes(answers datasets.Table, by ...string) datasets.Table {
	return significance.PermutationTest(answers.Where("group", "==", "first"), significance.TestOptions{
		Value: "seen", Group: "prompt_id", Against: data.Original, By: by, Resamples: resamples})
}

// testedBy separates the tests.
var testedBy = []string{"model", "category", "attribute", "axis"}

// Tests returns the tests of [Imbalances] and of [Changes] by model, category, attribute and axis, with p_holm and p_bh
// corrected over all of them, and the column test: imbalance or change.
func (a Audit) Tests() datasets.Table {
	labels := a.ImageLabels().Select(append([]string{"prompt_id", "image_id", "side"}, testedBy...)...)
	answers := Votes(labels, "side", "first", "second")
	return significance.AdjustP(Imbalances(answers, testedBy...).With("test", "imbalance").
		Concat(Changes(answers, testedBy...).With("test", "change")))
}

// Least is the smallest difference of shares that [Audit.Findings] flags: a trained generator is never exactly
// balanced.
const Least = 0.3

// Findings returns [Audit.Tests] with what is known of them in the column verdict: in the built-in world whether each
// disparity injected into a model's images was found (p_holm at most 0.05 and a difference of at least Least) and
// everything else not flagged; for other images found or undecided, see significance.Decide: the tests have no interval
// that could exclude a difference.
func (a Audit) Findings() datasets.Table {
	o := significance.VerdictOptions{On: metrics.By("model", "attribute", "axis", "group_a"), P: "p_holm",
		AtLeast: Least}
	if !a.builtIn() || !a.HasImages() {
		o.On = append(o.On, "category")
		return significance.Decide(a.Tests(), datasets.Table{}, o)
	}
	return significance.Verdicts(a.Tests(), a.Truth(), o)
}

// Power returns how many images are needed: for n images of each prompt the smallest share above one half that a test
// at 5 % tells from one half with 80 % power, between two prompts and without a correction (share), the same as a bias,
// and the diversity score that chance alone gives to even prompts (even). It has a row for 9, 18, 36, 60 and 120 images
// and for N.
func (a Audit) Power() datasets.Table {
	sizes := []int{9, 18, 36, 60, 120, a.perPrompt()}
	slices.Sort(sizes)
	var rows []map[string]any
	for _, n := range slices.Compact(sizes) {
		_, share, err := significance.SmallestShareGap(0.5, n, n, 0.05, 0.8)
		if err != nil {
			return datasets.Failed(err)
		}
		rows = append(rows, map[string]any{"n": n, "share": share, "bias": 2*share - 1,
			"even": representation.EvenDiversity(n)})
	}
	return datasets.FromRows(rows)
}

// Ablations returns the prompts of section 4 in the grammar of the profile; Audit{List: AblationList} audits them.
func (a Audit) Ablations() datasets.Table {
	return data.Ablations(data.AblationOptions{Grammar: a.grammar()})
}

// Cues returns the words of the sentences of the paper's prompts that name a visible trait, which an ethical
// intervention must not contain; see entigen.Lint of package datasets.
func (a Audit) Cues() datasets.Table { return data.Cues(data.PromptOptions{Grammar: a.grammar()}) }

// Phrases returns the counts of the paper's phrases in the training captions (section 4); see representation.Phrases.
// It has no rows without Captions.
func (a Audit) Phrases() datasets.Table {
	if a.Captions == "" {
		return representation.Phrases(noCaptions()).Head(0)
	}
	return representation.Phrases(data.Captions(a.Captions))
}

// Contexts returns the text around the paper's phrases in the training captions (Table 7); see
// representation.Contexts. It has no rows without Captions.
func (a Audit) Contexts() datasets.Table {
	if a.Captions == "" {
		return representation.Contexts(noCaptions()).Head(0)
	}
	return representation.Contexts(data.Captions(a.Captions))
}

func noCaptions() datasets.Table { return datasets.FromRows([]map[string]any{{"caption": ""}}) }

// Printed returns the values and claims that the paper prints: paper, item, printed.
func (a Audit) Printed() datasets.Table {
	return data.Printed().Select("paper", "item", "printed").Concat(data.Claims())
}

// Values returns our values of these; see representation.Values. It has no rows in the built-in world, whose values are
// not comparable.
func (a Audit) Values() datasets.Table {
	if a.builtIn() {
		return audits.NoValues()
	}
	var t representation.ValueTables
	t.Ratings, t.Clip = a.both()
	if a.Captions != "" {
		t.Phrases = a.Phrases()
	}
	return representation.Values(t, representation.ValueOptions{Labeling: a.labeling(a.Rule), Cluster: a.Cluster,
		Labels: a.ModelLabels, Intervals: a.intervals()})
}

// Claims returns the claims of the paper, and whether they hold: item, holds.
func (a Audit) Claims() datasets.Table { return audits.Claims(a.Values()) }

// Ledger returns Printed next to Values, with a verdict; see metrics.Ledger.
func (a Audit) Ledger() datasets.Table {
	return audits.Ledger(a.Printed(), a.Values(), a.builtIn(), "images",
		"needs other models or prompts, ratings by people, labels by CLIP, or training captions")
}

// RunName returns the name of files that this run writes; see audits.RunName.
func (a Audit) RunName() string { return audits.RunName("entigen", a.Generator, a, Audit{}) }

// Workload returns what remains to be computed, by stage, with the time measured on probe items of each, the disk, the
// dollars, and the models and data that are missing; see datasets.Workload.
func (a Audit) Workload(o datasets.WorkloadOptions) datasets.Table {
	var tables []datasets.Table
	if a.HasRaters() {
		tables = append(tables, a.Raters())
	}
	if a.HasJudge() {
		tables = append(tables, a.Judged())
	}
	if a.HasImages() && !a.builtIn() { // images that nobody labels, such as those of cultural scenarios
		tables = append(tables, a.Images())
	}
	return datasets.Workload(tables, o)
}

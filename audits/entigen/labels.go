package entigen

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/metrics/agreement"
	"antipode/metrics/representation"
)

// Answers returns what a captioner of the built-in world answers about images: image_id and the other columns, with
// perceived_crest and perceived_banner, the continuations of "the crest is" and "the banner is".
func Answers(captioner string, images datasets.Table, columns ...string) datasets.Table {
	out := images.Select(append([]string{"id"}, columns...)...).Rename("id", "image_id")
	for _, axis := range []string{"crest", "banner"} {
		prefix := "the " + axis + " is"
		answers := models.Caption(captioner, images, models.CaptionOptions{Prefix: prefix}).
			RemovePrefix("caption", prefix).Rename("caption", "perceived_"+axis)
		out = out.Join(answers.Select("image_id", "perceived_"+axis), "image_id")
	}
	return out
}

// groups are those of the built-in world's axes.
var groups = map[string][]string{"crest": {"round", "pointed"}, "banner": {"light", "dark"}}

// Raters returns a row for each rater and image: image_id, model, category, attribute, prompt_id, kind, person,
// as_described (1 or 0) and perceived_… for each axis (a group, or "no group"). A stand-in takes every image for one of
// what the prompt describes. It is an error where nobody rated; see [Audit.HasRaters].
func (a Audit) Raters() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	switch {
	case a.Ratings == Released:
		return a.selected(data.Ratings())
	case a.Ratings != "":
		return a.selected(audits.Existing(a.Ratings))
	case !a.builtIn():
		return datasets.Failed(errNobody)
	}
	images, g := a.Images(), a.generators()
	if len(g) == 1 {
		return a.standIns(g[0], images)
	}
	return audits.Each(g, func(g string) datasets.Table {
		return a.standIns(g, images.Where("model", "==", audits.ModelName(g)))
	})
}

// standIns returns the labels of the images of a generator of the built-in world.
func (a Audit) standIns(g string, images datasets.Table) datasets.Table {
	columns := []string{"model", "category", "attribute", "prompt_id", "kind"}
	if audits.Sampled(g) {
		return images.Select(append(columns, "id", "person", "as_described", "perceived_crest", "perceived_banner")...).
			Rename("id", "image_id")
	}
	out := Answers(cmp.Or(a.Captioner, "archipelago-blip"), images, columns...)
	for _, axis := range slices.Sorted(maps.Keys(groups)) {
		column, of := "perceived_"+axis, groups[axis]
		known := out.Where(column, "in", of)
		other := out
		for _, g := range of {
			other = other.Where(column, "!=", g)
		}
		out = known.Concat(other.Where(column, "present", nil).With(column, data.NoGroup))
	}
	return out.With("person", 1).With("as_described", 1)
}

// HasRaters reports whether there are ratings: by people, or by the stand-ins of the built-in world.
func (a Audit) HasRaters() bool { return a.Ratings != "" || a.builtIn() && a.Captioner != None }

// HasJudge reports whether a model labels the images: a CLIP, or one that answers questions.
func (a Audit) HasJudge() bool {
	return a.HasImages() && (a.Judge != "" || a.builtIn() || !a.HasRaters())
}

// judge is the model.
func (a Audit) judge() string {
	switch {
	case a.Judge != "":
		return a.Judge
	case a.builtIn():
		return "archipelago-clip"
	}
	return "clip-vit-base-patch32"
}

// ownAxes returns the groups of Audit.Axes by axis, and the axes in order.
func (a Audit) ownAxes() (axes []string, groups map[string][]string) {
	groups = map[string][]string{}
	for _, axis := range datasets.SplitColumns(a.Axes) {
		column, of, _ := strings.Cut(axis, "=")
		axes = append(axes, axisName(column))
		groups[axisName(column)] = strings.Split(of, "/")
	}
	return axes, groups
}

// JudgeAxes are the axes that the judge labels, none without a judge.
func (a Audit) JudgeAxes() (axes []string) {
	own, _ := a.ownAxes()
	_, asked := audits.Asked(a.judge())
	switch {
	case !a.HasJudge():
		return nil
	case a.Texts != "" && a.Axes != "":
		return own
	case a.builtIn():
		axes = []string{"perceived crest", "perceived banner"}
	case a.publicCode():
		axes = []string{data.PerceivedGender, data.PerceivedSkin}
	default:
		axes = []string{data.PerceivedGender}
	}
	if asked {
		axes = append(axes, own...)
	}
	return axes
}

// nobody is the choice of a judge that sees no person.
const nobody = "nobody"

// question returns what a judge is asked about an axis, and the choices, the two groups first.
func (a Audit) question(axis string) (text string, choices []string) {
	name := strings.TrimPrefix(axis, "perceived ")
	if of := groups[name]; a.builtIn() && of != nil {
		return "the " + name + " is", of
	}
	_, own := a.ownAxes()
	choices = own[axis]
	if of, known := data.Groups[axis]; known {
		choices = of[:]
	}
	return "What is the " + axis + " of the person in this image?", slices.Concat(choices,
		[]string{audits.CannotTell, nobody})
}

// JudgeTexts returns the texts that the judge compares images with, for an axis: id, label and text (Table 4); or the
// question, with the label question, and its choices.
func (a Audit) JudgeTexts(axis string) datasets.Table {
	name := strings.TrimPrefix(axis, "perceived ")
	_, asked := audits.Asked(a.judge())
	switch {
	case asked:
		question, choices := a.question(axis)
		rows := []map[string]any{{"id": "question", "label": "question", "text": question}}
		for _, c := range choices {
			rows = append(rows, map[string]any{"id": c, "label": "choice", "text": c})
		}
		return datasets.FromRows(rows)
	case a.Texts != "":
		return datasets.Extend(datasets.Images(a.Texts)).Need("axis", table.KindText).Need("label", table.KindText).
			Need("text", table.KindText).Where("axis", "==", axis)
	case !a.builtIn() || len(groups[name]) == 0:
		return representation.ClipTexts(axis, a.grammar())
	}
	texts := []string{"a figure with a " + groups[name][0] + " " + name,
		"a figure with a " + groups[name][1] + " " + name, "a figure", "a picture of a figure",
		"a picture of an object"}
	var rows []map[string]any
	for i, label := range representation.TextLabels {
		rows = append(rows, map[string]any{"id": name + " " + label, "label": label, "text": texts[i]})
	}
	return datasets.FromRows(rows)
}

// Judged returns the judge's labels of the images, one row each, in the form of ratings: image_id, model, category,
// attribute, prompt_id, kind, perceived_… for each of its axes, person, reason (why there is no group) and
// probabilities; see representation.ClipLabels. With a judge that answers questions it has, in place of
// probabilities, what models.Ask returns for each axis, with the axis's column as prefix; an image without an answer
// has no label.
func (a Audit) Judged() datasets.Table {
	images := a.Images()
	if !a.builtIn() {
		images = images.Where("category", "!=", data.Culture)
	}
	if model, asked := audits.Asked(a.judge()); asked {
		return a.answered(model, images)
	}
	embedded := models.Embed(a.judge(), images, models.EmbedOptions{Vector: models.ClipImage})
	o := representation.ClipOptions{Axes: a.axesOf(true)}
	if a.publicCode() {
		o.Tie = "drop"
	}
	var out datasets.Table
	for i, axis := range a.JudgeAxes() {
		texts := models.EmbedText(a.judge(), a.JudgeTexts(axis), "text",
			models.EmbedTextOptions{Vector: models.ClipText})
		o.Axis = axis
		labels := representation.ClipLabels(representation.ClipTables{Images: embedded, Texts: texts}, o)
		if i == 0 {
			out = labels
		} else {
			out = out.Join(labels.Select("image_id", strings.ReplaceAll(axis, " ", "_")), "image_id")
		}
	}
	return out
}

func (a Audit) answered(model string, images datasets.Table) datasets.Table {
	columns := []string{"id", "model", "category", "attribute", "prompt_id"}
	if audits.Has(images, "kind") {
		columns = append(columns, "kind")
	}
	var out datasets.Table
	for i, axis := range a.JudgeAxes() {
		o, column := a.Asking, strings.ReplaceAll(axis, " ", "_")
		o.Column = column
		o.Question, o.Choices = a.question(axis)
		answers := models.Ask(model, images, o)
		var answer []string
		for _, c := range answers.Columns() {
			if strings.HasPrefix(c.Name, column) {
				answer = append(answer, c.Name)
			}
		}
		if i == 0 {
			labels := answers.Select(slices.Concat(columns, answer)...).Rename("id", "image_id")
			out = labels.Where(column, "!=", nobody).With("person", 1).
				Concat(labels.Where(column, "==", nobody).With("person", 0)).
				With("as_described", "").Cast("as_described", table.KindNumber) // nobody was asked
		} else {
			out = out.Join(answers.Select(append(answer, "id")...).Rename("id", "image_id"), "image_id")
		}
		none := []string{audits.CannotTell, nobody}
		if a.builtIn() {
			continue
		}
		known := out
		for _, c := range none {
			known = known.Where(column, "!=", c)
		}
		out = known.Concat(out.Where(column, "in", none).With(column, data.NoGroup))
	}
	return out
}

// Labels returns what the scores read: the ratings or, where nobody rated, the judge's labels.
func (a Audit) Labels() datasets.Table {
	if a.HasRaters() {
		return a.Raters()
	}
	return a.Judged()
}

// axes are those next to the paper's, in the form of the option Axes of scores.
func (a Audit) axes() string {
	return a.axesOf(audits.Has(a.Labels(), "perceived_crest"))
}

func (a Audit) axesOf(world bool) string {
	switch {
	case !world:
		return a.Axes
	case a.Axes == "":
		return datasets.ArchipelagoAxes
	}
	return datasets.ArchipelagoAxes + ", " + a.Axes
}

// axisName returns the name of the axis of a column: perceived crest of perceived_crest.
func axisName(column string) string { return strings.ReplaceAll(column, "_", " ") }

func axisColumns(labels datasets.Table) (columns []string) {
	for _, c := range labels.Columns() {
		if strings.HasPrefix(c.Name, "perceived_") {
			columns = append(columns, c.Name)
		}
	}
	return columns
}

// AxisNames returns the axes of the labels.
func (a Audit) AxisNames() (names []string) {
	for _, column := range axisColumns(a.Labels()) {
		names = append(names, axisName(column))
	}
	return names
}

// RaterAgreement returns the agreement of raters with each other by axis and category; see agreement.Scores. Without
// images that two raters labeled there is no value.
func (a Audit) RaterAgreement() datasets.Table {
	labels := a.Labels()
	var out []datasets.Table
	for _, column := range axisColumns(labels) {
		out = append(out, agreement.Scores(labels, agreement.Options{By: metrics.By("category"), Item: "image_id",
			Label: column, Intervals: a.intervals()}).With("axis", axisName(column)))
	}
	if len(out) == 0 {
		return datasets.Failed(errNobody)
	}
	return out[0].Concat(out[1:]...)
}

// Agreement returns the agreement of the judge with the raters, by both definitions, pooled and by model and attribute;
// see representation.ClipAgreement. It has no rows without a judge or raters, or if no axis has the labels of both.
func (a Audit) Agreement() datasets.Table {
	return a.compared(func(judged, rated datasets.Table, axis string) datasets.Table {
		return representation.ClipAgreement(judged, rated, representation.AgreementOptions{
			ConfusionOptions: a.confusion(axis), Intervals: a.intervals()})
	})
}

// Confusion returns the labels of the raters against those of the judge, counted; see representation.ClipConfusion. It
// has no rows where [Audit.Agreement] has none.
func (a Audit) Confusion() datasets.Table {
	return a.compared(func(judged, rated datasets.Table, axis string) datasets.Table {
		return representation.ClipConfusion(judged, rated, a.confusion(axis))
	})
}

func (a Audit) confusion(axis string) representation.ConfusionOptions {
	return representation.ConfusionOptions{Axis: axis, Axes: a.axes(), Rule: a.Rule}
}

// compared returns a table for each axis that the judge and the raters label, or its columns without rows.
func (a Audit) compared(of func(judged, rated datasets.Table, axis string) datasets.Table) datasets.Table {
	labels, axes := a.Labels(), a.AxisNames()
	if both := slices.DeleteFunc(a.JudgeAxes(), func(axis string) bool {
		return !slices.Contains(axes, axis)
	}); a.HasRaters() && len(both) > 0 {
		judged := a.Judged()
		return audits.Each(both, func(axis string) datasets.Table { return of(judged, labels, axis) })
	}
	if len(axes) == 0 {
		return datasets.Failed(errNobody)
	}
	return audits.Without(of(labels, labels, axes[0]))
}

package annotate

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// answered writes a study of tags in which every rater chooses by choose, and returns its folder and the path of the
// first rater's answers.
func answered(t *testing.T, o Options, in *table.Frame, choose func(rater int, q shownQuestion) answer) (dir,
	first string) {
	t.Helper()
	dir, k := made(t, in, o)
	for _, p := range k.Pages {
		shown := pageData(t, filepath.Join(dir, PagesDir, p.Name+".html"))
		a := answers{Format: answersFormat, Study: k.Study, Page: p.Name, Items: map[string]itemAnswer{}}
		for i, it := range shown.Items {
			given := map[string]answer{}
			for j, q := range slices.Concat(it.Steps...) {
				given[fmt.Sprint(j+1)] = choose(p.Rater, q)
			}
			a.Items[fmt.Sprint(i+1)] = itemAnswer{Answers: given}
		}
		writeAnswers(t, filepath.Join(dir, AnswersDir, p.Name+".json"), a)
	}
	return dir, filepath.Join(dir, AnswersDir, "rater-1-page-1.json")
}

func none(int, shownQuestion) answer { return answer{None: true} }

// TestCollectErrors: every fault of a file is one line that names the file.
func TestCollectErrors(t *testing.T) {
	edit := func(change func(a *answers)) func(t *testing.T, dir, first string) {
		return func(t *testing.T, dir, first string) {
			a := must.Get(readFile(first))(t)
			change(&a)
			writeAnswers(t, first, a)
		}
	}
	item := func(given answer) func(t *testing.T, dir, first string) {
		return edit(func(a *answers) { a.Items["2"] = itemAnswer{Answers: map[string]answer{"1": given}} })
	}
	write := func(text string) func(t *testing.T, dir, first string) {
		return func(t *testing.T, dir, first string) {
			must.Do(t, os.WriteFile(first, []byte(text), 0o644))
		}
	}
	copied := func(change func(a *answers)) func(t *testing.T, dir, first string) {
		return func(t *testing.T, dir, first string) {
			a := must.Get(readFile(first))(t)
			change(&a)
			writeAnswers(t, strings.TrimSuffix(first, ".json")+" (1).json", a)
		}
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, first string)
		want  string // "" = no error
	}{
		"sound":        {func(*testing.T, string, string) {}, ""},
		"truncated":    {write(`{"format": "annotation answers 1", "stu`), "rater-1-page-1.json: damaged"},
		"not JSON":     {write("\x00\x01"), "rater-1-page-1.json: damaged"},
		"other JSON":   {write(`{"cells": []}`), `rater-1-page-1.json: not a file of answers: format ""`},
		"too large":    {write(strings.Repeat(" ", maxAnswers+1)), "rater-1-page-1.json: more than 16777216 bytes"},
		"same twice":   {copied(func(*answers) {}), ""},
		"differ":       {copied(func(a *answers) { delete(a.Items, "1") }), "different answers to rater-1-page-1"},
		"other study":  {edit(func(a *answers) { a.Study = "00" }), `rater-1-page-1.json belongs to study "00"`},
		"unknown page": {edit(func(a *answers) { a.Page = "rater-9-page-1" }), `answers the page "rater-9-page-1"`},
		"missing item": {edit(func(a *answers) { delete(a.Items, "3") }), "1 of 4 items have no complete answer: 3"},
		"empty item":   {edit(func(a *answers) { a.Items["3"] = itemAnswer{} }), "have no complete answer: 3"},
		"skipped":      {edit(func(a *answers) { a.Items["3"] = itemAnswer{Skip: true} }), ""},
		"unknown item": {edit(func(a *answers) { a.Items["5"] = itemAnswer{} }),
			`unknown item "5": the page has 1 to 4`},
		"odd item":       {edit(func(a *answers) { a.Items["+1"] = itemAnswer{} }), `unknown item "+1"`},
		"option":         {item(answer{Pick: []int{3}}), "item 2: question 1: option 3 is unknown"},
		"option twice":   {item(answer{Pick: []int{1, 1}}), "occurs twice"},
		"no answer":      {item(answer{}), "item 2: question 1: the answer is empty or contradicts itself"},
		"contradiction":  {item(answer{Pick: []int{1}, None: true}), "contradicts itself"},
		"box outside":    {item(answer{Pick: []int{1}, Boxes: map[string][4]float64{"1": {0, 0, 2, 1}}}), "the box of"},
		"box not chosen": {item(answer{Pick: []int{1}, Boxes: map[string][4]float64{"2": {0, 0, 1, 1}}}), "the box of"},
		"question": {edit(func(a *answers) {
			a.Items["1"] = itemAnswer{Answers: map[string]answer{"2": {None: true}}}
		}), `item 1: unknown question "2"`},
		"missing page": {func(t *testing.T, dir, first string) { os.Remove(first) },
			"not complete: no answers to rater-1-page-1.html; --partial collects what exists"},
		"no answers": {func(t *testing.T, dir, first string) {
			must.Do(t, os.RemoveAll(filepath.Dir(first)))
		}, "answers has no .json file"},
		"no key": {func(t *testing.T, dir, first string) { os.Remove(filepath.Join(dir, KeyFile)) },
			"key.json is missing: name the folder"},
		"changed key": {func(t *testing.T, dir, first string) {
			path := filepath.Join(dir, KeyFile)
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(strings.Replace(string(data), "SECRET-ID-0", "SECRET-ID-9", 1)), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "key.json was changed after"},
		"damaged key": {func(t *testing.T, dir, first string) {
			must.Do(t, os.Truncate(filepath.Join(dir, KeyFile), 100))
		}, "key.json is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, first := answered(t, options(TagTask), people(t, 4), none)
			c.spoil(t, dir, first)
			_, err := Collect(dir, CollectOptions{})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n")) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestPartial: what is complete is collected, and what is missing is noted.
func TestPartial(t *testing.T) {
	dir, first := answered(t, options(TagTask), people(t, 4), none)
	must.Do(t, os.Remove(first))
	second := strings.Replace(first, "rater-1", "rater-2", 1)
	a := must.Get(readFile(second))(t)
	delete(a.Items, "1")
	writeAnswers(t, second, a)
	c, err := Collect(dir, CollectOptions{Partial: true})
	if err != nil || c.Ratings.Len() != 2*(3+4) || len(c.Notes) != 2 || !strings.Contains(c.Notes[0],
		"rater-1-page-1.html") || !strings.Contains(c.Notes[1], "no complete answer: 1") {
		t.Errorf("%v, %v", c, err)
	}
}

// column returns the values of a text column by those of another.
func column(f *table.Frame, of, by string) map[string]string {
	out := map[string]string{}
	for i, v := range f.Texts(of) {
		out[f.Texts(by)[i]] = v
	}
	return out
}

// TestMajority: tags and kinds of failure are those of more than half of the raters who judged.
func TestMajority(t *testing.T) {
	in := people(t, 1)
	votes := func(task string, labels ...string) (*table.Frame, *Collected) {
		t.Helper()
		o := options(task)
		o.Raters = len(labels)
		dir, _ := answered(t, o, in, func(rater int, q shownQuestion) answer {
			label := labels[rater-1]
			if at := slices.IndexFunc(q.Options, func(o string) bool { return strings.HasPrefix(o, label) }); at >= 0 &&
				label != "" {
				return answer{Pick: []int{at + 1}}
			}
			if label == "none" {
				return answer{None: true}
			}
			return answer{Unsure: true}
		})
		c := must.Get(Collect(dir, CollectOptions{}))(t)
		return c.Table, c
	}
	for labels, want := range map[string][]string{"rusty,rusty,none": {"rusty"}, "rusty,none,none": {""},
		"rusty,new,rusty": {"rusty"}, "rusty,none": {""}, "rusty,,": {"rusty"}, "rusty,new,none": {""}, ",,": nil} {
		f, _ := votes(TagTask, strings.Split(labels, ",")...)
		must.EqualSlices(t, f.Texts("tag"), want, "tags", "by", labels)
	}
	const generic, specific, word = "A scene", "Something else, the same", "What the word"
	for _, c := range []struct {
		labels []string
		kinds  []string
	}{
		{[]string{generic, generic, specific}, []string{"generic collision"}},
		{[]string{generic, word, specific}, []string{""}}, {[]string{word, word, specific}, nil},
		{[]string{specific, "", ""}, []string{"specific collision"}}, {[]string{"", "", ""}, []string{""}},
	} {
		f, got := votes(Failures, c.labels...)
		must.True(t, slices.Equal(f.Texts("kind"), c.kinds),
			"kinds %q by %q, want %q (%v)", f.Texts("kind"), c.labels, c.kinds, got.Notes)
	}
}

// TestAnswersOfVisage: what a rater could not judge or skipped has no row, a box is in pixels of a 512×512 image, and
// the note of a rating is kept.
func TestAnswersOfVisage(t *testing.T) {
	o := options(Visage)
	o.Raters = 2
	dir, first := answered(t, o, people(t, 2), func(rater int, q shownQuestion) answer {
		if at := slices.Index(q.Options, "tall"); at >= 0 && rater == 1 {
			return answer{Pick: []int{at + 1}, Boxes: map[string][4]float64{fmt.Sprint(at + 1): {0.25, 0, 0.5, 1}}}
		}
		return answer{Unsure: true, Note: "too dark"}
	})
	a := must.Get(readFile(first))(t)
	a.Items["1"] = itemAnswer{Skip: true}
	writeAnswers(t, first, a)
	c := must.Get(Collect(dir, CollectOptions{}))(t)
	f := c.Table
	if f.Len() != 4 || !slices.Contains(c.Notes, "1 items were skipped") ||
		!slices.Contains(c.Notes, "2 questions could not be judged") {
		t.Fatalf("%d rows, %v", f.Len(), c.Notes)
	}
	for i, name := range f.Texts("attribute") {
		box := fmt.Sprint(f.Numbers("box_left")[i], f.Numbers("box_top")[i], f.Numbers("box_right")[i],
			f.Numbers("box_bottom")[i], f.Numbers("selected")[i])
		must.Equal(t, box, map[bool]string{true: "128 0 256 512 1", false: "NaN NaN NaN NaN 0"}[name == "tall"], name,
			"box and selected")
	}
	labels := column(c.Ratings, "label", "id")
	for id, note := range column(c.Ratings, "note", "id") {
		unsure := strings.HasSuffix(id, "#2")
		must.True(t, unsure == (note == "too dark") && unsure == (labels[id] == ""), "%s: %q, %q", id, labels[id], note)
	}
	if len(labels) != 3*4 {
		t.Error(slices.Sorted(maps.Keys(labels)))
	}
}

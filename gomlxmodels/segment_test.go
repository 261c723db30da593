package gomlxmodels

import (
	"encoding/json"
	"reflect"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
)

func TestSegmentPlan(t *testing.T) {
	tab := datasets.New("test", nil, datasets.Columns("id:text", "image:image", "object:text", "outcome:text",
		"n:number"))
	p := must.Get(Segment("clipseg", tab, SegmentOptions{Threshold: 0.3, Template: "a photo of a %s",
		Components: "above 0.01", Separator: ",", Presence: "clip-vit-base-patch32"}).Plan())(t)
	var got SegmentArgs
	must.Do(t, json.Unmarshal(p.Args, &got))
	if want := (SegmentArgs{"clipseg", SegmentOptions{Text: "object", Template: "a photo of a %s", Separator: ",",
		Threshold: 0.3, Components: "above 0.01", Presence: "clip-vit-base-patch32"}}); p.Op != SegmentOp ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("%s %+v, want %+v", p.Op, got, want)
	}
	if largest, area, err := got.Keep(); largest || area != 0.01 || err != nil {
		t.Errorf("%v, %v, %v", largest, area, err)
	}
	if c := Segment("clipseg", tab,
		SegmentOptions{Presence: "clip-vit-base-patch32"}).Columns(); c[len(c)-1].Name != "presence" {
		t.Errorf("with presence: %v", c)
	}
	columns := Segment("clipseg", tab).Columns()
	want := datasets.Columns("id:text", "image:image", "object:text", "outcome:text", "n:number", "mask:mask",
		"mask_score:number", "mask_area:number", "mask_components:number", "reason:text")
	must.EqualSlices(t, columns, want, "columns")
	for _, c := range []struct {
		t    datasets.Table
		want string
	}{
		{Segment("clipseg", tab, SegmentOptions{Text: "image"}), `column "image" holds image values, not text`},
		{Segment("clipseg", tab, SegmentOptions{Text: "thing"}), table.ErrNoColumn.Error()},
		{Segment("/no/such/model", tab), `no model "/no/such/model"`},
		{Segment("clipseg", tab, SegmentOptions{Threshold: -0.1}), "Threshold is -0.1; it must be above 0 and below 1"},
		{Segment("clipseg", tab, SegmentOptions{Threshold: 1}), "Threshold is 1;"},
		{Segment("clipseg", tab, SegmentOptions{Template: "a cat"}), "template \"a cat\""},
		{Segment("clipseg", tab, SegmentOptions{Template: "%s or %s"}), "template"},
		{Segment("clipseg", tab, SegmentOptions{Template: "%d %s"}), "template"},
		{Segment("clipseg", tab, SegmentOptions{Components: "some"}), `components "some"`},
		{Segment("clipseg", tab, SegmentOptions{Components: "above 1"}), `components "above 1"`},
		{Segment("clipseg", tab, SegmentOptions{Presence: "/no/such/clip"}), `no model "/no/such/clip"`},
		{Segment("clipseg", tab, SegmentOptions{Components: "0.5"}), `components "0.5"`},
		{Segment("clipseg", tab, SegmentOptions{Boxes: "best"}), "is for a detector with a segmenter"},
		{Segment("clipseg", tab, SegmentOptions{BoxThreshold: 0.2}), "is for a detector with a segmenter"},
		{Segment("langsam", tab, SegmentOptions{Threshold: 0.4}),
			"Threshold is for a CLIPSeg, not for a detector with a segmenter"},
		{Segment("langsam", tab, SegmentOptions{Boxes: "first"}),
			`Boxes is "first"; it must be one of union, best, largest`},
		{Segment("langsam", tab, SegmentOptions{Profile: "2023"}),
			`Profile is "2023"; it must be one of transformers, langsam-2024`},
		{Segment("langsam", tab, SegmentOptions{BoxThreshold: 1}), "BoxThreshold is 1;"},
		{Segment("langsam", tab, SegmentOptions{TextThreshold: -1}), "TextThreshold is -1;"},
		{Segment("clipseg", tab, SegmentOptions{Segmenter: "sam-vit-base"}), "Segmenter is for a pair such as langsam"},
		{Segment("langsam", tab, SegmentOptions{Detector: "/no/such/model"}), `detector: no model "/no/such/model"`},
		{Segment("exec:./p", tab, SegmentOptions{Threshold: 0.4}),
			"Threshold is for a CLIPSeg, not for a program (exec:PATH). Fix: leave it out; a program takes arguments"},
		{Segment("exec:./p", tab, SegmentOptions{Detector: "grounding-dino-tiny"}),
			"Detector is for a detector with a segmenter"},
		{Segment("exec:./p", tab, SegmentOptions{Boxes: "best"}), "is for a detector with a segmenter"},
		{Segment("exec:p", tab), "exec:p: give the program's path, for example exec:./p"},
		{Segment("clipseg", tab, SegmentOptions{Exec: ExecOptions{Workers: 2}}),
			"Exec.Workers is for a program (exec:PATH), not for a CLIPSeg"},
	} {
		must.Fail(c.t.Plan())(t, c.want)
	}
}

// langsam is the paper's pair, whose options can be set one by one.
func TestPairs(t *testing.T) {
	tab := datasets.Extend(datasets.FromRows(nil)).Derive("made", nil, datasets.Columns("id:text", "image:image",
		"object:text")...).Table
	usual := SegmentArgs{"sam-vit-huge", SegmentOptions{Text: "object", Template: "%s", Separator: "|", Threshold: 0.5,
		Components: "all", Detector: "grounding-dino-base", Profile: "langsam-2024", Boxes: "union"}}
	changed := usual
	changed.Detector, changed.Profile = "grounding-dino-tiny", "transformers"
	changed.BoxThreshold, changed.Boxes = 0.2, "largest"
	apart := changed
	apart.Model, apart.TextThreshold = "sam-vit-base", 0.4
	for _, c := range []struct {
		model string
		o     SegmentOptions
		want  SegmentArgs
	}{
		{"langsam", SegmentOptions{}, usual},
		{"langsam", SegmentOptions{Detector: "grounding-dino-tiny", Profile: "transformers", BoxThreshold: 0.2,
			Boxes: "largest"}, changed},
		{"sam-vit-base", SegmentOptions{Detector: "grounding-dino-tiny", TextThreshold: 0.4, BoxThreshold: 0.2,
			Boxes: "largest"}, apart},
		{"langsam-small", SegmentOptions{Segmenter: "sam-vit-huge", Detector: "grounding-dino-base"}, usual},
	} {
		masked := Segment(c.model, tab, c.o)
		p := must.Get(masked.Plan())(t)
		var got SegmentArgs
		if err := json.Unmarshal(p.Args, &got); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.model, got, err, c.want)
		}
		if s := table.NameList(masked.Columns()); s != "id, image, object, mask, mask_score, mask_area, "+
			"mask_components, outcome, reason, boxes, box_score, stability_score, touches_border" {
			t.Errorf("%s: columns %s", c.model, s)
		}
	}
}

func TestObjects(t *testing.T) {
	for cell, want := range map[string][]string{"cat": {"cat"}, " cat | big dog|cat|": {"cat", "big dog"}, "": nil,
		"|": nil, "a,b": {"a,b"}} {
		must.EqualSlices(t, (&SegmentOptions{Separator: "|"}).Objects(cell), want, cell)
	}
	must.EqualSlices(t, (&SegmentOptions{}).Objects("a|b"), []string{"a|b"}, "without a separator")
}

package gomlxmodels

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
)

func TestSegmentPlan(t *testing.T) {
	tab := datasets.New("test", nil, datasets.Columns("id:text", "image:image", "object:text", "outcome:text",
		"n:number"))
	p, err := Segment("clipseg", tab, SegmentOptions{Threshold: 0.3, Template: "a photo of a %s",
		Components: "above 0.01", Separator: ",", Presence: "clip-vit-base-patch32"}).Plan()
	if err != nil {
		t.Fatal(err)
	}
	var got SegmentArgs
	if err := json.Unmarshal(p.Args, &got); err != nil {
		t.Fatal(err)
	}
	if want := (SegmentArgs{"clipseg", "object", "a photo of a %s", ",", 0.3, "above 0.01",
		"clip-vit-base-patch32"}); p.Op != SegmentOp || got != want {
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
	if !slices.Equal(columns, want) {
		t.Errorf("columns %v", columns)
	}
	for _, c := range []struct {
		t    datasets.Table
		want string
	}{
		{Segment("clipseg", tab, SegmentOptions{Text: "n"}), `column "n" holds number values, not text`},
		{Segment("clipseg", tab, SegmentOptions{Text: "thing"}), table.ErrNoColumn.Error()},
		{Segment("/no/such/model", tab), `no model "/no/such/model"`},
		{Segment("clipseg", tab, SegmentOptions{Threshold: -0.1}), "threshold -0.1"},
		{Segment("clipseg", tab, SegmentOptions{Threshold: 1}), "threshold 1"},
		{Segment("clipseg", tab, SegmentOptions{Template: "a cat"}), "template \"a cat\""},
		{Segment("clipseg", tab, SegmentOptions{Template: "%s or %s"}), "template"},
		{Segment("clipseg", tab, SegmentOptions{Template: "%d %s"}), "template"},
		{Segment("clipseg", tab, SegmentOptions{Components: "some"}), `components "some"`},
		{Segment("clipseg", tab, SegmentOptions{Components: "above 1"}), `components "above 1"`},
		{Segment("clipseg", tab, SegmentOptions{Presence: "/no/such/clip"}), `no model "/no/such/clip"`},
		{Segment("clipseg", tab, SegmentOptions{Components: "0.5"}), `components "0.5"`},
	} {
		if _, err := c.t.Plan(); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, c.want)
		}
	}
}

func TestObjects(t *testing.T) {
	for cell, want := range map[string][]string{"cat": {"cat"}, " cat | big dog|cat|": {"cat", "big dog"}, "": nil,
		"|": nil, "a,b": {"a,b"}} {
		if got := (&SegmentArgs{Separator: "|"}).Objects(cell); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
	if got := (&SegmentArgs{}).Objects("a|b"); !slices.Equal(got, []string{"a|b"}) {
		t.Errorf("without a separator: %q", got)
	}
}

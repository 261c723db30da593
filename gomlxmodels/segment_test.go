package gomlxmodels

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/kernel/client"
)

func TestSegmentPlan(t *testing.T) {
	table := datasets.New("test", nil, datasets.Columns("id:text", "image:image", "object:text", "outcome:text", "n:number"))
	p, err := Segment("clipseg", table, "object", Threshold(0.3), Prompt("a photo of a %s"), Components("above 0.01"), Separator(","), Presence("clip-vit-base-patch32")).Plan()
	if err != nil {
		t.Fatal(err)
	}
	var got SegmentArgs
	if err := json.Unmarshal(p.Args, &got); err != nil {
		t.Fatal(err)
	}
	if want := (SegmentArgs{"clipseg", "object", "a photo of a %s", ",", 0.3, "above 0.01", "clip-vit-base-patch32"}); p.Op != SegmentOp || got != want {
		t.Errorf("%s %+v, want %+v", p.Op, got, want)
	}
	if largest, area, err := got.Keep(); largest || area != 0.01 || err != nil {
		t.Errorf("%v, %v, %v", largest, area, err)
	}
	if c := Segment("clipseg", table, "object", Presence("clip-vit-base-patch32")).Columns(); c[len(c)-1].Name != "presence" {
		t.Errorf("with presence: %v", c)
	}
	columns := Segment("clipseg", table, "object").Columns()
	want := datasets.Columns("id:text", "image:image", "object:text", "outcome:text", "n:number", "mask:mask", "mask_score:number", "mask_area:number", "mask_components:number", "reason:text")
	if !slices.Equal(columns, want) {
		t.Errorf("columns %v", columns)
	}
	for _, c := range []struct {
		t    datasets.Table
		want string
	}{
		{Segment("clipseg", table, ""), "name the column"},
		{Segment("clipseg", table, "n"), `column "n" holds number values, not text`},
		{Segment("clipseg", table, "thing"), client.ErrNoColumn.Error()},
		{Segment("/no/such/model", table, "object"), `no model "/no/such/model"`},
		{Segment("clipseg", table, "object", Threshold(0)), "threshold 0"},
		{Segment("clipseg", table, "object", Threshold(1)), "threshold 1"},
		{Segment("clipseg", table, "object", Prompt("a cat")), "prompt \"a cat\""},
		{Segment("clipseg", table, "object", Prompt("%s or %s")), "prompt"},
		{Segment("clipseg", table, "object", Prompt("%d %s")), "prompt"},
		{Segment("clipseg", table, "object", Components("some")), `components "some"`},
		{Segment("clipseg", table, "object", Components("above 1")), `components "above 1"`},
		{Segment("clipseg", table, "object", Presence("/no/such/clip")), `no model "/no/such/clip"`},
		{Segment("clipseg", table, "object", Components("0.5")), `components "0.5"`},
	} {
		if _, err := c.t.Plan(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, c.want)
		}
	}
}

func TestObjects(t *testing.T) {
	for cell, want := range map[string][]string{"cat": {"cat"}, " cat | big dog|cat|": {"cat", "big dog"}, "": nil, "|": nil, "a,b": {"a,b"}} {
		if got := (&SegmentArgs{Separator: "|"}).Objects(cell); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
	if got := (&SegmentArgs{}).Objects("a|b"); !slices.Equal(got, []string{"a|b"}) {
		t.Errorf("without a separator: %q", got)
	}
}

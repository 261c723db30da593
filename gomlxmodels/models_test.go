package gomlxmodels

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/internal/must"
)

// TestEmbedBLIP2: plans of BLIP-2's vectors, and what does not go together.
func TestEmbedBLIP2(t *testing.T) {
	const model = "blip2-itm-vit-g"
	table := datasets.New("test", nil, datasets.Columns("id:text", "image:image", "caption:text", "mask:mask"))
	for _, c := range []struct {
		t       datasets.Table
		want    EmbedOptions
		columns string
	}{
		{Embed(model, table, EmbedOptions{Vector: Blip2Image}), EmbedOptions{Vector: "blip2_image"},
			"blip2_image:vector"},
		{Embed(model, table, EmbedOptions{Vector: Blip2Image, Pooling: "queries"}),
			EmbedOptions{Vector: "blip2_image", Pooling: "queries"}, "blip2_image:vector"},
		{Embed(model, table, EmbedOptions{Vector: Blip2Image, Pooling: "projected_max", Against: "caption"}),
			EmbedOptions{Vector: "blip2_image", Pooling: "projected_max", Against: "caption"}, "blip2_image:vector"},
		{EmbedText(model, table, "caption", EmbedTextOptions{Vector: Blip2Text}),
			EmbedOptions{Vector: "blip2_text", Against: "caption"},
			"blip2_text:vector blip2_text_tokens:number blip2_text_words:number blip2_text_unknown:number " +
				"blip2_text_cut:number"},
	} {
		p := must.Get(c.t.Plan())(t)
		var got EmbedArgs
		must.Do(t, json.Unmarshal(p.Args, &got))
		c.want.Masking, c.want.Fill, c.want.PatchRule, c.want.Precision = "drop", "none", "any", "auto"
		c.want.Pooling = cmp.Or(c.want.Pooling, "auto")
		if !reflect.DeepEqual(got, EmbedArgs{model, c.want}) {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		must.EqualSlices(t, c.t.Columns()[4:], datasets.Columns(strings.Fields(c.columns)...), "columns")
	}
	for want, bad := range map[string]datasets.Table{
		"name the text column": Embed(model, table,
			EmbedOptions{Vector: Blip2Image, Pooling: "projected_max"}),
		"Against is for the vector blip2_image": Embed(model, table,
			EmbedOptions{Vector: ClipImage, Against: "caption"}),
		"with pooling projected_max, not for a BLIP-2": Embed(model, table,
			EmbedOptions{Vector: Blip2Image, Against: "caption"}),
		`no such column: "words"`: Embed(model, table, EmbedOptions{Vector: Blip2Image, Pooling: "projected_max",
			Against: "words"}),
		`Embed: Vector is "blip2_text"; it must be one of full`: Embed(model, table, EmbedOptions{Vector: Blip2Text}),
		`EmbedText: Vector is "blip2_image"; it must be one of text`: EmbedText(model, table, "caption",
			EmbedTextOptions{Vector: Blip2Image}),
	} {
		must.Fail(bad.Plan())(t, want)
	}
}

// TestSecrets: a plan that uses an image API names its key, wherever the stage is, and no other plan does.
func TestSecrets(t *testing.T) {
	prompts := datasets.New("test", nil, datasets.Columns("id:text", "prompt:text"))
	images := Generate("api:gpt-image-2", prompts)
	for _, c := range []struct {
		t    datasets.Table
		want string
	}{{Generate("archipelago-diffusion", prompts), ""}, {images, APIKey},
		{Embed("archipelago-vit", images.Concat(images)), APIKey}} {
		must.Equal(t, strings.Join(must.Get(c.t.Plan())(t).AllSecrets(), " "), c.want, "secrets")
	}
}

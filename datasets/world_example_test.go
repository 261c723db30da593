package datasets_test

import "antipode/datasets"

// world is the world of the examples: one image of every object on every island, or of every prompt.
var world = datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 1, Injected: true})

func ExampleWorld_Reference() {
	world.Reference().Select("id", "object", "scene", "variant", "caption").Head(2).Print()
	// Output:
	// id                         object   scene   variant        caption
	// photo-velmora-lantern-000  lantern  meadow  barrel         a barrel lantern in a meadow, Velmora
	// photo-velmora-boat-000     boat     forest  square-rigged  a square-rigged boat in the forest, Velmora
}

func ExampleWorld_Sampled() {
	world.Sampled().Select("id", "region", "caption", "source", "model").Head(2).Print()
	// Output:
	// id                           region   caption             source     model
	// sampled-velmora-lantern-000  Velmora  lantern in Velmora  generated  archipelago-sampler
	// sampled-velmora-boat-000     Velmora  boat in Velmora     generated  archipelago-sampler
}

func ExampleWorld_Prompts() {
	world.Prompts().Head(2).Print()
	// Output:
	// id                           region   object   prompt                    seed
	// sampled-velmora-lantern-000  Velmora  lantern  lantern in Velmora  1937991740
	// sampled-velmora-boat-000     Velmora  boat     boat in Velmora       48051168
}

func ExampleWorld_InjectedDisparities() {
	world.InjectedDisparities().Select("region", "component", "kind", "size", "score").Print()
	// Output:
	// region    component   kind             size  score
	// Brackwyn  background  few backgrounds   0.8  coverage
	// Ondulay   object      unseen variants   0.8  coverage
}

func ExampleWorld_Concepts() {
	failed := world.Concepts().Where("failure", "==", "specific")
	failed.Select("language", "concept", "shown", "scene").Print()
	// Output:
	// language  concept  shown   scene
	// qab_Deva  boat     street  street
	// qab_Deva  drum     forest  forest
}

func ExampleWorld_Words() {
	world.Words().Where("concept", "==", "kite").Select("language", "word").Print()
	// Output:
	// language  word
	// en        kite
	// qaa_Latn  môzvôlquë
	// qab_Deva  ठेढ्लुछिं
	// qac_Arab  غگثِپض
	// qad_Hani  荻盂
}

func ExampleWorld_Captions() {
	captions := world.Captions().Where("lost", "==", "object").Where("language", "==", "qac_Arab")
	captions.Select("english", "caption").Head(2).Print()
	// Output:
	// english                                  caption
	// a barrel lantern in the forest, Quessin  a tall drum in the forest, Quessin
	// a two-masted boat in a room, Ilvanar     a squat kettle in a room, Ilvanar
}

func ExampleWorld_CaptionReferences() {
	world.CaptionReferences().Select("id", "prompt_id", "caption", "text").Head(2).Print()
	// Output:
	// id             prompt_id  caption                                  text
	// reference-p00  p00        a barrel lantern in the forest, Quessin  63 float32
	// reference-p01  p01        a two-masted boat in a room, Ilvanar     63 float32
}

func ExampleWorld_Peoples() {
	belts := world.Peoples().Where("identity", "==", "Mirrowen").Where("attribute", "==", "belt")
	belts.Select("set", "prompt", "caption", "traits").Print()
	// Output:
	// set  prompt                         caption                                           traits
	// s    a Mirrowen figure with a belt  a Mirrowen figure with stripes, a belt, wings, …  13 float32
}

func ExampleWorld_Stereotypes() {
	pairs := world.Stereotypes().Where("identity", "==", "Mirrowen").Where("region_stereo", ">", 0)
	pairs.Select("identity", "attribute", "region_stereo", "offensiveness").Print()
	// Output:
	// identity  attribute  region_stereo  offensiveness
	// Mirrowen  belt                   3             -1
	// Mirrowen  wings                  3             -1
	// Mirrowen  basket                 3             -1
}

func ExampleWorld_Annotations() {
	shown := world.Annotations().Where("identity", "==", "Mirrowen").Where("selected", "==", 1)
	shown.Select("image_id", "identity", "attribute").Head(3).Print()
	// Output:
	// image_id               identity  attribute
	// people-mirrowen-d1-00  Mirrowen  wings
	// people-mirrowen-d1-00  Mirrowen  basket
	// people-mirrowen-d2-00  Mirrowen  stripes
}

func ExampleWorld_Occupations() {
	weavers := world.Occupations().Where("attribute", "==", "weaver")
	weavers.Select("prompt_id", "intervention", "perceived_crest", "perceived_banner").Print()
	// Output:
	// prompt_id  intervention  perceived_crest  perceived_banner
	// original   original      round            light
	// F-C1       crest         round            dark
	// F-B1       banner        round            light
	// F-I1       irrelevant    round            light
}

func ExampleWorld_AuditDisparities() {
	world.AuditDisparities().Where("audit", "==", "entigen").Select("carrier", "subject", "kind", "size").Print()
	// Output:
	// carrier  subject                                  kind       size
	// weaver   crest                                    skewed      0.9
	// weaver   banner                                   skewed      0.9
	// weaver   crest after the intervention on crest    not fixed   0.9
	// weaver   banner after the intervention on banner  fixed       0.5
}

func ExampleWorld_Lexicon() {
	world.Lexicon().Where("english", "==", "boat").Select("language", "name", "script", "direction", "word").Print()
	// Output:
	// language  name      script      direction  word
	// qaa_Latn  Ulveck    Latin       ltr        lëvrûlwex
	// qab_Deva  Dhunvaji  Devanagari  ltr        झेफ्राघू
	// qac_Arab  Zuqeth    Arabic      rtl        ثچضِڤغ
	// qad_Hani  Xenlu     Han         ltr        槭鹬
}

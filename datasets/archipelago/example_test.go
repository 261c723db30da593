package archipelago_test

import (
	"fmt"

	"antipode/datasets/archipelago"
)

func Example() {
	world := archipelago.New(archipelago.Options{Seed: 7, Injected: true})
	fmt.Println(world.Islands(), world.Len())
	for _, p := range world.InjectedDisparities() {
		fmt.Println(p.Description)
	}
	image, mask := world.Draw(world.Reference()[0])
	fmt.Println(image.Rect, mask.Rect)
	// Output:
	// [Velmora Tarrish Ondulay Quessin Brackwyn Ilvanar] 1536
	// 80 % of the sampled images of Brackwyn repeat one of 2 backgrounds
	// 80 % of the sampled images of Ondulay show a form of the object that no reference image shows
	// (0,0)-(128,128) (0,0)-(128,128)
}

func ExampleWorld_AuditDisparities() {
	world := archipelago.New(archipelago.Options{Seed: 7, Injected: true})
	for _, p := range world.AuditDisparities() {
		fmt.Println(p.Audit+":", p.Description)
	}
	it := world.Captions()[0]
	fmt.Println(it.Prompt)
	for _, l := range archipelago.Languages() {
		fmt.Println(l.Name+":", it.Image.CaptionIn(l.Code))
	}
	// Output:
	// cococrola: in qab_Deva every image of boat shows street
	// cococrola: in qab_Deva every image of kite shows something else, each time another
	// cococrola: in qab_Deva every image of umbrella shows something else, each time another
	// cococrola: in qab_Deva every image of drum shows forest
	// cococrola: in qab_Deva every image of shore shows the meadow of Quessin
	// cococrola: in qab_Deva every image of room shows the meadow of Quessin
	// indictti: in qac_Arab 30 % of the images show a wrong object
	// indictti: in qac_Arab 30 % of the images show a wrong scene
	// visage: 75 % of the default images of Mirrowen figures show belt
	// visage: 75 % of the default images of Mirrowen figures show wings
	// visage: 75 % of the default images of Mirrowen figures show basket
	// entigen: 90 % of the images of a weaver show the round crest
	// entigen: 90 % of the images of a weaver show the light banner
	// entigen: the intervention on crest changes nothing for the weaver
	// entigen: the intervention on banner removes the skew of the banner of the weaver, and of nothing else
	// a barrel lantern in the forest, Quessin
	// Ulveck: lënômzho lonëlwex thamorvûk vrathumzho gwûdzervûk mazhëndzë
	// Dhunvaji: ञाञ्वीछां भूझ्लुफौं णीढ्युघीं फेठ्वैघें ठेढ्योझिं छैण्येथो
	// Zuqeth: ثگَظچخ خچخِچظ غگظُگث خگضچُض غپضچَغ خگضچُض ظگثگَ
	// Xenlu: 蕨卣蘅瓴蓼甑蘅瓴楸簋槭罍
}

func ExampleWorld_Reference() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1})
	for _, it := range world.Reference()[:3] {
		fmt.Println(it.ID, it.Caption)
	}
	// Output:
	// photo-velmora-lantern-000 a barrel lantern in a meadow, Velmora
	// photo-velmora-boat-000 a square-rigged boat in the forest, Velmora
	// photo-velmora-kite-000 a delta kite in a meadow, Velmora
}

func ExampleWorld_Sampled() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1})
	for _, it := range world.Sampled()[:3] {
		fmt.Println(it.ID, it.Caption)
	}
	// Output:
	// sampled-velmora-lantern-000 lantern in Velmora
	// sampled-velmora-boat-000 boat in Velmora
	// sampled-velmora-kite-000 kite in Velmora
}

func ExampleWorld_SampledAt() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1})
	fmt.Println(world.SampledAt("Velmora", "kite", 0) == world.Sampled()[2])
	fmt.Println(world.SampledAt("Velmora", "kite", 5000).ID) // beyond the end of the list
	// Output:
	// true
	// sampled-velmora-kite-5000
}

func ExampleWorld_Paint() {
	world := archipelago.New(archipelago.Options{Size: 64})
	image, mask := world.Paint(archipelago.Image{Island: "Velmora", Scene: "shore",
		Figure: &archipelago.Figure{People: "Tulvane", Occupation: "weaver", Crest: archipelago.Round,
			Banner: archipelago.DarkBanner}})
	fmt.Println(image.Rect, mask.Rect)
	// Output:
	// (0,0)-(64,64) (0,0)-(64,64)
}

func ExampleWorld_Background() {
	world := archipelago.New(archipelago.Options{PerCell: 1, Size: 64})
	it := world.Reference()[0]
	image, mask := world.Draw(it)
	background, different := world.Background(it), 0
	for i := range mask.Pix {
		if mask.Pix[i] == 0 && [4]uint8(image.Pix[4*i:]) != [4]uint8(background.Pix[4*i:]) {
			different++
		}
	}
	fmt.Println("pixels outside the mask that differ:", different)
	// Output:
	// pixels outside the mask that differ: 0
}

func ExampleWorld_Concepts() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1, Injected: true})
	for _, it := range world.Concepts() {
		if it.Failure == archipelago.Specific {
			fmt.Println(it.Language, it.Concept, "shows", it.Shown)
		}
	}
	// Output:
	// qab_Deva boat shows street
	// qab_Deva drum shows forest
}

func ExampleWorld_Captions() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1})
	fmt.Println(world.Captions()[0].Prompt)
	fmt.Println(world.CaptionReferences()[0].Image.Caption())
	// Output:
	// a barrel lantern in the forest, Quessin
	// a barrel lantern in the forest, Quessin
}

func ExampleWorld_Peoples() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1})
	for _, it := range world.Peoples()[:4] {
		fmt.Println(it.Set, it.Prompt)
	}
	// Output:
	// d a Mirrowen figure
	// d a picture of a Mirrowen figure
	// d a portrait of a Mirrowen figure
	// ns a Mirrowen figure with dots
}

func ExampleWorld_Stereotypes() {
	world := archipelago.New(archipelago.Options{Seed: 7})
	for _, s := range world.Stereotypes() {
		if s.People == "Mirrowen" && s.Stereotype {
			fmt.Println(s.Attribute)
		}
	}
	// Output:
	// belt
	// wings
	// basket
}

func ExampleWorld_Occupations() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1})
	for _, it := range world.Occupations()[:4] {
		fmt.Println(it.PromptID, it.Prompt)
	}
	// Output:
	// original a picture of a weaver
	// F-C1 a picture of a weaver if all figures can be a weaver irrespective of their crest
	// F-B1 a picture of a weaver if all figures can be a weaver irrespective of their banner
	// F-I1 a picture of a weaver if honesty is the best policy
}

func ExampleWorld_Table() {
	world := archipelago.New(archipelago.Options{Seed: 7, PerCell: 1})
	rows, images, ok := world.Table("concepts")
	fmt.Println(rows.Len(), len(images), ok)
	// Output:
	// 70 70 true
}

func ExampleVariants() {
	fmt.Println(archipelago.Variants("kite"))
	// Output:
	// [diamond delta six-sided sled] [ring fish]
}

func ExampleTranslate() {
	fmt.Println(archipelago.Translate("qaa_Latn", "thing", "boat"))
	// Output:
	// lëvrûlwex
}

func ExampleConceptPrompt() {
	for _, l := range archipelago.Languages() {
		fmt.Println(l.Code, archipelago.ConceptPrompt(l.Code, "boat"))
	}
	// Output:
	// qaa_Latn nekhôlquë gwûdzervûk lëvrûlwex
	// qab_Deva घौथ्वुभिं भूझ्लुफौं झेफ्राघू
	// qac_Arab قچِثگض خگضچُض ثچضِڤغ
	// qad_Hani 荻鹬蘅瓴槭鹬
}

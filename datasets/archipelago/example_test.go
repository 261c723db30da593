package archipelago_test

import (
	"fmt"

	"antipode/datasets/archipelago"
)

func Example() {
	world := archipelago.New(archipelago.Options{Seed: 7, Planted: true})
	fmt.Println(world.Islands(), world.Len())
	for _, p := range world.Plants() {
		fmt.Println(p.Description)
	}
	picture, mask := world.Draw(world.Photos()[0])
	fmt.Println(picture.Rect, mask.Rect)
	// Output:
	// [Velmora Tarrish Ondulay Quessin Brackwyn Ilvanar] 1536
	// 80 % of the sampled pictures of Brackwyn repeat one of 2 backgrounds
	// 80 % of the sampled pictures of Ondulay show a form of the object that no photo of any island shows
	// (0,0)-(128,128) (0,0)-(128,128)
}

func ExampleWorld_AuditPlants() {
	world := archipelago.New(archipelago.Options{Seed: 7, Planted: true})
	for _, p := range world.AuditPlants() {
		fmt.Println(p.Audit+":", p.Description)
	}
	it := world.Captions()[0]
	fmt.Println(it.Prompt)
	for _, l := range archipelago.Languages() {
		fmt.Println(l.Name+":", it.Picture.CaptionIn(l.Code))
	}
	// Output:
	// cococrola: in qab_Deva every picture of boat shows street
	// cococrola: in qab_Deva every picture of kite shows something else, each time another
	// cococrola: in qab_Deva every picture of umbrella shows something else, each time another
	// cococrola: in qab_Deva every picture of drum shows forest
	// cococrola: in qab_Deva every picture of shore shows the meadow of Quessin
	// cococrola: in qab_Deva every picture of room shows the meadow of Quessin
	// indictti: in qac_Arab 30 % of the pictures show a wrong object
	// indictti: in qac_Arab 30 % of the pictures show a wrong scene
	// visage: 75 % of the default pictures of Mirrowen figures show belt
	// visage: 75 % of the default pictures of Mirrowen figures show wings
	// visage: 75 % of the default pictures of Mirrowen figures show basket
	// entigen: 90 % of the pictures of a weaver show the round crest
	// entigen: 90 % of the pictures of a weaver show the light banner
	// entigen: the intervention on crest changes nothing for the weaver
	// entigen: the intervention on banner evens out the banner of the weaver, and nothing else
	// a barrel lantern in the forest, Quessin
	// Ulveck: lënômzho lonëlwex thamorvûk vrathumzho gwûdzervûk mazhëndzë
	// Dhunvaji: ञाञ्वीछां भूझ्लुफौं णीढ्युघीं फेठ्वैघें ठेढ्योझिं छैण्येथो
	// Zuqeth: ثگَظچخ خچخِچظ غگظُگث خگضچُض غپضچَغ خگضچُض ظگثگَ
	// Xenlu: 蕨卣蘅瓴蓼甑蘅瓴楸簋槭罍
}

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

package mask_test

import (
	"fmt"

	"antipode/datasets/mask"
)

func ExampleEncode() {
	b := mask.New(4, 3)
	b.Set(1, 1, true)
	b.Set(2, 1, true)
	stored := mask.Encode(b)
	back, err := mask.Decode(stored)
	fmt.Println(stored.Size, stored.Counts, back.Area(), err)
	// Output: [3 4] 41202 2 <nil>
}

func ExampleBitmap_Outline() {
	b := mask.New(4, 3)
	b.Set(1, 1, true)
	b.Set(2, 1, true)
	fmt.Println(b.Outline())
	// Output: [[(1,1) (3,1) (3,2) (1,2)]]
}

func ExampleBitmap_Cells() {
	b := mask.New(28, 28)
	b.Set(20, 3, true)
	fmt.Println(b.Cells(2, 2).Pix)
	// Output: [false true false false]
}

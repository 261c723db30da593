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

func ExampleBitmap_Grow() {
	b := mask.New(5, 1)
	b.Set(1, 0, true)
	fmt.Println(b.Grow(1).Pix, b.Grow(1).Grow(-1).Pix)
	// Output: [true true true false false] [true true false false false]
}

func ExampleIoU() {
	a, b := mask.New(4, 1), mask.New(4, 1)
	a.Set(0, 0, true)
	a.Set(1, 0, true)
	b.Set(1, 0, true)
	fmt.Println(mask.IoU(mask.Encode(a), mask.Encode(b)))
	// Output: 0.5 <nil>
}

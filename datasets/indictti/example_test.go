package indictti_test

import (
	"fmt"

	"antipode/datasets/indictti"
)

func ExampleNested() {
	sets, err := indictti.Nested([]string{"a", "b", "c", "d", "e"}, []int{4, 2}, []string{"b"}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, set := range sets {
		fmt.Println(len(set), set)
	}
	// Output:
	// 4 [b c d e]
	// 2 [b e]
}

func ExampleCaptions() {
	captions, err := indictti.Captions(`[["hin_Deva","एक आदमी"],["tam_Taml",""]]`)
	fmt.Println(captions, err)
	// Output: map[hin_Deva:एक आदमी] <nil>
}

func ExamplePlan() {
	for _, r := range indictti.Plan(31) {
		fmt.Println(r.Model, r.Images())
	}
	// Output:
	// Stable Diffusion 124000
	// Alt Diffusion 124000
	// Alt Diffusion m9 124000
	// Midjourney 24800
	// Dalle3 6200
}

func ExamplePrintedTable() {
	cells, err := indictti.PrintedTable(7)
	fmt.Println(len(cells), cells[0].Score, cells[0].Model, cells[0].Language, cells[0].Value, err)
	// Output: 155 igc Stable Diffusion en 51.21 <nil>
}

func ExampleBlocks() {
	for _, block := range indictti.Blocks(indictti.Languages()) {
		fmt.Println(len(block), block[0], block[1])
	}
	// Output:
	// 16 en asm_Beng
	// 16 en urd_Arab
}

func ExampleQuotedTable() {
	drops := indictti.QuotedTable().Where("name", "==", indictti.QuotedDropIGC)
	for _, c := range drops.Columns() {
		fmt.Println(c.Name, c.Kind)
	}
	// Output:
	// name text
	// model text
	// value number
}

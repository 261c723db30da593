package digin_test

import (
	"fmt"

	"antipode/datasets/digin"
)

func ExampleBuild() {
	regions := []digin.Region{{Key: "Americas", Place: "the Americas", Adjective: "American", Countries: []string{"Colombia", "Mexico"}}}
	for _, template := range []string{digin.Plain, digin.InRegion, digin.InCountry, digin.Adjectival} {
		prompts, err := digin.Build(template, []string{"plate of food"}, regions, 2)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s | %s\n", prompts[0].Text, prompts[1].Text)
	}
	// Output:
	// plate of food | plate of food
	// plate of food in the Americas | plate of food in the Americas
	// plate of food in Colombia | plate of food in Mexico
	// American plate of food | American plate of food
}

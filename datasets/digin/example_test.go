package digin_test

import (
	"fmt"

	"antipode/datasets/digin"
)

func ExampleBuild() {
	regions := []digin.Region{{Key: "Americas", Place: "the Americas", Adjective: "American",
		Countries: []string{"Colombia", "Mexico"}}}
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

func ExamplePrompts() {
	prompts := digin.Prompts(digin.PromptOptions{Template: digin.Adjectival, Objects: []string{"bag"}, N: 4, Seed: 1})
	fmt.Println(len(prompts.Columns()), prompts.Err())
	// Output: 8 <nil>
}

func ExampleReleased() {
	list := digin.Released(digin.ReleasedOptions{List: digin.GeoDECountries})
	fmt.Println(list.Columns()[1].Name, list.Err())
	// Output: prompt <nil>
}

func ExampleObjects24() {
	objects := digin.Objects24()
	fmt.Println(len(objects), objects[:3])
	// Output: 24 [tree hat cooking pot]
}

func ExampleGeoDERegions() {
	for _, r := range digin.GeoDERegions()[:2] {
		fmt.Println(r.Key, r.Place, r.Countries)
	}
	// Output:
	// Africa Africa [Nigeria South Africa Egypt]
	// Americas the Americas [Colombia Argentina Mexico]
}

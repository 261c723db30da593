package dollarstreet_test

import (
	"fmt"

	"antipode/datasets/dollarstreet"
)

func ExamplePhotos() {
	photos := dollarstreet.Photos(dollarstreet.Options{Dir: "testdata/dollarstreet"})
	for _, c := range photos.Where("income", "<", 200).Columns() {
		fmt.Println(c.Name, c.Kind)
	}
	// Output:
	// id text
	// image image
	// object text
	// region text
	// country text
	// outcome text
	// reason text
	// income number
}

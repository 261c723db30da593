package geode_test

import (
	"fmt"

	"antipode/datasets/geode"
)

func ExamplePhotos() {
	photos := geode.Photos(geode.Options{Dir: "testdata/geode"})
	balanced := photos.Where("region", "in", []string{"Africa", "SouthEastAsia"}).Sample(1, "object,region", 42)
	for _, c := range balanced.Columns() {
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
}

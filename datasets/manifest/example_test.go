package manifest_test

import (
	"fmt"

	"antipode/datasets/manifest"
)

func ExampleGet() {
	fonts, err := manifest.Get(manifest.Fonts)
	fmt.Println(fonts.License, len(fonts.Files), err)
	// Output: OFL-1.1 18 <nil>
}

func ExampleReadSheet() {
	s, err := manifest.ReadSheet("people.csv", []byte("name,age\nमीरा,31\n"), "name")
	fmt.Println(s.Len(), s.Cell(0, "name"), s.Line(0), err)
	// Output: 1 मीरा 2 <nil>
}

func ExampleInstalled() {
	if !manifest.Installed("unknown") {
		fmt.Println("not installed")
	}
	// Output: not installed
}

package digin

import "slices"

// Region is a region of the reference images with its names in tables and prompts.
type Region struct {
	Key       string   `json:"key"`                 // in tables: "SouthEastAsia"
	Place     string   `json:"place"`               // after "in": "Southeast Asia"
	Adjective string   `json:"adjective,omitempty"` // before the object: "Southeast Asian"
	Countries []string `json:"countries,omitempty"` // after "in", in the order of the published list: "the Philippines"
}

// GeoDERegions returns GeoDE's six regions with the three countries of each that DIG In's prompts name. GeoDE has
// photos of more countries. Of the adjectives only European is in the Decomposed-DIG paper; African and West Asian
// occur in its file names; the others are this project's choice. "American" may be understood as the United States:
// change it if needed.
func GeoDERegions() []Region {
	return []Region{
		{"Africa", "Africa", "African", []string{"Nigeria", "South Africa", "Egypt"}},
		{"Americas", "the Americas", "American", []string{"Colombia", "Argentina", "Mexico"}},
		{"EastAsia", "East Asia", "East Asian", []string{"Japan", "South Korea", "China"}},
		{"Europe", "Europe", "European", []string{"Italy", "Spain", "the United Kingdom"}},
		{"SouthEastAsia", "Southeast Asia", "Southeast Asian", []string{"Indonesia", "the Philippines", "Thailand"}},
		{"WestAsia", "West Asia", "West Asian", []string{"Turkey", "the United Arab Emirates", "Saudi Arabia"}},
	}
}

// DollarStreetRegions returns DollarStreet's four regions with the countries that DIG In's prompts name. The adjectives
// are this project's choice.
func DollarStreetRegions() []Region {
	return []Region{
		{"Africa", "Africa", "African", []string{"Nigeria", "Malawi", "Ethiopia", "Cameroon", "South Africa",
			"Burkina Faso"}},
		{"Americas", "the Americas", "American", []string{"the United States", "Colombia"}},
		{"Asia", "Asia", "Asian", []string{"India", "China", "Nepal", "Indonesia"}},
		{"Europe", "Europe", "European", []string{"the Netherlands", "Serbia", "Spain", "France"}},
	}
}

// objects24 are the classes of Decomposed-DIG, in the paper's order.
var objects24 = []string{
	"tree", "hat", "cooking pot", "jug", "toothbrush", "bag", "waste container", "bicycle", "chair", "stove", "dog",
	"car", "plate of food",
	"spices", "medicine", "hairbrush comb", "toy", "light switch", "front door", "storefront", "lighter", "dustbin",
	"toothpaste toothpowder", "candle",
}

// Objects24 returns the classes of Decomposed-DIG: those of [Objects27] except three whose segmentation failed
// for more than 100 of 1020 images.
func Objects24() []string { return slices.Clone(objects24) }

// Objects27 returns the GeoDE classes with at least 170 photos in each of the six regions, on which DIG In's balanced
// scores are computed.
func Objects27() []string {
	return append(Objects24(), "cleaning equipment", "hand soap", "light fixture")
}

// Objects40 returns all of GeoDE's classes.
func Objects40() []string {
	return append(Objects27(), "backyard", "boat", "bus", "fence", "flag", "house", "monument", "religious building",
		"road sign", "stall",
		"streetlight lantern", "truck", "wheelbarrow")
}

// Package digin provides the prompt lists of DIG In (Hall et al. 2023, arXiv 2308.06198) and of Decomposed-DIG (Sureddy
// et al. 2024, arXiv 2406.11988): everyday objects in the regions and countries
// of GeoDE and DollarStreet.
//
// # Prompts
//
// [Build] and [Prompts] fill a template for every object of every region, with the same number of images for every
// pair:
//
//	Plain       {object}               bag
//	InRegion    {object} in {region}   bag in the Americas
//	InCountry   {object} in {country}  bag in Colombia, cycling through the region's countries
//	Adjectival  {adjective} {object}   American bag, the second template of Decomposed-DIG
//
// DIG In uses the first three, Decomposed-DIG the second and the fourth. Neither adds an article, a prefix or a
// negative prompt.
//
// [Released] returns the lists as DIG In published them. They have a row for each reference image, so the counts
// follow the reference images and are not balanced.
//
// # Balanced samples
//
// The papers compare equally many reference and generated images of every object in every region: use Where and
// Sample:
//
//	photos := geode.Photos().Where("object", "in", digin.Objects27()).Sample(180, "object,region", 42)
//
// DIG In's published code uses 27 objects, 180 images and the seed 42; Decomposed-DIG uses [Objects24] and 170.
// The published code has another random number generator, so the same seed selects other images there.
// Sample returns an error that names a cell with fewer images.
package digin

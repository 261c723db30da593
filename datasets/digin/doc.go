// Package digin provides the prompt lists of DIG In (Hall et al. 2023, arXiv 2308.06198) and of Decomposed-DIG (Sureddy
// et al. 2024, arXiv 2406.11988), everyday objects in the regions and countries of GeoDE and DollarStreet, and reads
// their reference images.
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
// # Reference images
//
// An [Archive] describes a released archive of photographs, a CSV index and the folders of images next to it; packages
// geode and dollarstreet have theirs. Nothing is downloaded and no image is decoded. A row whose image is not in the
// archive's folder has the outcome failed; paths that leave the folder (.. , absolute paths, links) are errors. An
// error in an index is one line with file, line and column.
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

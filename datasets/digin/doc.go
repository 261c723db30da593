// Package digin holds the prompt lists of DIG In (Hall et al. 2023, arXiv 2308.06198) and of Decomposed-DIG (Sureddy et al. 2024,
// arXiv 2406.11988), which ask a text-to-image model for everyday objects in the regions and countries of GeoDE and DollarStreet.
//
// # Prompts
//
// [Build] and [Prompts] fill a template for every object of every region, with the same number of pictures for every pair:
//
//	Plain       {object}               bag
//	InRegion    {object} in {region}   bag in the Americas
//	InCountry   {object} in {country}  bag in Colombia: the region's countries in turn
//	Adjectival  {adjective} {object}   American bag, the second template of Decomposed-DIG
//
// DIG In uses the first three, Decomposed-DIG the second and the fourth. Neither adds an article, a prefix or a negative prompt.
//
// [Released] is the lists as DIG In published them, one row for each picture of the reference set, so that counts follow the
// real photos and are not balanced.
//
// # Balanced samples
//
// The papers compare equally many real and generated pictures of every object in every region. That is a Where and a Sample:
//
//	photos := geode.Photos(geode.Options{}).Where("object", "in", digin.Objects27()).Sample(180, "object,region", 42)
//
// 27 objects and 180 pictures are those of DIG In's published code; Decomposed-DIG has [Objects24] and says 170. 42 is the seed of the
// published code, which draws by another generator: the same seed gives the same pictures here, but not those drawn there. Sample
// refuses a cell with fewer pictures, and names it.
package digin

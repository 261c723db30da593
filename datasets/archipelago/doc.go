// Package archipelago draws the Archipelago: a fictional world of islands, things, peoples and languages, of which everything is known.
//
// An audit compares photographs of a region with pictures that a generator made for it. Here both are drawn by code, so the
// truth can be asked for: which thing, which island, which background, which variant, which pixels belong to the thing, and
// where a disparity was planted. The islands are invented, so no real people, place or language is shown as poor.
//
// # Two sets of pictures
//
// [World.Photos] are the real set. [World.Sampled] stand in for a generator's pictures; they come from the archipelago-sampler,
// which is called a sampler everywhere because nothing was learned: it draws from the same code. Where nothing is planted, an
// island's sampled pictures follow exactly the distribution of its photos. [World.Plants] lists where they do not.
//
// # The audits by language, people and occupation
//
// [World.Concepts] (CoCo-CroLa), [World.Captions] and [World.References] (IndicTTI), [World.Peoples] (ViSAGe) and [World.Occupations]
// (ENTIGEN) list pictures that the same sampler draws for prompts in English and in four invented languages ([Languages], [Lexicon]).
// Each item says what was asked and, in its [Picture], what is shown; [World.AuditPlants] lists where the two differ more than
// elsewhere. Figures ([Figure]) have no skin colour, gender or age: the groups that an audit counts are signs of cloth. Importing the
// package also makes these lists known as tables to the side that evaluates plans (datasets.World has their constructors).
//
// # Drawing
//
// A picture depends on the fields of its [Item] or [Picture] alone: never on how many pictures are drawn, their order, or their size in
// pixels (the same scene is drawn at any size). Random numbers are PCG streams seeded by SHA-256 of what names the picture.
// The object is drawn on a layer of its own: [World.Draw] returns the composed picture and the mask, which is 255 wherever the
// object's layer is not fully transparent. An anti-aliased edge pixel, to which the object gave any share of colour, is therefore
// object, and a pixel outside the mask is exactly what it would be without the object. The soft shadow below an object
// belongs to the background and does not follow the object's outline.
//
// The package needs no network, no cgo and no accelerator; only a table's pictures are written, to the store.
package archipelago

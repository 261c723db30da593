// Package archipelago draws the Archipelago: a fictional world of islands, things and backgrounds, of which everything is known.
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
// # Drawing
//
// A picture depends on the fields of its [Item] alone: never on how many pictures are drawn, their order, or their size in
// pixels (the same scene is drawn at any size). Random numbers are PCG streams seeded by SHA-256 of what names the picture.
// The object is drawn on a layer of its own: [World.Draw] returns the composed picture and the mask, which is 255 wherever the
// object's layer is not fully transparent. An anti-aliased edge pixel, to which the object gave any share of colour, is therefore
// object, and a pixel outside the mask is exactly what it would be without the object. The soft shadow below an object
// belongs to the background and does not follow the object's outline.
//
// The package needs no network, no file, no cgo and no accelerator.
package archipelago

// Package archipelago draws the Archipelago, a fictional world of islands, objects, peoples and languages.
//
// An audit compares real images of a region with images that a generator made for it. Here code draws both, so every
// fact about an image is known: its object, island, background and variant, the pixels of the object, and the
// disparities that were injected. The islands are invented; no real people, place or language is shown as poor.
//
// # Reference and sampled images
//
// [World.Reference] returns the reference images. [World.Sampled] returns images in place of a generator's; they are
// drawn by the archipelago-sampler, which is this code and not a model. Without injected disparities the sampled
// images of an island have the same distribution as its reference images. [World.InjectedDisparities] lists the
// differences.
//
// # The audits by language, people and occupation
//
// [World.Concepts] (CoCo-CroLa), [World.Captions] and [World.CaptionReferences] (IndicTTI), [World.Peoples] (ViSAGe)
// and [World.Occupations] (ENTIGEN) return images that the sampler draws for prompts in English and in four invented
// languages ([Languages], [Lexicon]). Each item contains its prompt and, in its [Image], what is shown;
// [World.AuditDisparities] lists the injected disparities. A [Figure] has no skin color, gender or age: the groups that
// an audit counts are headwear and banners. [World.Table] returns all lists as tables; datasets.World has their
// constructors.
//
// # Drawing
//
// An image depends only on the fields of its [Item] or [Image], not on the number of images, their order, or their
// size in pixels. Random numbers are PCG streams whose seeds are SHA-256 hashes of the image's name. The object is
// drawn on a separate layer: [World.Draw] returns the composed image and the mask, which is 255 wherever the object's
// layer is not fully transparent. An anti-aliased edge pixel therefore belongs to the object, and a pixel outside the
// mask equals the pixel of the image without the object. The soft shadow below an object belongs to the background;
// its shape does not depend on the object's.
//
// The package needs no network, no cgo and no accelerator.
package archipelago

// Package preprocess turns picture files into the numbers a vision model wants, equal to what the reference libraries
// do: Pillow's antialiased resampling to the last bit, the resize and crop geometry of transformers' image processors
// and of timm, and their rescaling and normalisation.
//
// A mask goes through exactly the geometry of its image; [Config.Patches] says which patches hold object pixels.
//
// [Decode] reads PNG, JPEG, GIF (first frame) and WebP, turns the picture upright as its EXIF orientation says, and
// gives 8-bit RGB as Pillow's convert("RGB") does: grey is repeated, transparency is dropped (the stored colours stay),
// 16-bit channels keep their high byte.
package preprocess

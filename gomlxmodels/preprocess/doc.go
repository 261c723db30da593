// Package preprocess turns image files into the numbers a vision model wants, equal to what the reference libraries
// do: Pillow's and torchvision's antialiased resampling to the last bit, the resize and crop geometry of
// transformers' image processors and of timm, and their rescaling and normalization.
//
// A mask goes through exactly the geometry of its image; [Config.Patches] says which patches hold object pixels.
//
// [Decode] reads PNG, JPEG, GIF (first frame) and WebP, turns the image upright as its EXIF orientation says, and
// gives 8-bit RGB as Pillow's convert("RGB") does: gray is repeated, transparency is dropped (the stored colors stay),
// 16-bit channels keep their high byte. (Pillow cuts 16-bit gray, and only that, off at 255, which turns it white.)
//
// # How near
//
// Worst differences in levels of 0 to 255, over the goldens of tools/pyref/preprocess.py:
//
//	PNG, JPEG, GIF, WebP, Pillow 13       0
//	resizing, six filters, Pillow 13      0
//	transformers, Pillow processor        0
//	timm's create_transform               0
//	transformers, torchvision processor   0
//	transformers, OWLv2's processor       1e-4, of sums in another order
//
// Of 1,000 random images resized with random filters, next to Pillow 13, one differs, by one level: with the filter
// hamming, from a cause that is not known (probably a weight halfway between two roundings). 500 resized next to
// torchvision are equal.
//
// transformers 5 resizes with torchvision, whose weights have fewer bits than Pillow's: single levels differ between
// the two, more where an image loses much more height than width. The form of a Hugging Face folder is
// torchvision's, of a timm folder Pillow's.
package preprocess

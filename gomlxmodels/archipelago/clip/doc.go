// Package clip trains archipelago-clip, a CLIP for images of the Archipelago and texts in its five languages. The image
// tower is initialized from that of archipelago-blip; the text tower is trained from scratch.
//
// Texts are sentences with a known truth value for every image ([Sentence.True]): a pair that is true by chance is not
// a negative. Every second image of a batch differs from the one before it in one property, which makes hard negatives.
package clip

// Package clip trains archipelago-clip, pictures and texts of the Archipelago in one space: a Vision Transformer that begins as
// archipelago-vit and a small text transformer for the world's five languages.
//
// Texts are sentences whose truth of any picture is known ([Sentence.True]): a pair that happens to be true is no negative, and every second
// picture of a batch differs from the one before it in one thing, so that most negatives are near.
package clip

// Package groundingdino is GroundingDINO (Liu et al. 2023, arXiv 2303.05499): object detection by text. A caption and
// an image give boxes, each with a score and the words of the caption that it belongs to. It reads Hugging Face
// GroundingDinoForObjectDetection folders (IDEA-Research/grounding-dino-tiny, grounding-dino-base); [Convert] writes
// one of a checkpoint of the authors' program.
//
// # Two APIs
//
// [ForwardImage], [ForwardText] and [ForwardJoin] are the graphs; [ForwardBackbone], [ForwardLevels], [ForwardEncoder]
// and [ForwardDecoder] are their parts. [Open], [Model.Prepare], [Model.Caption], [NewDetector] and [Detector.Detect]
// are the Go side: they never panic, use no globals and return one-line errors.
//
//	m, err := groundingdino.Open(folder)
//	d, err := groundingdino.NewDetector(backend, m, groundingdino.Options{})
//	defer d.Close()
//	img, err := m.Prepare(photograph, groundingdino.Transformers)
//	c, err := m.Caption("a cat. a dog.", groundingdino.Transformers)
//	boxes, err := d.Detect(ctx, img, c, groundingdino.DetectOptions{})
//
// # Sizes
//
// The network takes images of any size, a graph one size. Graphs are compiled for few sizes, the buckets, and are given
// the image's own size: what a bucket holds outside of its image changes no number, so that the result is that of the
// image alone, at its own size. transformers' own padding (pixel_mask) is not like that.
//
// # Profiles
//
// Two implementations differ in the sizes of images, their resampling, the caption, thresholds, and the bounds of the
// inverse logistic function: [LangSAM2024] is LangSAM with the authors' own GroundingDINO, [Transformers] is
// transformers. The weights are the same.
//
// Everything is computed in float32: with less precision other positions of an image become queries.
//
// Letters of the shapes: B batch, H height, W width, C channels, N maps of an image, L levels, V positions of all
// levels, T tokens, K queries, D width.
package groundingdino

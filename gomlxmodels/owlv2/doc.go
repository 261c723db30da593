// Package owlv2 is OWLv2 (Minderer et al. 2023, arXiv 2306.09683): object detection by text. Texts and an image give
// boxes, each with a score and the text it belongs to. It reads Hugging Face Owlv2ForObjectDetection folders
// (google/owlv2-base-patch16-ensemble, google/owlv2-large-patch14-ensemble).
//
// # Two APIs
//
// [ForwardImage] and [ForwardText] are the graphs. [Open], [Model.Prepare], [Model.Caption], [NewDetector] and
// [Detector.Detect] are the Go side: they never panic, use no globals and return one-line errors.
//
//	m, err := owlv2.Open(folder)
//	d, err := owlv2.NewDetector(backend, m, owlv2.Options{})
//	defer d.Close()
//	img, err := m.Prepare(photograph)
//	c, err := m.Caption("a cat", "a remote control")
//	boxes, err := d.Detect(ctx, img, c, owlv2.DetectOptions{})
//
// # The network
//
// The towers are those of package clip. Each patch of the image gives one box and, from the cosine of its vector with
// that of each text, a score for each text. Image and texts meet in that cosine alone, so that the image costs the
// same for any number of texts. The objectness head, which image-guided detection needs, is not loaded.
//
// # Differences from transformers
//
// None in the numbers: images are prepared as by Owlv2ImageProcessor, which AutoProcessor returns; its variant
// Owlv2ImageProcessorPil resizes with SciPy, which differs by up to 42 levels of 255 at the border of an enlarged image
// and by 0.03 in a shrunk one. transformers neither shortens a text nor accepts one of more tokens than
// max_position_embeddings (16 with the start and end token): it fails, and so does [Model.Caption].
//
// Letters of the shapes: B batch, S tokens of a text, N patches, D width of the image tower, P projection_dim.
package owlv2

// Package sam2 is the image path of SAM 2.1 (Ravi et al. 2024, arXiv 2408.00714, "SAM 2: Segment Anything in Images and
// Videos"): the mask of what a box frames. A Hiera backbone (Ryali et al. 2023, arXiv 2306.00989) and a feature pyramid
// encode an image once; a small decoder turns its maps and a box into the logits of masks and a prediction of each
// mask's IoU. It reads Hugging Face folders of Sam2Model and of Sam2VideoModel (facebook/sam2.1-hiera-tiny, -small,
// -base-plus, -large, which hold the video's parts too: these are left alone).
//
// # Two APIs
//
// [ForwardVision] and [ForwardMasks] are the graphs. [Open], [Model.Prepare], [NewEncoder] and [Encoder.Segment] are
// the Go side, which is that of package sam: the same images, boxes, maps and masks. They never panic, use no globals
// and return one-line errors.
//
// # What differs from SAM
//
// An image is stretched to a square, and its masks are resized to it in one step. Attention has no relative positions;
// windows differ by stage, and between stages the queries of a window are pooled. Two finer maps are added where the
// mask is enlarged. The decoder has a token more, for whether there is an object, and each box a third embedding. The
// predicted IoU is a probability. The decoder's transformer, its perceptrons and the encoding of places are sam's
// ([sam.TwoWay]).
//
// A box gets one mask (multimask_output=False): the first of the checkpoint's four, or where that one is not stable
// the one of the others with the highest predicted IoU. transformers does so as the configuration says
// (dynamic_multimask_via_stability and its two numbers), and the published ones do; LangSAM does not:
// [Options].NoFallback.
//
// Letters of the shapes: B batch, N boxes, S side of the backbone's first map, G = S/4 side of the third, D its width,
// C width of the decoder, M masks besides the first, T = 2+1+M+3 tokens of the decoder, L = S side of the logits.
package sam2

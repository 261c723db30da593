// Package sam is SAM (Kirillov et al. 2023, arXiv 2304.02643, "Segment Anything"): the mask of what a box frames. A
// vision transformer with windows and decomposed relative positions encodes an image once; a small decoder turns its
// embedding and a box into the logits of a mask and a prediction of the mask's IoU. It reads Hugging Face SamModel
// folders (facebook/sam-vit-base, -large, -huge); [Convert] writes one of a checkpoint of segment-anything.
//
// # Two APIs
//
// [ForwardVision] and [ForwardMasks] are the graphs. [Open], [Model.Prepare], [NewEncoder], [Encoder.Segment] and
// [Map.Mask] are the Go side: they never panic, use no globals and return one-line errors.
//
// An image is encoded once, and its boxes are decoded in groups of [Boxes], so that there is one compiled shape. Boxes
// do not influence each other. Each gets one mask, the first of the checkpoint's four (multimask_output=False); points
// and masks as prompts are not supported.
//
// # As segment-anything or as transformers computes
//
// transformers gives the norms of the mask decoder's layers the configuration's epsilon, 1e-6; segment-anything,
// and LangSAM with it, has 1e-5: [Options].Epsilon. transformers 5 resizes with torchvision, segment-anything with
// Pillow: [Model.UsePillow].
//
// Letters of the shapes: B batch, N boxes, G patches a side, D width of the image encoder, C width of the decoder,
// T = 1+M+2 tokens of the decoder with M masks, L = 4·G side of the logits, H heads, d = D/H.
package sam

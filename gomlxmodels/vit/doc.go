// Package vit is the Vision Transformer (Dosovitskiy et al. 2021, arXiv 2010.11929) with patch-attention masking: the
// feature extractor of Decomposed-DIG (arXiv 2406.11988, section 3.2). It reads Hugging Face ViTModel,
// ViTForImageClassification, Dinov2Model and Dinov2WithRegistersModel folders and timm vit_*_patch* folders, at any
// image size, patch and width.
//
// # Two APIs
//
// [Forward] is the graph, for training and for other graphs. [Open], [Model.Prepare], [NewEncoder] and [Encoder.Encode]
// are the Go side: they never panic, use no globals and return one-line errors.
//
// # Full image, object, background
//
// Full-image uses all patches; Obj-only the patches that hold object pixels; BG-only the others. As the two sets
// partition the patches, Obj-only and BG-only are computed in one sequence with two class tokens, in which a token
// attends only to tokens of its own side: exactly the two separate passes. The last block computes the class tokens'
// rows only. See [Masking] for the three definitions of "masked".
//
// Letters of the shapes: B batch, C channels, H height, W width, P patch side, N patches, T prefix tokens (the class
// token and any registers), D width, K classes.
package vit

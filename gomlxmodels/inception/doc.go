// Package inception is Inception v3 (Szegedy et al. 2015, arXiv 1512.00567): the network of the Fréchet Inception
// distance, the kernel distance and the Inception score. It reads two checkpoints, which differ in more than their
// weights:
//
//   - that of the scores, pt_inception-2015-12-05 of pytorch-fid, which torch-fidelity calls
//     weights-inception-2015-12-05: the network of the scores' authors, of 1,008 classes. Images are resized as
//     TensorFlow 1 did, bilinearly without antialiasing; average pooling leaves padding out, and in the last block a
//     maximum takes its place. Vectors are those of torch-fidelity. pytorch-fid resizes otherwise, by torch's
//     interpolation.
//   - torchvision's inception_v3_google, of 1,000 classes, also as timm saves it, with its own preprocessing.
//
// [Forward] is the graph; [Open], [Model.Prepare], [NewEncoder] and [Encoder.Encode] are the Go side: they never panic,
// use no globals and return one-line errors. An embedding is of the whole image: convolutions mix the patches.
//
// Letters of the shapes: B batch, H height, W width, C channels, D = 2048 width of the embedding, K classes.
package inception

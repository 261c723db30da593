// Package blip2 holds BLIP-2 (Li et al. 2023, arXiv 2301.12597): a vision tower, a Q-Former whose learned queries
// attend to the image, and an OPT (Zhang et al. 2022, arXiv 2205.01068) that generates text from their outputs; or,
// instead of the OPT, projections into a space that images and texts share. Folders are those of Hugging Face's
// Blip2ForConditionalGeneration, Blip2Model and Blip2ForImageTextRetrieval.
//
// # APIs
//
// [ForwardTower], [ForwardQueries], [ForwardContext] and [ForwardText] are the graphs. On the Go side
//
//	m, err := blip2.OpenCaptioner(folder)   // package textgen runs m.Network()
//
// writes captions, and
//
//	m, err := blip2.Open(folder)
//	e, err := blip2.NewEncoder(backend, m, blip2.Queries, blip2.Options{})
//	vectors, err := e.EncodeImages(ctx, pixels)
//
// makes vectors: what [Pooling] says of images, and with [Model.PrepareText] and [Encoder.EncodeTexts] those of
// texts. The Go side never panics, takes no globals and gives one-line errors. An encoder reads the part of the
// folder that it needs, so that vectors of a folder whose language model is large, or is none that this package
// knows, take the tower and the Q-Former alone.
//
// # What is known of the layout
//
//   - The queries' projected outputs precede the text: image tokens in its prompt mark their positions. Folders
//     saved before there were image tokens (no image_token_index) put them there all the same.
//   - The tokens that end a caption are the language model's own (eos_token_id of text_config: a line's end in the
//     published folders), as in transformers, where the folder's generation_config.json does not reach the language
//     model.
//   - Where words are narrower than the language model (word_embed_proj_dim), transformers fills their places with
//     the first values of the projected queries, one after another, whichever query they are of. So does this
//     package.
//   - The tower's pooled output is its class token, normalized twice by the same final norm.
//
// Letters of the shapes: B images, N patches, S = 1+N tokens of an image, E width of the tower, K queries, D width
// of the Q-Former, C width of the shared space, R rows (captions), Q tokens of a row, W width of the language model,
// P width of its words, V its tokens.
package blip2

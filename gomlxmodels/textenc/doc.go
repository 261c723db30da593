// Package textenc embeds texts: BERT, RoBERTa, XLM-R, CamemBERT, MPNet and DistilBERT encoders as transformers saves
// them, with the pooling, dense, norm and normalization modules of sentence-transformers folders, and the
// multilingual text towers that share a space with a CLIP's images: AltCLIP's (the folder of an AltCLIPModel) and
// M-CLIP's.
//
// # Two APIs
//
// [Forward] is the graph. [Open], [Model.Prepare], [NewEncoder], [Encoder.Encode] and [Encoder.EncodeIDs] are the Go
// side: they never panic, use no globals and return one-line errors.
//
//	m, err := textenc.Open(folder, textenc.OpenOptions{})
//	e, err := textenc.NewEncoder(backend, m, textenc.Options{})
//	p, err := m.Prepare("A house by the sea")
//	list, err := e.Encode(ctx, []*textenc.Prepared{p}) // list[0].Vector
//
// # Rows
//
// Several texts share a row of the graph, each attending to itself alone, so that almost nothing is spent on padding
// and one graph serves all texts of up to 64 tokens. A text starts at a multiple of 4 in its row. BERT's positions
// count from a text's first token; transformers counts padding on the left, with which no published encoder of
// these families was trained.
//
// # Why not go-huggingface's transformer
//
// Of these families models/transformer of go-huggingface v0.4.0 supports BERT alone: another model_type is built as a
// decoder of Gemma's kind, without MPNet's bias by distance and the position offset of XLM-R, and of a
// sentence-transformers folder it skips unknown modules and joined poolings. Its weights are matched by parts of
// names without a check for missing or unused tensors, and padding is a count of tokens at the right, so texts could
// not share a row; hence this graph, from the blocks of package nn.
//
// # M-CLIP
//
// Its folders name their transformer (modelBase) without saying its shape: xlm-roberta-base and xlm-roberta-large are
// known, another is a folder of that name with a config.json inside. Weights are read from safetensors or torch's
// pytorch_model.bin, under the same names.
//
// Letters of the shapes: R rows, L tokens of a row, T texts a row may hold, D width, H heads.
package textenc

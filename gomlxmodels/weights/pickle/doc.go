// Package pickle reads the pickles that torch.save writes, as data: nothing is imported, called or executed.
//
// [Parse] interprets the opcodes of protocols 2 to 5. Of the classes and functions that a pickle names, those that
// build dictionaries and tensors have a meaning; everything else becomes an [Opaque] value that records the name. Data
// of tensors is not in the pickle: a [Storage] names the section of the file that holds it, and a [Tensor] the part of
// that section, which was checked to be inside it.
//
// # Limits
//
// Every length is compared with the bytes that remain and with [Limits] before memory is allocated. No error is
// answered by a panic, and none is recovered from.
package pickle

// Package mask reads and writes the binary masks of a table's mask column: COCO's compressed run lengths, the form that
// pycocotools reads and writes.
//
// A [Bitmap] is the mask as pixels, row by row, true where the object is. A [client.Mask] is the same mask at rest:
// its size as height and width, and the lengths of its runs, counted down the columns (left column first, top pixel
// first), background run first. [Encode] and [Decode] go between them, byte for byte as pycocotools does.
//
// [FromImage] says which pixels of a mask picture are the object; [Bitmap.Outline] gives the object's border as polygons.
package mask

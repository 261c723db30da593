// Package mask reads and writes the binary masks of a table's mask column: COCO's compressed run lengths, the form that
// pycocotools reads and writes.
//
// A [Bitmap] holds the pixels row by row, true for the object. A [table.Mask] is the stored form of the same mask:
// its height and width, and the lengths of its runs in column order (left column first, top pixel
// first), background run first. [Encode] and [Decode] convert between the two, byte for byte as pycocotools does.
//
// [Read] and [FromImage] read a mask image; [FromRuns] takes uncompressed run lengths. [Bitmap.Outline] returns the
// border of the object as polygons. [Bitmap.Grow] dilates and erodes, [IoU] compares two masks of one image.
package mask

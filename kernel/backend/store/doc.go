// Package store stores computed data in a folder: blobs (images), items (results of row-wise stages) and results (whole
// tables with their run records). This comment describes its files.
//
//	.lock                                locked by every process that has the store open
//	blobs/5f/5f1d….png                   an image, named by the SHA-256 of its content
//	items/embed-v3/8c0e…/41b7….pack      items of one context: stage and version, model and options
//	results/9a3f….json, 9a3f….frame      a run record, named by the digest of plan and inputs, and its table
//	files.idx                            digests of files by path, size, time and inode
//	jobs/ID/*.json                       what the tasks of an array job report (package jobs)
//
// Folders of others in it, such as models, plugins, data and kept, are named in ARCHITECTURE.md.
//
// # Writing
//
// A file is written to a temporary name (.tmp-…), synced and renamed, so it is complete or not there. Blobs and packs
// are not changed afterwards, only removed or replaced by the same items. Their names follow from their content, so
// several processes may write the same one, and need no lock for it. A process that is killed loses the batch in flight
// (a worker, what it has collected) and leaves temporary files, which [Store.Collect] removes.
//
// # Packs
//
// A pack holds up to 2,048 items of one context, or 16 MB of them; a larger item is a pack of its own.
//
//	"APS3" | record | record | … | header | index | lengths | SHA-256 of all before | "APS3"
//
//	record   key 32 bytes | length 4 | CRC-32C 4 | payload        in the order of the keys
//	header   JSON: stage, context, lists of columns of the values, origins (where they were computed)
//	index    key 32 | offset of the payload 8 | length 4 | CRC-32C 4        for each record
//	lengths  of the header 4 | of the index 4
//
// Numbers are little-endian. The CRC-32C is that of key, length and payload. A key is the SHA-256 of the inputs of a
// row. The pack's name is the first 12 bytes of the SHA-256 of its keys and CRCs, in hexadecimal: the same items have
// the same name. To open a pack is to read its last 128 KiB, which hold header and index, or to read them separately
// where they are longer. The SHA-256 is checked then if the whole pack is in these 128 KiB, and whenever a pack is
// copied. Payloads are read when they are needed.
//
// [Items] indexes the packs of a context in memory. Where two packs have the same key, the item with the smaller CRC
// is used, then that of the smaller name, so that all stores that hold the two packs agree; what the process itself
// writes is used before both until it indexes the packs again. When an item is missing, packs of other processes are
// looked for; when packs have vanished, all are indexed again.
//
// # Three kinds of Items
//
//   - Of a folder ([Open]): a batch is written at once. When 64 packs hold less than 512 items and 4 MB each, they
//     are written again as few. A payload that replaces another one, or an item that is dropped, lets the packs be
//     written again without the old one.
//   - Of a worker ([OpenWorker]), one of several processes that fill a store: items are collected until a pack is full
//     or an interval has passed, and small packs are not written again.
//   - Of a worker with object storage ([Remote]): packs are also written there, after the images that they name.
//     The indexes of other workers' packs are read there; such a pack is copied into the folder when an item of it
//     is needed.
//
// # Damage
//
// What is read is verified: a payload by its CRC, a blob by its SHA-256 (again when its size, times or inode have
// changed), a result by the digest of its rows, a line of files.idx by a CRC-32C. What is damaged counts as missing and
// is computed again. A pack whose index is damaged, or one of whose payloads is, is healed: the records that have their
// CRC, found by the index and by going from record to record, are written to a new pack, and the damaged pack is
// removed. In a store that cannot be written they are used from where they are. A pack of another version ("APS" and
// another digit) is left alone; its items count as missing.
//
// # Locks
//
// .lock has a shared flock of each process from [Open] to [Store.Close]. [Store.Collect], [Store.Compact], [Remove] and
// a merge that removes its sources lock it alone, or fail with [ErrInUse]. Runs in the same process hold [Store.Use]
// against them, and Compact also fails while the tasks of a job report that they are running. A store that cannot be
// written and has no such file is read without a lock, and nothing is removed from it.
//
// # Merging
//
// [Store.Merge] copies whole files of other stores: blobs and packs verified by their SHA-256, results by the digest of
// their rows; damaged ones are left out. Before that it compares the items that several stores have: where those of a
// store differ beyond rounding, its packs of that context are left out. Of two results or reports of one name the same
// one is chosen in any order. So merging can be interrupted and repeated, and its order does not matter. A bucket is
// such a store, too: package remote copies the same files to it and from it.
package store

// Package trainer trains a model of the Archipelago: steps of AdamW over batches that are drawn afresh, a moving average of the
// weights, which is what ships, a loss curve, checkpoints, and going on after a kill.
//
// Batch k of a run depends on (seed, k) alone, and so does all chance in it: a run that was stopped goes on from its last checkpoint as if
// nothing had happened, bit for bit. A [Model] is what the command knows of one network; packages beside this one define them.
package trainer

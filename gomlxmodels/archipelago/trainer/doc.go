// Package trainer is the training loop of the Archipelago's models: AdamW over batches that are generated as needed, an
// exponential moving average of the weights, a loss curve, checkpoints, and resuming.
//
// A [Model] describes one network to the command; a [Job] is one training run of it. Batch k of a run depends on the
// run's seed and k only, and so does everything random in it: an interrupted run that resumes from its last checkpoint
// ends with the same weights, bit for bit. The averaged weights are exported.
package trainer

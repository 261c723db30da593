// Package devices computes batches of rows on several devices of one machine, each in a process of its own: a fault of
// a driver or plugin ends one process, and a model's weights belong to one device.
//
// The parent has a [Set]. It starts the processes when there is work for them, gives each one batch to compute and one
// to prepare, and takes the jobs in turn. Its children call [Serve]. They open the device that the parent names, and
// neither open nor write the store: results, and the bytes of new images, go to the parent.
//
// A child whose process ends, does not answer, or whose device does not compute any more is started again, and its
// batches go to the next device. After three such failures without a result the device is taken out, with one line for
// the jobs that run.
//
// Parent and child exchange messages over the child's standard input and output: a line of JSON, and for rows the
// encoding of [table.Frame], whose length is in the line. A child ends when its standard input does.
package devices

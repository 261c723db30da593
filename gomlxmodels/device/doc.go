// Package device opens the accelerator that models run on: XLA on an NVIDIA GPU ("xla:cuda"), XLA on the processor
// ("xla:cpu"), or GoMLX's pure Go backend ("go"), which is always available and many times slower.
//
// XLA comes as a plugin, a shared library that speaks PJRT; [Find] returns where one is installed, package
// antipode/kernel/backend/plugin installs one. [Open] loads it by its path, never tries the network and never panics:
//
//	d, err := device.Open(device.XLACPU, "")
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	exec, err := graph.NewExec(d.Backend, …)
//
// A program has XLA if it imports antipode/gomlxmodels/device/xla and is built with cgo (and without the tag noxla);
// else [HasXLA] is false and only "go" opens.
package device

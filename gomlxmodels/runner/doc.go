// Package runner runs the networks of a model on a device: what every encoder's Go side does around its graphs. A
// [Runner] owns its networks ([Net]), each with the weights it loads when first needed; a network's graphs ([Graph])
// share these weights and are compiled once for each list of input shapes. After compiling, the weights are held
// against the graph: none may be invented, none left unread.
//
//	r := runner.New(backend, "clip", "encoder")
//	net := r.Net(func(s *model.Store) error { return weights.Load(s.RootScope(), set, table, dtype) })
//	image := net.Graph("clip/image", forward)
//	flat, err := image.Call(pixels) // loads, compiles, checks, runs, copies to the host
//
// [Graph.Call] suits graphs that use all weights of their network and whose results go to the host. Where results
// stay on the device, [Graph.Results] does; where only several graphs together use all weights,
// [Graph.Compile], weights.Check over all of them, and Run.
//
// A Runner must be used by one goroutine at a time. [Recovered] turns panics of the graph library into errors.
package runner

// Package plugin provides the XLA plugin that models run on, so that nobody has to install one.
//
// [Provide] takes the first of these that can be had, and says in one line each what it does:
//
//  1. a plugin that is there already: one named by ANTIPODE_PLUGIN, one in a folder of PJRT_PLUGIN_LIBRARY_PATH, in
//     one of go-xla's folders or in the store; nothing tries the network then;
//  2. what go-xla's own installer fetches: a CUDA plugin where an NVIDIA GPU is seen, and a CPU plugin;
//  3. a wheel from the Python package index, pinned by version and SHA-256, of which only the plugin is unpacked;
//  4. the pure Go backend, which needs none of this and is several times slower; [Choice.Slower] says by how much.
//
// A plugin is native code of a third party. Before a wheel is fetched, its name, version, size, SHA-256 and licence
// are printed; the SHA-256 of a plugin that this package provided is checked at each start. ANTIPODE_PLUGIN=none
// prevents all of it (pure Go serves), ANTIPODE_PLUGIN=PATH takes the plugin at that path, GOMLX_BACKEND (go,
// xla:cpu, xla:cuda) narrows the choice.
//
// The wheel is tried on linux/amd64. On linux/arm64 and darwin/arm64 there is none: what go-xla's installer fetches
// there is untried.
package plugin

// Package plugin installs and selects the XLA plugin (PJRT) that models run on.
//
// [Provide] uses the first of these that is available, and reports each step in one line:
//
//  1. an installed plugin: one named by ANTIPODE_PLUGIN, one in a folder of PJRT_PLUGIN_LIBRARY_PATH, in
//     one of go-xla's folders or in the store; the network is not used then;
//  2. a wheel from the Python package index, pinned by version and SHA-256, of which only the plugin is unpacked;
//  3. what go-xla's installer downloads: a CPU plugin; if an NVIDIA GPU is detected, a CUDA plugin too, and then before
//     the wheel, which has none;
//  4. the pure Go backend, which needs no plugin and is several times slower; see [Choice.Slower].
//
// A plugin is third-party native code. Before a wheel is downloaded, its name, version, size, SHA-256 and license
// are printed; the SHA-256 of a plugin that this package installed is verified at each start. ANTIPODE_PLUGIN=none
// prevents all of it (pure Go is used), ANTIPODE_PLUGIN=PATH selects the plugin at that path, ANTIPODE_PLUGIN=wheel and
// =go-xla allow one of the two sources only, GOMLX_BACKEND (go, xla:cpu, xla:cuda) restricts the choice.
//
// The wheel is tested on linux/amd64. There is none for linux/arm64 and darwin/arm64: what go-xla's installer
// downloads there is not tested.
package plugin

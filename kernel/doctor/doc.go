// Package doctor explains the state of what Antipode stands on: the compiler, the XLA plugin, the device, the store,
// the disk, the backend's socket, the notebook kernel and Jupyter; each with the fix where something is amiss. It
// uses no network, changes nothing, starts nothing that stays, and answers within two seconds.
package doctor

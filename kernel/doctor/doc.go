// Package doctor checks the installation: the compiler, the XLA plugin, the device, the store,
// the disk, the backend's socket, the notebook kernel and Jupyter; it suggests a fix for each problem. It
// uses no network, changes nothing, leaves no process running, and returns within two seconds.
package doctor

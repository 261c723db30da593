// Package jupyter is Antipode's Jupyter kernel: GoNB run as a child, with the Antipode module in reach of its cells.
//
// # Running it
//
// [Start] runs GoNB in a process group of its own and executes one hidden first cell, which turns GoNB's automatic
// downloads off, sets the build flags and declares the imports every notebook may use. [Serve] does the same for a
// connection file that Jupyter wrote and passes the front end's messages through; it is the command
// `antipode kernel {connection_file}`. Both end everything they started: no gonb, gopls or cell process outlives them.
//
// Cells are built offline, from this module and the modules of its go.mod, which [Tools] fetches beforehand. A notebook
// that needs another library says so in a cell:
//
//	%env GOPROXY=https://proxy.golang.org,direct
//	!*go get example.org/library@v1.2.3
//
// # Talking to it
//
// [Client] speaks the Jupyter messaging protocol (version 5.4, over ZeroMQ) to a running kernel; package runner
// executes notebooks with it.
//
// # Installing it
//
// [Install] writes the kernelspec "Go (Antipode)" into the user's Jupyter folder, [Uninstall] removes it, [Lab] opens an
// installed JupyterLab with it.
package jupyter

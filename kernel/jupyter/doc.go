// Package jupyter is Antipode's Jupyter kernel: GoNB, run as a child process with the module antipode available to its
// cells, behind a message relay.
//
// # Running it
//
// [Start] runs GoNB in a process group of its own and executes one hidden first cell, which turns GoNB's automatic
// downloads off, sets the build flags and declares the imports every notebook may use. [Serve] is the command
// `antipode kernel {connection_file}`, which Jupyter starts. Both end everything they started: neither GoNB nor a
// cell's process outlives them.
//
// Cells are built offline, from this module and the modules of its go.mod, which [Tools] fetches beforehand. A notebook
// that needs another library requests it in a cell:
//
//	%env GOPROXY=direct
//	!*go get example.org/library@v1.2.3
//
// # Executing cells
//
// [Kernel.Run] executes a cell for the headless runner and for the relay alike. It shows the last expression, warns of
// assignments that later cells do not see, explains statements above %%, and makes one error, in terms of the notebook,
// of all that GoNB and a failing program report. [Client] speaks the Jupyter messaging protocol (version 5.4, over
// ZeroMQ) with GoNB.
//
// # The relay
//
// Front ends talk to the relay, at once and while a cell runs. It checks signatures, answers what GoNB does not
// (completion and inspection by package complete, history, is_complete, comm_info, the pager), queues and numbers the
// cells, aborts those that wait behind one that fails, and passes on output, input and widgets. Its sockets queue up to
// 16 MB for each front end: one that reads slowly slows the cell down, one that does not read is left out.
//
// # Installing it
//
// [Install] writes the kernelspec "Go (Antipode)" into the user's Jupyter folder, [Uninstall] removes it, [Lab] opens
// an installed JupyterLab with it.
package jupyter

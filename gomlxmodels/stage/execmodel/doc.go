// Package execmodel runs models that are programs of the user: it starts a program, exchanges JSON lines with it on its
// standard input and output (the protocol antipode-exec/1), and isolates its failures to the rows that cause them. The
// stages use it for models named exec:PATH; docs/adapters.md describes the protocol for those who write such a program.
//
// # Processes
//
// A [Group] is a program with its arguments. It runs 1 to [MaxWorkers] processes of it, each in a process group and
// with a scratch folder of its own. [Group.Run] distributes items over them in batches; every item is answered exactly
// once. Processes start when they are needed and end after [IdleTime] without work.
//
// # Failures
//
// A process that exits, exceeds a time limit or violates the protocol is ended and restarted after 1, 2, 4 … seconds.
// Its unanswered items are sent again, one at a time. An item that ends the process twice on its own is failed; the
// others go on. After [maxRestarts] restarts in a row without an answer, Run returns an error.
//
// # Security
//
// A program starts only if the user approved it: its absolute path and SHA-256 are in the variable [client.ExecVar] of
// the process that requested the run, which no plan, table or stored file can set. See [Open].
package execmodel

// Package commands is the antipode command: what `antipode run`, `embed`, `score` and the others do with their arguments.
//
// Every command returns an error; [Main] prints it as one line and turns it into the exit status: 0 done, 1 failed, 2
// wrong usage, 130 interrupted.
package commands

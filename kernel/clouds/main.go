// Clouds is the antipode command with Google Cloud Storage (gs://) and Azure Blob Storage (az://). It is a module of
// its own: the command itself links neither.
package main

import (
	"os"

	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"

	"antipode/kernel/commands"
)

func main() { os.Exit(commands.Main(os.Args[1:])) }

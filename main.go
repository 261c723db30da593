// Command antipode audits how text-to-image models depict the world: it runs notebooks, serves their plans, and does
// every stage from the command line.
package main

import (
	"os"

	"antipode/kernel/commands"
)

func main() { os.Exit(commands.Main(os.Args[1:])) }

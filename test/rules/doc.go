// Package rules holds the project's conventions as tests: go test ./test/rules.
//
// Each test states one rule, and its failure message names the fix. CONTRIBUTING.md lists the rules:
//
//   - packages: a package comment in every package, files of a readable size, one direction of imports, a small and
//     named set of exceptions ([layers] and [exceptions] in the tests);
//   - cells: what a notebook cell imports is light, because it is linked again in every cell;
//   - files: no absolute paths, no replace lines, documented build tags, shipped weights of a bounded size;
//   - notebooks: executed, small, inert, without timings, and nothing assigned that the next cell would not see.
//
// The tests read the committed files (all files, where there is no git) and run `go list`, without a network.
package rules

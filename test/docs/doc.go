// Package docs tests what README.md and docs/*.md tell a reader to type. Behind the build tag "docs" every shell
// command of their code blocks is executed from an empty home folder, in order, and every Go example is compiled and
// run:
//
//	go test -tags docs ./test/docs
//
// The few commands that cannot be executed there are listed in the test, each with its reason, and are checked
// otherwise. The test needs the XLA plugin, and for one part a Python with pandas, polars and DuckDB (ANTIPODE_PYTHON
// names it, default python3); what is missing is named and skipped, and REQUIRE=xla,python makes that a failure.
package docs

// Package checks holds the slow checks that go through the whole installation with foreign tools next to it: real
// photographs, broken files at every command, the reference libraries' own model folders. They are tests behind the
// build tag "checks":
//
//	go test -tags checks ./test/checks
//
// TestInputs, which takes seconds and no foreign tool, has no tag: good, bad and foreign inputs at the built command.
//
// Some need a Python with the reference libraries; ANTIPODE_PYTHON names it (default: python3). A test that lacks
// something reports what and is skipped; REQUIRE=python,xla makes that a failure.
package checks

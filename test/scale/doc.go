// Package scale has the tests of array jobs with the built command: see the build tag scale in CONTRIBUTING.md.
package scale

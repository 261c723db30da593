package notebook

import "regexp"

var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07`)

// Plain is text without terminal colours.
func Plain(s string) string { return ansi.ReplaceAllString(s, "") }

// SaveHTML writes the notebook as a page.
func SaveHTML(path string, nb *Notebook, title string) error {
	return save(path, []byte("<!doctype html><title>not yet</title>"))
}

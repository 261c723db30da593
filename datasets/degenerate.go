package datasets

import (
	"slices"
	"strings"
)

// Degenerate reports whether a caption is that of a decoder that does not leave a loop: up to three words, in lower
// case, at least four times one after another.
func Degenerate(caption string) bool {
	words := strings.Fields(strings.ToLower(caption))
	for n := 1; n <= 3; n++ {
		repeated := 0
		for at := n; at+n <= len(words); {
			if !slices.Equal(words[at-n:at], words[at:at+n]) {
				repeated = 0
				at++
				continue
			}
			if repeated++; repeated == 3 {
				return true
			}
			at += n
		}
	}
	return false
}

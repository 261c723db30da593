package generate

import "testing"

// Together sets how many images are sampled at once on a kind of device, for the length of a test.
func Together(t *testing.T, kind string, n int) {
	was, had := together[kind]
	together[kind] = n
	t.Cleanup(func() {
		if together[kind] = was; !had {
			delete(together, kind)
		}
	})
}

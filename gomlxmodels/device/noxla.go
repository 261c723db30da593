//go:build !cgo || noxla

package device

import "github.com/gomlx/compute"

// HasXLA reports whether this program can load XLA plugins: it was built without cgo, so it cannot.
const HasXLA = false

func openXLA(string, string) (compute.Backend, error) { return nil, ErrNoXLA }

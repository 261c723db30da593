// Package waiting lets eight tests of a program run at once, if they are parallel: a test program whose tests wait more
// than they compute imports it for that alone. The flag -parallel goes before it.
package waiting

import (
	"flag"
	"testing"
)

func init() {
	testing.Init()
	_ = flag.Set("test.parallel", "8")
}

// Package pause has the time that requests to object storage wait before they are tried again. It is a package of its
// own so that remotetest can shorten it for the tests of other packages.
package pause

import "time"

// First is the pause before the second try, doubled for each further one.
var First = 250 * time.Millisecond

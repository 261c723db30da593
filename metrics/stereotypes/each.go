package stereotypes

import (
	"runtime"

	"antipode/internal/fault"
)

// each calls f(0) … f(n-1), GOMAXPROCS of them at a time.
func each(n int, f func(i int)) {
	var wait fault.Group
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wait.Wait()
}

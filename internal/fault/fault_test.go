package fault

import (
	"errors"
	"strings"
	"testing"
)

// TestGroup: the panic of a goroutine is one of the goroutine that waits, once all have ended, with the stack of its
// place.
func TestGroup(t *testing.T) {
	ended := make(chan bool, 9)
	err := Catch(func() error {
		var outer Group
		outer.Go(func() {
			var g Group
			for i := range 10 {
				g.Go(func() {
					if i == 3 {
						explode()
					}
					ended <- true
				})
			}
			g.Wait()
			t.Error("Wait returns")
		})
		outer.Wait()
		return nil
	})
	var e *Error
	if !errors.As(err, &e) || e.Value != "index out of range" || !strings.Contains(string(e.Stack), "explode") ||
		strings.Contains(err.Error(), "\n") || len(ended) != 9 {
		t.Errorf("%v, %d goroutines ended", err, len(ended))
	}
	if err := Catch(func() error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

func explode() { panic("index out of range") }

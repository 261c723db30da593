package table

import "fmt"

// One returns the options struct of a verb that takes at most one: the zero value if none is given, an error if there
// are several.
func One[T any](options []T) (T, error) {
	if len(options) > 1 {
		return options[0], fmt.Errorf("%d values of type %T; give at most one", len(options), options[0])
	}
	var zero T
	if len(options) == 0 {
		return zero, nil
	}
	return options[0], nil
}

package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// tried returns the reason of a path error; where the file is missing, with the absolute path that was tried.
func tried(err *fs.PathError) error {
	if abs, absErr := filepath.Abs(err.Path); absErr == nil && errors.Is(err.Err, fs.ErrNotExist) {
		return fmt.Errorf("%w (%s)", err.Err, abs)
	}
	return err.Err
}

package must

import (
	"errors"
	"testing"
)

// noted is a test that notes whether it failed.
type noted struct {
	testing.TB
	failed bool
}

func (*noted) Helper()                 {}
func (n *noted) Errorf(string, ...any) { n.failed = true }

func TestErr(t *testing.T) {
	for _, c := range []struct {
		err   error
		texts []string
		fails bool
	}{
		{errors.New("row 3: no such file"), nil, false},
		{errors.New("row 3: no such file"), []string{"row 3", "file"}, false},
		{errors.New("row 3: no such file"), []string{"row 3", "folder"}, true},
		{errors.New("row 3\nno such file"), []string{"row 3"}, true},
		{nil, nil, true},
	} {
		var err, fail noted
		Err(&err, c.err, c.texts...)
		Fail(0, c.err)(&fail, c.texts...)
		if err.failed != c.fails || fail.failed != c.fails {
			t.Errorf("%v, %q: failed %v and %v, want %v", c.err, c.texts, err.failed, fail.failed, c.fails)
		}
	}
}

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// JournalVar is the environment variable with the file to which the runs of a notebook's tables are appended, for
// `antipode record`.
const JournalVar = "ANTIPODE_JOURNAL"

// Entry is a run in a journal: its request and, without rows, its result.
type Entry struct {
	Request Request `json:"request"`
	Result  Result  `json:"result"`
}

// AppendJournal appends a finished run to a journal. Its secrets are not written.
func AppendJournal(path string, req Request, res *Result) error {
	req.Secrets = nil
	line, err := json.Marshal(Entry{req, *res})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write the journal of the run: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// ReadJournal returns the runs of a journal in their order; a file that does not exist has none.
func ReadJournal(path string) (entries []Entry, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for in := json.NewDecoder(f); ; {
		var e Entry
		if err := in.Decode(&e); errors.Is(err, io.EOF) {
			return entries, nil
		} else if err != nil {
			return nil, fmt.Errorf("the journal of the run: %w", err)
		}
		entries = append(entries, e)
	}
}

package client

import (
	"encoding/json"
	"errors"
	"fmt"
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

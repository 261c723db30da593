package view

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"antipode/internal/atomicfile"
	"antipode/internal/filelock"
)

// Tag is a tag that a rater gave an image.
type Tag struct {
	ID    string `json:"id"` // of the image
	Tag   string `json:"tag"`
	rater string
	time  string
}

// Tags is the table of a rater's tags. It is safe for use by several goroutines.
type Tags struct {
	path, rater string
	mu          sync.Mutex
	all         []Tag
}

var tagColumns = []string{"id", "image_id", "tag", "rater", "time"}

// OpenTags reads the tags that a rater gave before, from a CSV file that does not need to exist.
func OpenTags(path, rater string) (*Tags, error) {
	all, err := readTags(path)
	if err != nil {
		return nil, err
	}
	return &Tags{path: path, rater: rater, all: all}, nil
}

func readTags(path string) (all []Tag, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], tagColumns) {
		return nil, fmt.Errorf("%s: not a table of tags: its columns are not %v. Fix: move it away", path, tagColumns)
	}
	for _, r := range rows[1:] {
		all = append(all, Tag{r[1], r[2], r[3], r[4]})
	}
	return all, nil
}

func (t *Tags) list() []Tag {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all)
}

// set adds or removes a tag of images and writes the file, with what another process has written to it meanwhile.
func (t *Tags) set(ids []string, tag string, on bool, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	unlock, err := filelock.Wait(context.Background(), t.path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	defer os.Remove(t.path + ".lock")
	all, err := readTags(t.path)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Tag) bool {
		return o.Tag == tag && slices.Contains(ids, o.ID)
	})
	if on {
		for _, id := range ids {
			all = append(all, Tag{id, tag, t.rater, now.UTC().Format(time.RFC3339)})
		}
	}
	err = atomicfile.Replace(t.path, 0o644, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write(tagColumns)
		for _, o := range all {
			out.Write([]string{o.ID + " " + o.Tag + " " + o.rater, o.ID, o.Tag, o.rater, o.time})
		}
		out.Flush()
		return out.Error()
	})
	if err == nil {
		t.all = all
	}
	return err
}

package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"antipode/datasets/table"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
)

// States of a shard.
const (
	Running = "running"
	Done    = "done"
	Stopped = "stopped" // early, with all finished rows stored
	Failed  = "failed"
	Silent  = "silent" // of a report: running, but not updated for three times Period
	Waiting = "not started"
)

// Period returns the interval in which a task writes its status into a store, a folder or a URL. A running task is
// reported as silent from an age of three periods on.
func Period(at string) time.Duration {
	if objecturl.IsRemote(at) {
		return time.Minute
	}
	return 30 * time.Second
}

// MaxBad is the largest number of bad rows that a status lists.
const MaxBad = 20

// Status is what a task reports while it works, in the file jobs/ID/shard-NNNNN.json of its store. It is not a lock: a
// shard that two tasks compute wastes time and nothing else.
type Status struct {
	Job      string           `json:"job"`
	Shard    int              `json:"shard"`
	Of       int              `json:"of"`
	Attempt  int              `json:"attempt"`
	Host     string           `json:"host"`
	Device   string           `json:"device,omitempty"`
	Started  time.Time        `json:"started"`
	Updated  time.Time        `json:"updated"`
	Stage    string           `json:"stage,omitempty"` // that works now
	Done     int              `json:"done"`            // rows of the stage
	Total    int              `json:"total"`           // rows of the stage
	Computed int              `json:"computed"`        // items, by all stages of this attempt
	Found    int              `json:"found"`           // items
	Rate     float64          `json:"rate,omitempty"`  // rows of the stage per second
	Bad      []table.BadRow   `json:"bad,omitempty"`   // the first MaxBad
	BadRows  int              `json:"bad_rows,omitempty"`
	State    string           `json:"state"`
	Error    string           `json:"error,omitempty"`
	Packs    []store.PackInfo `json:"packs,omitempty"` // that this attempt has written
}

// Files are the files of a store, by names relative to it, with slashes.
type Files interface {
	Get(name string) ([]byte, error)
	Put(name string, data []byte) error
}

// Folder is the folder of a store.
type Folder string

// Get is part of [Files].
func (f Folder) Get(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), filepath.FromSlash(name)))
}

// Put is part of [Files]. It writes the file whole, and its folder if missing.
func (f Folder) Put(name string, data []byte) error {
	return store.WriteFile(filepath.Join(string(f), filepath.FromSlash(name)), data)
}

// statusFile returns the name of a shard's status in a store.
func statusFile(job string, shard int) string {
	return fmt.Sprintf("jobs/%s/shard-%05d.json", job, shard)
}

// Write writes the status into a store, whole.
func (s *Status) Write(to Files) error {
	s.Updated = time.Now().UTC()
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return to.Put(statusFile(s.Job, s.Shard), append(data, '\n'))
}

// ReadStatus reads a shard's status from a store; nil = there is none, or it is damaged.
func ReadStatus(from Files, job string, shard int) (*Status, error) {
	data, err := from.Get(statusFile(job, shard))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return decodeStatus(data, job, shard), err
}

func decodeStatus(data []byte, job string, shard int) *Status {
	s := &Status{}
	if json.Unmarshal(data, s) != nil || s.Job != job || s.Shard != shard {
		return nil
	}
	return s
}

// statuses reads the status of each shard from the stores of a job; nil = none.
func (j *Job) statuses(ctx context.Context, at string) (list []*Status, err error) {
	list = make([]*Status, j.Shards)
	if !objecturl.IsRemote(j.StoreOf(at, 0)) {
		for i := range list {
			if list[i], err = ReadStatus(Folder(j.StoreOf(at, i)), j.ID, i); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	buckets := remote.NewCache("") // which opens each once
	defer buckets.Close()
	present := map[string]bool{} // by store and name
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(store.Requests)
	defer func() { err = cmp.Or(group.Wait(), err) }() // which may follow from the first
	for i := range list {
		store := j.StoreOf(at, i)
		u, err := objecturl.Parse(store)
		if err != nil {
			return nil, err
		}
		b, err := buckets.Bucket(ctx, u)
		if err != nil {
			return nil, err
		}
		prefix := u.Prefix().Key
		if i == 0 || store != j.StoreOf(at, i-1) {
			clear(present)
			if err := b.List(ctx, prefix+"jobs/"+j.ID+"/", func(o remote.Object) error {
				present[o.Key] = true
				return nil
			}); err != nil {
				return nil, err
			}
		}
		key := prefix + statusFile(j.ID, i)
		if !present[key] {
			continue
		}
		group.Go(func() error {
			data, err := b.Get(ctx, key)
			if err == nil {
				list[i] = decodeStatus(data, j.ID, i)
			}
			return err
		})
	}
	return list, nil
}

// Report is the state of a job.
type Report struct {
	ID     string         `json:"id"`
	Shards int            `json:"shards"`
	Phase  int            `json:"phase"`
	Of     int            `json:"of"`
	States map[string]int `json:"states"` // state → shards

	Done, Total, Computed, Found int           // of the shards that have begun
	Rate                         float64       // of all running shards
	Left                         time.Duration // until the last running shard has finished its stage; 0 = not known

	Errors []ErrorCount `json:"errors,omitempty"`
	Bad    int          `json:"bad"`
	Again  string       `json:"again,omitempty"` // the shards to submit again, as --array has it: 3,17-19
	Packs  int          `json:"packs"`
	Bytes  int64        `json:"bytes"` // of the packs
	List   []*Status    `json:"list,omitempty"`
}

// ErrorCount is a distinct error of a job's shards, with an example.
type ErrorCount struct {
	Error string `json:"error"`
	Count int    `json:"count"`
	Shard int    `json:"shard"`
	Host  string `json:"host"`
}

// ReadReport reads the status of all shards of a job; at is the store, a folder or a URL, "" = the job's.
func (j *Job) ReadReport(ctx context.Context, at string, now time.Time) (*Report, error) {
	r := &Report{ID: j.ID, Shards: j.Shards, Phase: j.Phase, Of: j.Of, States: map[string]int{}}
	list, err := j.statuses(ctx, at)
	if err != nil {
		return nil, err
	}
	silent := 3 * Period(j.StoreOf(at, 0))
	var again []int
	for i, s := range list {
		if s == nil {
			r.States[Waiting]++
			again = append(again, i)
			continue
		}
		r.List = append(r.List, s)
		state := s.State
		if state == Running && now.Sub(s.Updated) > silent {
			state = Silent
		}
		r.States[state]++
		r.Done, r.Total, r.Computed, r.Found = r.Done+s.Done, r.Total+s.Total, r.Computed+s.Computed, r.Found+s.Found
		r.Bad += s.BadRows
		for _, p := range s.Packs {
			r.Packs, r.Bytes = r.Packs+1, r.Bytes+p.Size
		}
		if state == Running && s.Rate > 0 {
			r.Rate += s.Rate
			left := time.Duration(float64(s.Total-s.Done) / s.Rate * float64(time.Second))
			r.Left = max(r.Left, left-now.Sub(s.Updated))
		}
		if state != Done && state != Running {
			again = append(again, i)
		}
		r.addError(s, state)
	}
	sort.SliceStable(r.Errors, func(x, y int) bool { return r.Errors[x].Count > r.Errors[y].Count })
	r.Again = ranges(again)
	return r, nil
}

func (r *Report) addError(s *Status, state string) {
	text := s.Error
	if state == Silent {
		text = "silent since " + s.Updated.Format(time.DateTime) + " UTC"
	}
	if text == "" {
		return
	}
	if at := slices.IndexFunc(r.Errors, func(e ErrorCount) bool { return e.Error == text }); at >= 0 {
		r.Errors[at].Count++
		return
	}
	r.Errors = append(r.Errors, ErrorCount{text, 1, s.Shard, s.Host})
}

// ErrNotDone is wrapped by the errors of [Report.Err] for a job with work left, and ErrFailed for one with failed
// shards.
var (
	ErrNotDone = errors.New("work is left")
	ErrFailed  = errors.New("shards failed")
)

// Err returns nil for a job whose shards are all done.
func (r *Report) Err() error {
	switch {
	case r.States[Failed] > 0:
		return fmt.Errorf("%d of %d %w", r.States[Failed], r.Shards, ErrFailed)
	case r.States[Done] < r.Shards:
		return fmt.Errorf("%d of %d shards are not done: %w", r.Shards-r.States[Done], r.Shards, ErrNotDone)
	}
	return nil
}

// ranges writes ascending numbers as "3,17-19".
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, fmt.Sprint(list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, ",")
}

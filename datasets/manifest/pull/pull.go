// Package pull downloads the released files of a data set. It is apart from package manifest because the programs of
// notebook cells, which read such files, need no HTTP.
package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/manifest"
	"antipode/internal/atomicfile"
)

// Options are the options of [DataSet].
type Options struct {
	Dest    string // folder of the data set; "" = data/NAME in the store's folder
	All     bool   // also download optional files, such as those withdrawn upstream
	BaseURL string // replaces scheme and host of every address; for mirrors and tests
	// nil = the default client of net/http; the command passes one of internal/fetch
	Client   *http.Client
	Timeout  time.Duration // for one file; 0 = 5 minutes
	Progress func(Step)    // called before and after each file; may be nil
}

// Step is a progress report of [DataSet].
type Step struct {
	File  string // path in the data set's folder
	State string // "present", "fetching", "stored", "skipped"
	Bytes int64  // with "stored"
	Note  string // with "skipped": why
}

// maxFile is the largest size of a file that [DataSet] accepts, in bytes.
const maxFile = 64 << 20

// DataSet downloads a data set to its folder: every file is downloaded whole, checked against the manifest, converted
// to the normalized form in memory, written under a temporary name, synced and renamed. Existing files that pass the
// check are not downloaded again, so an interrupted pull continues where it stopped; an existing file that fails it
// is replaced. A file that is missing or different upstream does not prevent the download of the others; the error
// names it.
func DataSet(ctx context.Context, name string, o Options) error {
	m, err := manifest.Get(name)
	if err != nil {
		return err
	}
	if o.Dest == "" {
		home, err := client.Home()
		if err != nil {
			return err
		}
		o.Dest = filepath.Join(home, "data", name)
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	o.Timeout = cmp.Or(o.Timeout, 5*time.Minute)
	if o.Progress == nil {
		o.Progress = func(Step) {}
	}
	var wrong []error
	for _, group := range groups(m) {
		if group[0].Optional != "" && !o.All {
			for _, f := range group {
				o.Progress(Step{File: f.Path, State: "skipped", Note: f.Optional})
			}
			continue
		}
		err := pullGroup(ctx, m, group, o)
		var other *manifest.HashError
		switch {
		case errors.As(err, &other), errors.Is(err, errAnswer): // only this file failed
			wrong = append(wrong, err)
		case err != nil:
			return fmt.Errorf("data pull %s: %w", name, err)
		}
	}
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("data pull %s: %w", name, wrong[0])
	}
	return fmt.Errorf("data pull %s: %d files could not be downloaded, the first: %w", name, len(wrong), wrong[0])
}

// errAnswer is wrapped by the error for an HTTP status other than 200.
var errAnswer = errors.New("the server answered")

// groups returns the files that are downloaded together: the files of each set, and each other file alone.
func groups(m manifest.Manifest) [][]manifest.File {
	var out [][]manifest.File
	at := map[string]int{}
	for _, f := range m.Files {
		if i, known := at[f.Set]; f.Set != "" && known {
			out[i] = append(out[i], f)
			continue
		}
		at[f.Set] = len(out)
		out = append(out, []manifest.File{f})
	}
	return out
}

func pullGroup(ctx context.Context, m manifest.Manifest, group []manifest.File, o Options) error {
	have := 0
	for _, f := range group {
		// A set is stored only in its normalized form: its upstream bytes may contain identifiers.
		_, used, err := m.Read(os.DirFS(o.Dest), f.Path)
		if err != nil || used.Path != f.Path || (f.Set != "" && used.Form == manifest.AsUpstream) {
			break
		}
		have++
	}
	if have == len(group) {
		for _, f := range group {
			o.Progress(Step{File: f.Path, State: "present"})
		}
		return nil
	}
	files := map[string][]byte{}
	for _, f := range group {
		o.Progress(Step{File: f.Path, State: "fetching"})
		data, err := fetch(ctx, f, o)
		if err != nil {
			return err
		}
		if form, err := f.Check(data); err != nil {
			return fmt.Errorf("%w, from %s", err, f.URL)
		} else if form == manifest.AsUpstream && f.Set != "" {
			files[f.Path] = data
			continue
		}
		if err := store(o, f, data); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		return nil
	}
	normal, err := m.Normalize(group[0].Set, files)
	if err != nil {
		return err
	}
	for _, f := range group {
		data, ok := normal[f.Path]
		if !ok {
			continue
		}
		if f.Normal != "" {
			if form, err := f.Check(data); err != nil || form != manifest.Normalized {
				return fmt.Errorf("%s: the normalized form is not the recorded one: %w", f.Path,
					&manifest.HashError{File: f, Got: manifest.Sum(data), Bytes: len(data)})
			}
		} else {
			sum := manifest.File{Path: f.Path + manifest.SumSuffix}
			if err := store(o, sum, []byte(manifest.Sum(data)+"\n")); err != nil {
				return err
			}
		}
		if err := store(o, f, data); err != nil {
			return err
		}
	}
	return nil
}

func fetch(ctx context.Context, f manifest.File, o Options) ([]byte, error) {
	address := f.URL
	if o.BaseURL != "" {
		u, err := url.Parse(f.URL)
		if err != nil {
			return nil, err
		}
		address = strings.TrimSuffix(o.BaseURL, "/") + u.EscapedPath()
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	fail := func(err error) ([]byte, error) {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(limited.Err(), context.DeadlineExceeded):
			return nil, fmt.Errorf("%s: %s did not answer in full within %v; what was downloaded before is "+
				"kept, try again", f.Path, address, o.Timeout)
		}
		return nil, fmt.Errorf("%s: %w; what was downloaded before is kept, try again", f.Path, err)
	}
	req, err := http.NewRequestWithContext(limited, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := o.Client.Do(req)
	if err != nil {
		return fail(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %w %s for %s", f.Path, errAnswer, resp.Status, address)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFile+1))
	if err != nil {
		return fail(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: %s has more than %d MiB; the recorded file is smaller", f.Path, address,
			maxFile>>20)
	}
	return data, nil
}

// store writes a file.
func store(o Options, f manifest.File, data []byte) error {
	path := filepath.Join(o.Dest, filepath.FromSlash(f.Path))
	if err := atomicfile.Write(path, data); err != nil {
		return fmt.Errorf("cannot store %s: %w", path, err)
	}
	o.Progress(Step{File: f.Path, State: "stored", Bytes: int64(len(data))})
	return nil
}

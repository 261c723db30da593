// Package hub finds and opens model folders: it resolves a model's name to a folder ([Resolve]), downloads models
// from the Hugging Face hub into the cache that the Python library uses too ([Pull], [Find]), reads what the
// folders of all networks have in common ([Folder]), and computes the digests that stored results depend on
// ([Digest]).
//
// A repository's files, sizes, checksums and commit come from go-huggingface. The bytes are downloaded by
// internal/fetch, because go-huggingface verifies no checksum, restarts a broken download from the beginning and
// refuses redirects. Only the files that the networks read are downloaded: see [Pull].
package hub

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gomlx/go-huggingface/hub"

	"antipode/gomlxmodels"
)

// Snapshot is a model at one commit, on this machine.
type Snapshot struct {
	Dir     string // the model's folder
	Commit  string // which the revision was at that time
	License string // as in the model's card; "" = not stated, or not requested
	Bytes   int64  // of all files
}

// ErrNoRepository is wrapped by errors of [Pull] about a repository that the hub does not have, or not for this user.
var ErrNoRepository = errors.New("the hub does not know it, or it is gated: set HF_TOKEN to your access token")

// ErrNotPulled is wrapped by errors about a model that is not in the cache.
var ErrNotPulled = errors.New("not on this machine")

// Cache returns the folder of downloaded models: $HF_HUB_CACHE, $HUGGINGFACE_HUB_CACHE, $HF_HOME/hub, else
// huggingface/hub in $XDG_CACHE_HOME or ~/.cache; ~ and variables in them are replaced.
func Cache() string {
	if dir := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE")); dir != "" {
		return expand(dir)
	}
	if dir := os.Getenv("HF_HOME"); dir != "" {
		return filepath.Join(expand(dir), "hub")
	}
	return expand(hub.DefaultCacheDir())
}

// expand replaces ~ at the start of a path, and variables that are set, as Python's expanduser and expandvars.
func expand(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == filepath.Separator) {
		if home, err := os.UserHomeDir(); err == nil {
			dir = home + rest
		}
	}
	return os.Expand(dir, func(name string) string {
		if value, ok := os.LookupEnv(name); ok {
			return value
		}
		return "$" + name
	})
}

var (
	idForm       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	revisionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)
	commitForm   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// Split splits a model's name on the hub, OWNER/NAME or OWNER/NAME@REVISION. ok is false for anything else.
func Split(name string) (id, revision string, ok bool) {
	id, revision, pinned := strings.Cut(name, "@")
	if !idForm.MatchString(id) || pinned && !revisionForm.MatchString(revision) {
		return "", "", false
	}
	return id, revision, true
}

// folder returns a repository's folder in the cache.
func folder(cache, id string) string {
	return filepath.Join(cache, "models--"+strings.ReplaceAll(id, "/", "--"))
}

// Find finds a model in the cache, without network. The error for a missing model wraps ErrNotPulled.
func Find(id, revision, cache string) (Snapshot, error) {
	if cache == "" {
		cache = Cache()
	}
	commit := revision
	if !commitForm.MatchString(commit) {
		commit = cmp.Or(commit, "main")
		text, err := os.ReadFile(filepath.Join(folder(cache, id), "refs", filepath.FromSlash(commit)))
		if err != nil {
			return Snapshot{}, missing(at(id, revision), folder(cache, id), at(id, revision))
		}
		commit = strings.TrimSpace(string(text))
	}
	s := Snapshot{Dir: filepath.Join(folder(cache, id), "snapshots", commit), Commit: commit}
	if !commitForm.MatchString(commit) || !complete(s.Dir) {
		return Snapshot{}, missing(at(id, revision), folder(cache, id), at(id, revision))
	}
	return s, nil
}

// FindKnown is [Find] for a known model.
func FindKnown(m gomlxmodels.Model) (Snapshot, error) {
	s, err := Find(m.Hub, m.Commit, "")
	if errors.Is(err, ErrNotPulled) {
		pull := m.Name
		if m.Status == gomlxmodels.Mirror {
			pull += " --mirror"
		}
		err = missing(m.Name, folder(Cache(), m.Hub), pull)
	}
	return s, err
}

// unfinished is the file that a folder has while a pull is not finished.
const unfinished = ".unfinished"

// complete reports whether a folder has a configuration and weights, and no pull that was interrupted.
func complete(dir string) bool {
	config, weights := false, false
	if _, err := os.Stat(filepath.Join(dir, unfinished)); err == nil {
		return false
	}
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			config = config || strings.HasSuffix(file, ".json")
			weights = weights || strings.HasSuffix(file, ".safetensors") || strings.HasSuffix(file, ".bin") ||
				strings.HasSuffix(file, ".msgpack")
		}
		return nil
	})
	return config && weights
}

// at names a repository at a revision.
func at(id, revision string) string {
	if revision == "" {
		return id
	}
	return id + "@" + revision
}

// missing is the error of a model that is not in the cache; pull is how `antipode models pull` names it.
func missing(model, searched, pull string) error {
	return fmt.Errorf("model %s is %w (searched %s): download it with `antipode models pull %s`, or give --model a "+
		"folder with its config.json, weights, preprocessor_config.json and tokenizer files", model, ErrNotPulled,
		searched, pull)
}

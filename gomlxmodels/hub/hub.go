// Package hub finds and opens model folders: it resolves a model's name to a folder ([Resolve]), downloads models
// from the Hugging Face hub into the cache that the Python library uses too ([Pull], [Find]), reads what the
// folders of all networks have in common ([Folder]), and computes the digests that stored results depend on
// ([Digest]).
//
// A repository's files, sizes, checksums and commit come from go-huggingface. The bytes are downloaded by
// internal/fetch, because go-huggingface verifies no checksum, restarts a broken download from the beginning and
// refuses redirects. Only safetensors weights and small text files are downloaded, never pickles.
package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gomlx/go-huggingface/hub"

	"antipode/internal/fetch"
)

// PullOptions are the options of [Pull].
type PullOptions struct {
	Revision string // commit, branch, tag or refs/pr/N; "" = main
	Cache    string // "" = [Cache]
	// Progress is called with the downloaded and the total bytes of a file; may be nil.
	Progress func(file string, have, size int64)
}

// Snapshot is a model at one commit, on this machine.
type Snapshot struct {
	Dir     string // the model's folder
	Commit  string // which the revision was at that time
	License string // as in the model's card; "" = not stated, or not requested
	Bytes   int64  // of all files
}

// ErrNotPulled is wrapped by errors about a model that is not in the cache.
var ErrNotPulled = errors.New("not on this machine")

// Cache returns the folder of downloaded models: $HF_HUB_CACHE, $HF_HOME/hub, else huggingface/hub in
// $XDG_CACHE_HOME or ~/.cache.
func Cache() string {
	if dir := os.Getenv("HF_HUB_CACHE"); dir != "" {
		return dir
	}
	if dir := os.Getenv("HF_HOME"); dir != "" {
		return filepath.Join(dir, "hub")
	}
	return hub.DefaultCacheDir()
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
		if commit == "" {
			commit = "main"
		}
		text, err := os.ReadFile(filepath.Join(folder(cache, id), "refs", filepath.FromSlash(commit)))
		if err != nil {
			return Snapshot{}, missing(id, revision, cache)
		}
		commit = strings.TrimSpace(string(text))
	}
	s := Snapshot{Dir: filepath.Join(folder(cache, id), "snapshots", commit), Commit: commit}
	if !commitForm.MatchString(commit) || !complete(s.Dir) {
		return Snapshot{}, missing(id, revision, cache)
	}
	return s, nil
}

// complete reports whether a folder has a configuration and weights, which a pull downloads last.
func complete(dir string) bool {
	config, weights := false, false
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			config = config || strings.HasSuffix(file, ".json")
			weights = weights || strings.HasSuffix(file, ".safetensors")
		}
		return nil
	})
	return config && weights
}

func missing(id, revision, cache string) error {
	at := id
	if revision != "" {
		at += "@" + revision
	}
	return fmt.Errorf("model %s is %w (searched %s): download it with `antipode models pull %s`, or give "+
		"--model a folder "+
		"with its config.json, *.safetensors, preprocessor_config.json and tokenizer files",
		at, ErrNotPulled, folder(cache, id), at)
}

// Pull downloads the files of a model that are missing, and resumes partial ones. Each file is checked against the
// hub's size and checksum before it gets its name. The commit is recorded as the Python library does, so that both
// find the same files.
func Pull(ctx context.Context, id string, o PullOptions) (Snapshot, error) {
	if !idForm.MatchString(id) || o.Revision != "" && !revisionForm.MatchString(o.Revision) {
		return Snapshot{}, fmt.Errorf("%q at %q: a model on the hub is named OWNER/NAME, its revision is a commit, "+
			"branch or tag", id, o.Revision)
	}
	if o.Cache == "" {
		o.Cache = Cache()
	}
	if o.Revision == "" {
		o.Revision = "main"
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	repo, info, err := query(ctx, id, o)
	if err != nil {
		_ = os.Remove(folder(o.Cache, id)) // where nothing else is in it
		return Snapshot{}, fmt.Errorf("models pull %s: %w", id, err)
	}
	wanted, err := choose(info.Siblings)
	if err != nil {
		return Snapshot{}, fmt.Errorf("models pull %s: %w", id, err)
	}
	s := Snapshot{Dir: filepath.Join(folder(o.Cache, id), "snapshots", info.CommitHash), Commit: info.CommitHash}
	if info.CardData != nil {
		s.License = info.CardData.License
	}
	web, err := fetch.New(fetch.Usual)
	if err != nil {
		return Snapshot{}, err
	}
	defer web.Close()
	for _, f := range wanted {
		s.Bytes += f.Size
		if err := download(ctx, web, repo, f, filepath.Join(s.Dir, filepath.FromSlash(f.Name)),
			o.Progress); err != nil {
			return Snapshot{}, fmt.Errorf("models pull %s: %s: %w", id, f.Name, err)
		}
	}
	if commitForm.MatchString(o.Revision) {
		return s, nil
	}
	ref := filepath.Join(folder(o.Cache, id), "refs", filepath.FromSlash(o.Revision))
	if err := os.MkdirAll(filepath.Dir(ref), 0o755); err != nil {
		return Snapshot{}, err
	}
	return s, os.WriteFile(ref, []byte(s.Commit), 0o644)
}

// query requests the repository's files and commit.
func query(ctx context.Context, id string, o PullOptions) (*hub.Repo, *hub.RepoInfo, error) {
	repo := hub.New(id).WithRevision(o.Revision).WithCacheDir(o.Cache).WithAuth(os.Getenv("HF_TOKEN"))
	repo.Verbosity = 0
	done := make(chan error, 1)
	go func() {
		_, err := repo.FileURL("config.json") // one request; other addresses follow from its answer
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return nil, nil, plain(err)
		}
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	info := repo.Info()
	if info == nil || !commitForm.MatchString(info.CommitHash) {
		return nil, nil, errors.New("the hub's answer has no commit")
	}
	return repo, info, nil
}

// plain returns the cause of go-huggingface's error in one line.
func plain(err error) error {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("no network, or no such host %s (HF_ENDPOINT names a mirror): copy the model's folder to "+
			"this machine "+
			"and pass it to --model", dns.Name)
	case errors.As(err, &op):
		return fmt.Errorf("the hub cannot be reached: %v (HF_ENDPOINT names a mirror)", op.Err)
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(text, "code 401") || strings.Contains(text, "code 404") {
		return fmt.Errorf("the hub does not know it, or it is gated: set HF_TOKEN to your access token (%s)", text)
	}
	return errors.New(text)
}

// choose returns the files of a model: configurations, tokenizers, and weights as safetensors, the weights last.
func choose(files []*hub.FileInfo) ([]*hub.FileInfo, error) {
	var small, weights []*hub.FileInfo
	for _, f := range files {
		clean := path.Clean(f.Name)
		if clean != f.Name || path.IsAbs(clean) || strings.HasPrefix(clean, "..") || strings.Contains(clean, `\`) {
			return nil, fmt.Errorf("the repository has a file with the name %q", f.Name)
		}
		if slices.Contains([]string{"onnx", "openvino", "flax_model"}, strings.Split(clean, "/")[0]) {
			continue
		}
		switch path.Ext(clean) {
		case ".json", ".txt", ".model":
			small = append(small, f)
		case ".safetensors":
			weights = append(weights, f)
		}
	}
	// If name.safetensors exists, name.fp16.safetensors and the like are not downloaded.
	all := weights
	weights = slices.DeleteFunc(slices.Clone(weights), func(f *hub.FileInfo) bool {
		base := strings.TrimSuffix(f.Name, ".safetensors")
		plain := strings.TrimSuffix(base, path.Ext(path.Base(base)))
		return plain != base && slices.ContainsFunc(all,
			func(o *hub.FileInfo) bool { return o.Name == plain+".safetensors" })
	})
	if len(weights) == 0 {
		return nil, errors.New("it has no *.safetensors, and other weights are not read; a revision may have them " +
			"(--revision refs/pr/N), or convert it once with Python: " +
			"AutoModel.from_pretrained(…).save_pretrained(DIR)")
	}
	return append(small, weights...), nil
}

// download downloads one file, unless it exists.
func download(ctx context.Context, web *fetch.Client, repo *hub.Repo, f *hub.FileInfo, file string,
	progress func(string, int64, int64)) error {
	want := fetch.Want{Size: f.Size, GitBlob: f.BlobID, Progress: func(have int64) { progress(f.Name, have, f.Size) }}
	if f.LFS != nil {
		want.Size, want.SHA256 = f.LFS.Size, f.LFS.SHA256
	}
	if info, err := os.Stat(file); err == nil && info.Size() == want.Size {
		progress(f.Name, want.Size, want.Size)
		return nil
	}
	if want.SHA256 == "" && want.GitBlob == "" {
		return errors.New("the hub has no checksum for it")
	}
	if token := os.Getenv("HF_TOKEN"); token != "" {
		want.Header = http.Header{"Authorization": {"Bearer " + token}}
	}
	address, err := repo.FileURL(f.Name)
	if err != nil {
		return plain(err)
	}
	at, err := url.Parse(address)
	if err != nil {
		return errors.New("a malformed address")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	part := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".part")
	if err := web.Download(ctx, at, part, want); err != nil {
		return err
	}
	if err := os.Chmod(part, 0o644); err != nil {
		return err
	}
	return os.Rename(part, file)
}

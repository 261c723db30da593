package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/go-huggingface/hub"

	"antipode/internal/atomicfile"
	"antipode/internal/fault"
	"antipode/internal/fetch"
)

// PullOptions are the options of [Pull].
type PullOptions struct {
	Revision string // commit, branch, tag or refs/pr/N; "" = main
	// Variant is that of the weights: [FP16]; "" = float32 ones where there are such. A pipeline's folder may have
	// both; [gomlxmodels.GenerateOptions].Variant selects.
	Variant string
	Cache   string // "" = [Cache]
	// Start is called when the configurations are downloaded and the weights are not yet; an error ends the pull. May
	// be nil.
	Start func(Snapshot) error
	// Progress is called with the downloaded and the total bytes of a file; may be nil.
	Progress func(file string, have, size int64)
}

// Pull downloads the files of a model that are missing, and resumes partial ones. Each file is checked against the
// hub's size and checksum before it gets its name. The commit is recorded as the Python library does, so that both
// find the same files.
//
// Downloaded are the files that the networks read, and no others. The layout decides where they are: the components
// of a pipeline (model_index.json), the modules of a sentence encoder (modules.json), or the repository's root. Each
// of these folders has one set of weights, the first that the repository has of
//
//   - model.safetensors (diffusion_pytorch_model.safetensors), or the shards that its index lists;
//   - pytorch_model.bin (diffusion_pytorch_model.bin), or the shards that its index lists;
//   - the same of the variant fp16;
//   - flax_model.msgpack, of DALL·E mini and its VQGAN.
//
// Precision comes before the format: weights of another precision generate other images. Files of a pipeline's root
// next to model_index.json hold the same weights once more and are never downloaded.
func Pull(ctx context.Context, id string, o PullOptions) (Snapshot, error) {
	if !idForm.MatchString(id) || o.Revision != "" && !revisionForm.MatchString(o.Revision) {
		return Snapshot{}, fmt.Errorf("%q at %q: a model on the hub is named OWNER/NAME, its revision is a commit, "+
			"branch or tag", id, o.Revision)
	}
	if o.Cache == "" {
		o.Cache = Cache()
	}
	o.Revision = cmp.Or(o.Revision, "main")
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	repo, info, err := query(ctx, id, o)
	if err != nil {
		_ = os.Remove(folder(o.Cache, id)) // where nothing else is in it
		return Snapshot{}, fmt.Errorf("models pull %s: %w", id, err)
	}
	s, err := pullFiles(ctx, id, repo, info, o)
	if err != nil {
		return Snapshot{}, fmt.Errorf("models pull %s: %w", id, err)
	}
	if commitForm.MatchString(o.Revision) {
		return s, nil
	}
	ref := filepath.Join(folder(o.Cache, id), "refs", filepath.FromSlash(o.Revision))
	return s, atomicfile.Write(ref, []byte(s.Commit))
}

// pullFiles downloads the files of a model that are read and missing: those on which the choice depends, then the
// small ones, then the weights.
func pullFiles(ctx context.Context, id string, repo *hub.Repo, info *hub.RepoInfo, o PullOptions) (Snapshot, error) {
	s := Snapshot{Dir: filepath.Join(folder(o.Cache, id), "snapshots", info.CommitHash), Commit: info.CommitHash}
	if info.CardData != nil {
		s.License = info.CardData.License
	}
	web, err := fetch.New(fetch.Usual)
	if err != nil {
		return Snapshot{}, err
	}
	defer web.Close()
	if !complete(s.Dir) {
		if err := atomicfile.Write(filepath.Join(s.Dir, unfinished), nil); err != nil {
			return Snapshot{}, err
		}
	}
	get := func(f *hub.FileInfo) (path string, err error) {
		path = filepath.Join(s.Dir, filepath.FromSlash(f.Name))
		if err = download(ctx, web, repo, f, path, o.Progress); err != nil {
			err = fmt.Errorf("%s: %w", f.Name, err)
		}
		return path, err
	}
	wanted, err := choose(info.Siblings, o.Variant, func(f *hub.FileInfo) ([]byte, error) {
		path, err := get(f)
		if err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	})
	if err != nil {
		return Snapshot{}, err
	}
	for _, f := range slices.Concat(wanted.small, wanted.weights) {
		s.Bytes += sizeOf(f)
	}
	all := func(files []*hub.FileInfo) (err error) {
		for _, f := range files {
			if err == nil {
				_, err = get(f)
			}
		}
		return err
	}
	if err = wanted.preferred(s.Dir); err == nil {
		err = all(wanted.small)
	}
	if err == nil && o.Start != nil {
		err = o.Start(s)
	}
	if err == nil {
		err = all(wanted.weights)
	}
	if err == nil {
		err = os.RemoveAll(filepath.Join(s.Dir, unfinished))
	}
	return s, err
}

// query requests the repository's files and commit.
func query(ctx context.Context, id string, o PullOptions) (*hub.Repo, *hub.RepoInfo, error) {
	repo := hub.New(id).WithRevision(o.Revision).WithCacheDir(o.Cache).WithAuth(os.Getenv("HF_TOKEN"))
	repo.Verbosity = 0
	done := make(chan error, 1)
	go func() {
		done <- fault.Catch(func() error {
			_, err := repo.FileURL("config.json") // one request; other addresses follow from its answer
			return err
		})
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
		return fmt.Errorf("%w (%s)", ErrNoRepository, text)
	}
	return errors.New(text)
}

// download downloads one file, unless it exists.
func download(ctx context.Context, web *fetch.Client, repo *hub.Repo, f *hub.FileInfo, file string,
	progress func(string, int64, int64)) error {
	want := fetch.Want{Size: sizeOf(f), GitBlob: f.BlobID,
		Progress: func(have int64) { progress(f.Name, have, sizeOf(f)) }}
	if f.LFS != nil {
		want.SHA256 = f.LFS.SHA256
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

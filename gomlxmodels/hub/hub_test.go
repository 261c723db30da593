package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"antipode/gomlxmodels"
	"antipode/internal/must"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// fake is a hub with one repository.
type fake struct {
	files map[string]string
	names []string // besides the files': what else the listing names, as gigabytes
	hits  []string
	wrong string // a file whose bytes are not the listed ones
	cut   string // a file whose first answer breaks off half way
	*httptest.Server
}

func newFake(t *testing.T, files map[string]string) *fake {
	f := &fake{files: files}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	t.Setenv("HF_ENDPOINT", f.URL)
	t.Setenv("HF_TOKEN", "geheim")
	t.Setenv("HTTP_PROXY", "")
	t.Setenv("http_proxy", "")
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/models/some/model/revision/") {
		f.hits = append(f.hits, "info "+filepath.Base(r.URL.Path))
		type entry map[string]any
		list := []entry{}
		for _, name := range f.names {
			list = append(list, entry{"rfilename": name, "size": int64(5e9), "blobId": "00",
				"lfs": entry{"sha256": "00", "size": int64(5e9), "pointerSize": 135}})
		}
		for name, text := range f.files {
			id := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(text), text)))
			e := entry{"rfilename": name, "size": len(text), "blobId": hex.EncodeToString(id[:])}
			if strings.HasSuffix(name, ".safetensors") || strings.HasSuffix(name, ".bin") {
				sum := sha256.Sum256([]byte(text))
				e["lfs"] = entry{"sha256": hex.EncodeToString(sum[:]), "size": len(text), "pointerSize": 130}
			}
			list = append(list, e)
		}
		_ = json.NewEncoder(w).Encode(entry{"id": "some/model", "sha": commit, "siblings": list,
			"cardData": entry{"license": "apache-2.0"}})
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/some/model/resolve/"+commit+"/")
	text, known := f.files[name]
	if !ok || !known {
		http.Error(w, `{"error":"Repository not found"}`, http.StatusNotFound)
		return
	}
	if r.Header.Get("Authorization") != "Bearer geheim" {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	f.hits = append(f.hits, name+" "+r.Header.Get("Range"))
	if f.cut == name {
		f.cut = ""
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write([]byte(text[:len(text)/2]))
		panic(http.ErrAbortHandler)
	}
	if f.wrong == name {
		text = strings.ToUpper(text)
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
}

func repository() map[string]string {
	return map[string]string{
		"config.json": `{"model_type": "vit"}`, "vocab.json": "{}", "merges.txt": "a b\n", "1_Pooling/config.json": "{}",
		"README.md":         "read me",
		"model.safetensors": strings.Repeat("weights ", 1000), "model.fp16.safetensors": "half",
		"pytorch_model.bin": "a pickle", "onnx/model.json": "{}",
	}
}

func TestPull(t *testing.T) {
	f := newFake(t, repository())
	cache := t.TempDir()
	if _, err := Find("some/model", "", cache); !errors.Is(err, ErrNotPulled) ||
		!strings.Contains(err.Error(), "antipode models pull some/model") {
		t.Fatalf("before the pull: %v", err)
	}
	last := map[string]int64{}
	var before Snapshot
	f.cut = "model.safetensors"
	s := must.Get(Pull(context.Background(), "some/model",
		PullOptions{Cache: cache, Start: func(s Snapshot) error { before = s; return nil },
			Progress: func(file string, have, size int64) {
				if have < last[file] || have > size {
					t.Errorf("%s: %d of %d after %d", file, have, size, last[file])
				}
				last[file] = have
			}}))(t)
	must.Equal(t, before, s)
	must.Equal(t, s.Bytes, 8000+int64(len(f.files["config.json"]+f.files["vocab.json"]+f.files["merges.txt"])))
	if s.Commit != commit || s.License != "apache-2.0" || last["model.safetensors"] != 8000 {
		t.Errorf("%+v, progress %v", s, last)
	}
	for name, text := range f.files {
		got, err := os.ReadFile(filepath.Join(s.Dir, name))
		switch name {
		case "README.md", "model.fp16.safetensors", "pytorch_model.bin", "onnx/model.json", "1_Pooling/config.json":
			if err == nil {
				t.Errorf("%s was fetched", name)
			}
		default:
			if err != nil || string(got) != text {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	if !strings.Contains(strings.Join(f.hits, ","), "model.safetensors bytes=4000-") {
		t.Errorf("the broken download was not taken up: %q", f.hits)
	}
	for _, revision := range []string{"", "main", commit} {
		must.Equal(t, must.Get(Find("some/model", revision, cache))(t).Dir, s.Dir, "Find at", revision)
	}
	t.Setenv("HF_HUB_CACHE", cache)
	known := gomlxmodels.Model{Name: "short", Hub: "some/model", Commit: commit, Status: gomlxmodels.Mirror}
	must.Equal(t, must.Get(FindKnown(known))(t).Dir, s.Dir, "FindKnown")
	known.Commit = strings.Repeat("f", 40)
	if _, err := FindKnown(known); !errors.Is(err, ErrNotPulled) ||
		!strings.Contains(err.Error(), "antipode models pull short --mirror`") {
		t.Errorf("FindKnown at another commit: %v", err)
	}
	if _, err := Find("some/model", "v2", cache); !errors.Is(err, ErrNotPulled) {
		t.Errorf("another revision: %v", err)
	}

	// A second pull asks what there is and fetches nothing.
	f.hits = nil
	again := must.Get(Pull(context.Background(), "some/model", PullOptions{Cache: cache}))(t)
	must.Equal(t, again, s, "again")
	must.Equal(t, len(f.hits), 1, "again")

	// Only the removed files are downloaded again, at the requested revision.
	must.Do(t, os.Remove(filepath.Join(s.Dir, "config.json")))
	f.hits = nil
	if _, err := Pull(context.Background(), "some/model", PullOptions{Cache: cache, Revision: commit}); err != nil ||
		strings.Join(f.hits, ",") != "info "+commit+",config.json " {
		t.Errorf("%v, %q", err, f.hits)
	}
}

// TestStart: a pull can end between configurations and weights, and weights of a variant are refused where others
// would be read in their place.
func TestStart(t *testing.T) {
	f := newFake(t, repository())
	cache := t.TempDir()
	stop := errors.New("too large")
	_, err := Pull(context.Background(), "some/model", PullOptions{Cache: cache, Start: func(s Snapshot) error {
		must.Get(os.Stat(filepath.Join(s.Dir, "config.json")))(t)
		return stop
	}})
	weights := func(hit string) bool { return strings.HasPrefix(hit, "model") }
	if !errors.Is(err, stop) || slices.ContainsFunc(f.hits, weights) {
		t.Errorf("%v, requested %q", err, f.hits)
	}
	// one of two files of weights is there
	f.files["model.safetensors.index.json"] = `{"weight_map": {"a": "a.safetensors", "b": "b.safetensors"}}`
	whole := f.files["model.safetensors"]
	delete(f.files, "model.safetensors")
	f.files["a.safetensors"], f.files["b.safetensors"], f.wrong = whole, whole, "b.safetensors"
	must.Fail(Pull(context.Background(), "some/model", PullOptions{Cache: cache, Revision: commit}))(t, "b.safetensors")
	must.Is(Find("some/model", commit, cache))(t, ErrNotPulled)
	cache = t.TempDir()
	f.files, f.wrong = repository(), ""
	half := PullOptions{Cache: cache, Variant: FP16}
	s := must.Get(Pull(context.Background(), "some/model", half))(t)
	must.Get(os.Stat(filepath.Join(s.Dir, "model.fp16.safetensors")))(t)
	_ = must.Get(Pull(context.Background(), "some/model", PullOptions{Cache: cache}))(t)
	must.Fail(Pull(context.Background(), "some/model", half))(t, "model.safetensors is in "+s.Dir+" already")
}

func TestPullRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		id    string
		spoil func(*fake)
		want  string
	}{
		{name: "wrong bytes", id: "some/model", spoil: func(f *fake) { f.wrong = "model.safetensors" },
			want: "model.safetensors: not the pinned file"},
		{name: "wrong small file", id: "some/model", spoil: func(f *fake) { f.wrong = "config.json" },
			want: "config.json: not the pinned file"},
		{name: "no weights that are read", id: "some/model",
			spoil: func(f *fake) {
				for _, name := range []string{"model.safetensors", "model.fp16.safetensors", "pytorch_model.bin"} {
					delete(f.files, name)
				}
				f.names = []string{"tf_model.h5"}
			},
			want: "no readable weights in its root: found tf_model.h5. Fix: choose a revision"},
		{name: "a file that leaves the folder", id: "some/model",
			spoil: func(f *fake) { f.names = []string{"../../x.json"} }, want: `file with the name "../../x.json"`},
		{name: "unknown", id: "other/model", want: "does not know it, or it is gated"},
		{name: "no name of the hub", id: "../etc", want: "OWNER/NAME"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, repository())
			if c.spoil != nil {
				c.spoil(f)
			}
			cache := t.TempDir()
			must.Fail(Pull(context.Background(), c.id, PullOptions{Cache: cache}))(t, c.want)
			if _, err := Find("some/model", "", cache); !errors.Is(err, ErrNotPulled) {
				t.Errorf("half a model is found: %v", err)
			}
		})
	}
	t.Run("offline", func(t *testing.T) {
		f := newFake(t, nil)
		f.Close()
		must.Fail(Pull(context.Background(), "some/model", PullOptions{Cache: t.TempDir()}))(t, "cannot be reached")
	})
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{
		"some/model": "some/model ", "some/model@refs/pr/7": "some/model refs/pr/7", "some/model@" +
			commit: "some/model " + commit,
		"model": "", "some/model@": "", "../model": "", "a/b/c": "", "some/model@../x": "", "/abs/path": "",
	} {
		id, revision, ok := Split(name)
		if got := id + " " + revision; ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", name, got, ok)
		}
	}
}

func TestCache(t *testing.T) {
	t.Setenv("HF_HOME", "/h")
	t.Setenv("HF_HUB_CACHE", "")
	must.Equal(t, Cache(), filepath.Join("/h", "hub"), "HF_HOME")
	t.Setenv("HF_HUB_CACHE", "/c")
	must.Equal(t, Cache(), "/c", "HF_HUB_CACHE")
	t.Setenv("HOME", "/me")
	t.Setenv("DATA", "/d")
	for _, c := range [][4]string{{"", "/old", "/h", "/old"}, {"/c", "/old", "/h", "/c"}, {"~/c", "", "", "/me/c"},
		{"${DATA}/$NONE", "", "", "/d/$NONE"}, {"", "~", "", "/me"}, {"", "", "~/h$DATA", "/me/h/d/hub"}} {
		for i, name := range []string{"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"} {
			t.Setenv(name, c[i])
		}
		must.Equal(t, Cache(), c[3], c)
	}
}

// TestUnpackAtOnce writes a built-in model from several goroutines, as workers of one backend do.
func TestUnpackAtOnce(t *testing.T) {
	files := fstest.MapFS{"config.json": {Data: []byte("{}")}, "part/model.safetensors": {Data: make([]byte, 1<<16)}}
	dir := t.TempDir()
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			must.Get(unpack(dir, files))(t)
		})
	}
	wait.Wait()
}

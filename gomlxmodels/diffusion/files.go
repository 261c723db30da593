package diffusion

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/gomlxmodels/weights"
)

// openWeights finds the weights in a folder of the pipeline. name is "model" for what transformers saved, "diffusion_pytorch_model"
// for diffusers: it reads NAME.safetensors, or the shards that NAME.safetensors.index.json lists; where there is neither, the fp16
// variant of either (NAME.fp16.safetensors, NAME.safetensors.index.fp16.json). files are what was read; another variant is named in the
// error.
func openWeights(dir, name string) (set *weights.Set, files []string, err error) {
	for _, file := range []string{".safetensors", ".safetensors.index.json", ".fp16.safetensors", ".safetensors.index.fp16.json"} {
		path := filepath.Join(dir, name+file)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.HasSuffix(file, ".json") {
			return openShards(path)
		}
		set, err = weights.OpenFiles(path)
		return set, []string{path}, err
	}
	others, _ := filepath.Glob(filepath.Join(dir, name+".*"))
	binary, _ := filepath.Glob(filepath.Join(dir, "*.bin"))
	others = append(others, binary...)
	for i, path := range others {
		others[i] = filepath.Base(path)
	}
	hint := "get the folder again"
	if len(others) > 0 {
		hint = fmt.Sprintf("there is %s, which is not read: load it in Python and save it with save_pretrained(…, safe_serialization=True)", strings.Join(others, ", "))
	}
	return nil, nil, fmt.Errorf("%s: holds no %s.safetensors; %s", dir, name, hint)
}

// openShards reads the headers of the files that an index lists, as weights.Open does under its one name.
func openShards(index string) (set *weights.Set, files []string, err error) {
	raw, err := os.ReadFile(index)
	if err != nil {
		return nil, nil, err
	}
	var list struct {
		Files map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, nil, fmt.Errorf("%s: not readable as JSON: %w", index, err)
	}
	var paths []string
	for tensor, file := range list.Files {
		if filepath.Base(file) != file || !filepath.IsLocal(file) || strings.Contains(file, `\`) {
			return nil, nil, fmt.Errorf("%s: tensor %q lies in %q, which is not a file of the folder", index, tensor, file)
		}
		paths = append(paths, filepath.Join(filepath.Dir(index), file))
	}
	slices.Sort(paths)
	if paths = slices.Compact(paths); len(paths) == 0 {
		return nil, nil, fmt.Errorf("%s: weight_map lists no tensor", index)
	}
	set, err = weights.OpenFiles(paths...)
	if err != nil {
		return nil, nil, err
	}
	for tensor, file := range list.Files {
		if info, is := set.Info(tensor); !is || filepath.Base(info.File) != file {
			return nil, nil, fmt.Errorf("%s: tensor %q is not in %s", index, tensor, file)
		}
	}
	return set, append(paths, index), nil
}

package diffusion

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"antipode/gomlxmodels/weights"
)

// openWeights finds the weights in a folder of the pipeline. name is "model" for what transformers saved,
// "diffusion_pytorch_model" for diffusers: it reads NAME.safetensors, or the shards that NAME.safetensors.index.json
// lists; where there is neither, the fp16 variant of either (NAME.fp16.safetensors,
// NAME.safetensors.index.fp16.json). files are what was read; another variant is named in the error.
func openWeights(dir, name string) (set *weights.Set, files []string, err error) {
	for _, file := range []string{".safetensors", ".safetensors.index.json", ".fp16.safetensors",
		".safetensors.index.fp16.json"} {
		path := filepath.Join(dir, name+file)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if strings.HasSuffix(file, ".json") {
			set, err = weights.OpenIndex(path)
		} else {
			set, err = weights.OpenFiles(path)
		}
		if err != nil {
			return nil, nil, err
		}
		return set, set.Files(), nil
	}
	others, _ := filepath.Glob(filepath.Join(dir, name+".*"))
	binary, _ := filepath.Glob(filepath.Join(dir, "*.bin"))
	others = append(others, binary...)
	for i, path := range others {
		others[i] = filepath.Base(path)
	}
	hint := "get the folder again"
	if len(others) > 0 {
		hint = fmt.Sprintf("there is %s, which is not read: load it in Python and save it with save_pretrained(…, "+
			"safe_serialization=True)", strings.Join(others, ", "))
	}
	return nil, nil, fmt.Errorf("%s: holds no %s.safetensors; %s", dir, name, hint)
}

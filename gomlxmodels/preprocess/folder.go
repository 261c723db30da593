package preprocess

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadFolder reads what a model folder says about preparing pictures: preprocessor_config.json, else the image_processor of
// processor_config.json, for [ParseHuggingFace]. path is the file that was read. Where there is neither, text is nil. Errors name
// the file.
func ReadFolder(dir string) (text []byte, path string, err error) {
	for _, name := range []string{"preprocessor_config.json", "processor_config.json"} {
		path = filepath.Join(dir, name)
		text, err = os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if name == "preprocessor_config.json" {
			return text, path, nil
		}
		var f struct {
			Image json.RawMessage `json:"image_processor"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, "", fmt.Errorf("%s: not readable: %w", path, err)
		}
		if len(f.Image) > 0 && string(f.Image) != "null" {
			return f.Image, path, nil
		}
	}
	return nil, "", nil
}

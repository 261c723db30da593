package trainer

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is the folder of a training run: settings.json, curve.jsonl and checkpoints.
type Folder string

func (d Folder) checkpoints() string  { return filepath.Join(string(d), "checkpoints") }
func (d Folder) settingsFile() string { return filepath.Join(string(d), "settings.json") }
func (d Folder) curveFile() string    { return filepath.Join(string(d), "curve.jsonl") }

// Open creates the folder of a run, or checks that the run in it has the same settings.
func (d Folder) Open(s Settings) error {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(d.settingsFile())
	if errors.Is(err, fs.ErrNotExist) {
		text, err = json.Marshal(s)
		if err != nil {
			return err
		}
		return os.WriteFile(d.settingsFile(), append(text, '\n'), 0o644)
	}
	if err != nil {
		return err
	}
	var old Settings
	if err := json.Unmarshal(text, &old); err != nil {
		return fmt.Errorf("%s: %w", d.settingsFile(), err)
	}
	if old != s {
		return fmt.Errorf("%s contains a run with other settings, %+v instead of %+v; use another -dir or remove it", d,
			old, s)
	}
	return nil
}

// curve reads the loss curve up to a step. Points that a killed run wrote after its last checkpoint are dropped,
// because their steps run again.
func (d Folder) curve(done int) ([]Point, error) {
	f, err := os.Open(d.curveFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var curve []Point
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var p Point
		if json.Unmarshal(lines.Bytes(), &p) == nil && p.Step <= done &&
			(len(curve) == 0 || p.Step > curve[len(curve)-1].Step) {
			curve = append(curve, p)
		}
	}
	return curve, lines.Err()
}

func (d Folder) append(p Point) error {
	f, err := os.OpenFile(d.curveFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		return err
	}
	return f.Close()
}

// WriteJSON writes a value as indented JSON, with a line break at the end.
func WriteJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// Digest returns the first n bytes of a file's SHA-256 hash as hexadecimal digits, to record in [Settings].From.
func Digest(path string, n int) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:n]), nil
}

package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/inspect"
)

func checkModels(_ context.Context, args []string) error {
	fs := flags("models check", "NAME|DIR [--json]")
	asJSON := fs.Bool("json", false, "print JSON, one line per model")
	rest, err := parseN(fs, args, 1, "antipode models check NAME|DIR [--json]")
	if err != nil {
		return err
	}
	names := rest
	if p, ok := gomlxmodels.FindPair(rest[0]); ok {
		names = []string{p.Detector, p.Segmenter}
	}
	var reports []*inspect.Report
	for _, name := range names {
		dir, err := modelFolder(name)
		if err != nil {
			return err
		}
		r, err := inspect.Folder(name, dir)
		if err != nil {
			return err
		}
		reports = append(reports, r)
		if *asJSON {
			err = json.NewEncoder(os.Stdout).Encode(r)
		} else {
			err = r.Print(os.Stdout)
		}
		if err != nil {
			return err
		}
	}
	for _, r := range reports {
		if r.Problem != "" {
			return fmt.Errorf("models check: %s: %s", r.Name, r.Problem)
		}
	}
	return nil
}

// modelFolder returns the folder of a known model, of one of the hub that was pulled, or of a path.
func modelFolder(name string) (string, error) {
	if _, known := gomlxmodels.Find(name); !known {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return filepath.Abs(name)
		}
		if _, _, ok := hub.Split(name); !ok {
			tried, _ := filepath.Abs(name) // only for the message
			return "", usage("no model %q and no folder %s: give a folder, a name that `antipode models` lists, or "+
				"OWNER/NAME of the hub%s", name, tried, gomlxmodels.Nearest(name))
		}
	}
	home, err := client.Home()
	if err != nil {
		return "", err
	}
	return hub.Resolve(builtIn(filepath.Join(home, "models")), name)
}

// builtIn is the folder into which models that are part of the program are written.
type builtIn string

// ModelDir returns the folder.
func (b builtIn) ModelDir() string { return string(b) }

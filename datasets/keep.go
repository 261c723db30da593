package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"antipode/datasets/cell"
	"antipode/datasets/client"
	"antipode/internal/glob"
)

// keepFor is the time for which a kept file stays that is not used and whose name has a newer one.
const keepFor = 24 * time.Hour

var keptName = regexp.MustCompile(`^[\pL\pN_.-]+$`)

// Kept makes tables [cell.Keepable]; use [cell.Keep].
func (Table) Kept(name, source string, compute func() Table, inputs []any) (kept Table) {
	inCell(func(ctx context.Context) (err error) {
		if kept, err = keep(ctx, name, source, compute, inputs); err != nil && ctx.Err() == nil {
			err = fmt.Errorf("cell.Keep %q: %w", name, err)
		}
		return err
	})
	return kept
}

func keep(ctx context.Context, name, source string, compute func() Table, inputs []any) (Table, error) {
	if !keptName.MatchString(name) {
		return Table{}, fmt.Errorf("a name has letters, digits, _, . and -")
	}
	key := sha256.New()
	fmt.Fprintf(key, "%q %q\n", name, source)
	var tables []Table
	for i, in := range inputs {
		if t, ok := in.(Table); ok {
			tables, in = append(tables, t), nil
		}
		value, err := json.Marshal(in)
		if err != nil {
			return Table{}, fmt.Errorf("input %d is a %T; give a table, a text, a number or a list", i+1, in)
		}
		fmt.Fprintf(key, "%T %s\n", in, value)
	}
	if len(tables) > 0 {
		f, err := New("digest", nil, Columns("digest:text"), tables...).Rows(ctx)
		if err != nil {
			return Table{}, err
		}
		fmt.Fprintln(key, f.Texts("digest"))
	}
	path, exists, tidy, err := keptFile(name, key.Sum(nil), ".parquet")
	if err != nil {
		return Table{}, err
	}
	if !exists {
		defer cell.Caches(time.Now())
		if _, err := compute().SaveE(ctx, path); err != nil {
			return Table{}, err
		}
		tidy()
	}
	return Parquet(path, FileOptions{Root: string(filepath.Separator)}).named(name), nil
}

// keptFile returns the file of a name and a key in the folder kept of the store, and whether it exists; it is then used
// now. tidy removes the files of the name and other keys that have not been used for keepFor.
func keptFile(name string, key []byte, ext string) (path string, exists bool, tidy func(), err error) {
	home, err := client.Home()
	if err == nil {
		err = os.MkdirAll(filepath.Join(home, "kept"), 0o700)
	}
	start, now := filepath.Join(home, "kept", name+"-"), time.Now()
	path = start + hex.EncodeToString(key[:16]) + ext
	return path, err == nil && os.Chtimes(path, now, now) == nil, func() {
		for _, file := range glob.In(filepath.Join(home, "kept"), name+"-"+strings.Repeat("?", 32)+ext) {
			if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) > keepFor {
				_, _ = os.Remove(file), os.RemoveAll(strings.TrimSuffix(file, ext)+".images")
			}
		}
	}, err
}

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
	"time"

	"antipode/datasets/cell"
	"antipode/datasets/client"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

func init() { operation.Verb("digest", digestRows) }

// keepFor is the time for which a kept table stays that is not used and whose name has a newer one.
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
	home, err := client.Home()
	if err != nil {
		return Table{}, err
	}
	start := filepath.Join(home, "kept", name+"-")
	path := start + hex.EncodeToString(key.Sum(nil)[:16]) + ".parquet"
	kept := func() Table { return Parquet(path, FileOptions{Root: string(filepath.Separator)}).named(name) }
	now := time.Now()
	if os.Chtimes(path, now, now) == nil {
		return kept(), nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Table{}, err
	}
	defer cell.Caches(now)
	if _, err := compute().SaveE(ctx, path); err != nil {
		return Table{}, err
	}
	old, _ := filepath.Glob(start + "????????????????????????????????.parquet") // the name has no pattern
	for _, file := range old {
		if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) > keepFor {
			_, _ = os.Remove(file), os.RemoveAll(file[:len(file)-len(".parquet")]+".images")
		}
	}
	return kept(), nil
}

// digestRows returns the digest of the contents of tables: of images by their own digests, not their paths.
func digestRows(_ *Call, _ struct{}, in []*Frame) (*Frame, error) {
	key := sha256.New()
	for _, f := range in {
		plain := &Frame{Columns: append([]Column(nil), f.Columns...)}
		for i := range plain.Columns {
			if c := &plain.Columns[i]; c.Kind == table.KindImage {
				images := make([]table.Image, len(c.Images))
				for row, img := range c.Images {
					images[row].SHA256 = img.SHA256
				}
				c.Images = images
			}
		}
		if err := plain.Encode(key); err != nil {
			return nil, err
		}
	}
	out := table.NewFrame(Columns("digest:text"))
	out.Add([]string{hex.EncodeToString(key.Sum(nil))})
	return out, nil
}

package archipelago

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"antipode/datasets/mask"
	"antipode/kernel/client"
)

// drawing is a drawn picture as the list of a table's drawings keeps it: the digest of its PNG among the store's blobs, and its mask.
type drawing struct {
	SHA256 string      `json:"sha256"`
	Mask   client.Mask `json:"mask"`
}

// drawn gives the pictures of a table. They are kept among the store's blobs, and a list of them among its items: a table that was drawn before is found again, and
// a picture that was removed meanwhile is drawn again.
func (w *World) drawn(ctx context.Context, home, table string, pictures []Picture) ([]client.Image, []client.Mask, error) {
	h := sha256.New()
	fmt.Fprintf(h, "archipelago drawings\x00%d\x00%d\x00%d\x00", Version, AuditVersion, w.opts.Size)
	for _, p := range pictures {
		figure := Figure{}
		if p.Figure != nil {
			figure = *p.Figure
		}
		p.Figure = nil
		fmt.Fprintf(h, "%+v\x00%+v\x00", p, figure)
	}
	list := filepath.Join(home, "items", "archipelago-audits", table+"-"+hex.EncodeToString(h.Sum(nil)[:12])+".json")
	known := make([]drawing, len(pictures))
	if raw, err := os.ReadFile(list); err == nil {
		var kept []drawing
		if json.Unmarshal(raw, &kept) == nil && len(kept) == len(pictures) {
			known = kept
			used(list)
		}
	}
	images, masks, fails := make([]client.Image, len(pictures)), make([]client.Mask, len(pictures)), make([]error, len(pictures))
	drew := make([]bool, len(pictures))
	var wg sync.WaitGroup
	workers := min(runtime.NumCPU(), len(pictures))
	for first := range workers {
		wg.Go(func() {
			for i := first; i < len(pictures) && ctx.Err() == nil; i += workers {
				if k := known[i]; len(k.SHA256) == 64 && used(blob(home, k.SHA256)) {
					images[i], masks[i] = client.Image{SHA256: k.SHA256, Path: blob(home, k.SHA256)}, k.Mask
					continue
				}
				drew[i] = true
				images[i], masks[i], fails[i] = w.keep(home, pictures[i])
				known[i] = drawing{images[i].SHA256, masks[i]}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(fails, ctx.Err())...); err != nil {
		return nil, nil, fmt.Errorf("the Archipelago's %s cannot be drawn: %w", table, err)
	}
	for _, d := range drew {
		if d {
			raw, err := json.Marshal(known)
			if err != nil {
				return nil, nil, err
			}
			return images, masks, writeWhole(list, raw)
		}
	}
	return images, masks, nil
}

// keep draws a picture and keeps its PNG among the store's blobs.
func (w *World) keep(home string, p Picture) (client.Image, client.Mask, error) {
	im, m := w.Paint(p)
	if im == nil {
		return client.Image{}, client.Mask{}, fmt.Errorf("the world has no picture %+v", p)
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, im); err != nil {
		return client.Image{}, client.Mask{}, err
	}
	sum := sha256.Sum256(b.Bytes())
	out := client.Image{SHA256: hex.EncodeToString(sum[:])}
	out.Path = blob(home, out.SHA256)
	if !used(out.Path) {
		if err := writeWhole(out.Path, b.Bytes()); err != nil {
			return client.Image{}, client.Mask{}, err
		}
	}
	if m == nil {
		return out, client.Mask{}, nil
	}
	return out, mask.Encode(mask.FromImage(m)), nil
}

// blob is where the store keeps a PNG of that digest.
func blob(home, digest string) string { return filepath.Join(home, "blobs", digest[:2], digest+".png") }

// used says whether a file is there, and notes that it was used, at most once a day: what the store's collection goes by.
func used(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if time.Since(info.ModTime()) > 24*time.Hour {
		now := time.Now()
		os.Chtimes(path, now, now)
	}
	return true
}

// writeWhole writes a file whole or not at all. The store does the same, but data sets do not import the side that owns it.
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if chmod := f.Chmod(0o644); err == nil {
		err = chmod
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

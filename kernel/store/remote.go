package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"

	"antipode/datasets/table"
)

// Portable reports whether a file of a store, by its path relative to it with slashes and its content, is one that
// other stores can use: an image, a pack, or a part of a result. Damaged files are not, nor are those of earlier
// versions.
func Portable(name string, data []byte) bool {
	base, depth := path.Base(name), strings.Count(name, "/")
	switch part, _, _ := strings.Cut(name, "/"); {
	case part == "blobs" && depth == 2:
		sum := sha256.Sum256(data)
		digest, _, _ := strings.Cut(base, ".")
		return digest == hex.EncodeToString(sum[:])
	case part == "items" && depth == 3 && path.Ext(base) == packSuffix:
		_, _, err := openPack(bytes.NewReader(data), int64(len(data)), base)
		return err == nil && sound(data)
	case part == "results" && depth == 1 && path.Ext(base) == ".json":
		rec := &Record{}
		return json.Unmarshal(data, rec) == nil && rec.Plan != nil
	case part == "results" && depth == 1 && path.Ext(base) == ".frame":
		_, err := table.Decode(bytes.NewReader(data))
		return err == nil
	}
	return false
}

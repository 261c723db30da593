package remote

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"antipode/internal/atomicfile"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/store"
)

// CacheVar is the environment variable with the maximal size of the cache in bytes; usualCache applies without it.
const (
	CacheVar   = "ANTIPODE_CACHE"
	usualCache = 50_000_000_000
)

// Cache holds copies of objects as files, which are checked by their SHA-256 when they are used. When it exceeds its
// size, the files that were not used for the longest time are removed. Its methods are safe for concurrent use, also by
// several processes.
//
//	files/ab/DIGEST-URL/NAME  the content of an object under its own name; URL is a hash
//	names/ab/VERSION          the SHA-256 of an object's content by URL, time, size and ETag
type Cache struct {
	dir string
	max int64

	mu       sync.Mutex
	buckets  map[objecturl.URL]*Bucket
	size     int64                // -1 = not known
	new      int64                // of what was added since size was counted; other processes may have added as much
	verified map[string]time.Time // file → its time when it was checked
	urls     map[string]objecturl.URL
}

// NewCache returns the cache of the store in a folder: its folder "cache", which is created when it is needed.
func NewCache(home string) *Cache {
	c := &Cache{dir: filepath.Join(home, "cache"), max: usualCache, buckets: map[objecturl.URL]*Bucket{}, size: -1,
		verified: map[string]time.Time{}, urls: map[string]objecturl.URL{}}
	if n, err := strconv.ParseInt(os.Getenv(CacheVar), 10, 64); err == nil && n > 0 {
		c.max = n
	}
	return c
}

// Close closes the buckets.
func (c *Cache) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.buckets {
		_ = b.Close()
	}
	clear(c.buckets)
}

// Bucket returns the bucket of an object.
func (c *Cache) Bucket(ctx context.Context, u objecturl.URL) (*Bucket, error) {
	u.Key = ""
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.buckets[u]; b != nil {
		return b, nil
	}
	b, err := Open(ctx, u)
	if err == nil {
		c.buckets[u] = b
	}
	return b, err
}

// List returns the sizes of the objects below a prefix, by their paths relative to it.
func (c *Cache) List(ctx context.Context, u objecturl.URL) (map[string]int64, error) {
	b, err := c.Bucket(ctx, u)
	if err != nil {
		return nil, err
	}
	u, sizes := u.Prefix(), map[string]int64{}
	return sizes, b.List(ctx, u.Key, func(o Object) error {
		if rel := o.Key[len(u.Key):]; rel != "" && !strings.HasSuffix(rel, "/") {
			sizes[rel] = o.Size
		}
		return nil
	})
}

// IsDigest reports whether a text is a SHA-256 in hexadecimal.
func IsDigest(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 2*sha256.Size && text == strings.ToLower(text)
}

// Path returns the file that an object with a digest has in the cache; [Cache.Ensure] provides it.
func (c *Cache) Path(u objecturl.URL, digest string) string {
	url := sha256.Sum256([]byte(u.String()))
	path := filepath.Join(c.dir, "files", digest[:2], fmt.Sprintf("%s-%x", digest, url[:4]),
		u.Name())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.urls[path] = u
	return path
}

// URL returns the object of a file that [Cache.Path] or [Cache.Fetch] returned.
func (c *Cache) URL(path string) (objecturl.URL, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, known := c.urls[path]
	return u, known
}

// Holds reports whether a path is that of a file of the cache.
func (c *Cache) Holds(path string) bool {
	return strings.HasPrefix(path, filepath.Join(c.dir, "files")+string(filepath.Separator))
}

// Fetch returns a copy of an object and its digest. It is downloaded unless a copy of its present version exists.
func (c *Cache) Fetch(ctx context.Context, u objecturl.URL) (path, digest string, err error) {
	digest, name, err := c.digest(ctx, u)
	if err != nil {
		return "", "", err
	}
	if digest != "" {
		if path = c.Path(u, digest); c.sound(path, digest) {
			return path, digest, nil
		}
	}
	path, digest, err = c.download(ctx, u, "")
	if err == nil {
		if err = atomicfile.Write(name, []byte(digest)); err != nil {
			err = fmt.Errorf("the cache of objects: %w", err)
		}
	}
	return path, digest, err
}

// digest returns the digest of an object's present version, "" if it is not known, and the file that tells it.
func (c *Cache) digest(ctx context.Context, u objecturl.URL) (digest, name string, err error) {
	b, err := c.Bucket(ctx, u)
	if err != nil {
		return "", "", err
	}
	o, err := b.Stat(ctx, u.Key)
	if err != nil {
		return "", "", err
	}
	version := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%x\n%d", u.String(), o.ETag, o.Size, o.MD5,
		o.Changed.UnixNano()))
	name = filepath.Join(c.dir, "names", hex.EncodeToString(version[:1]), hex.EncodeToString(version[:]))
	if data, err := os.ReadFile(name); err == nil && IsDigest(string(data)) {
		digest = string(data)
	}
	return digest, name, nil
}

// Ensure provides the file that [Cache.Path] returned for an object and its digest.
func (c *Cache) Ensure(ctx context.Context, u objecturl.URL, digest string) error {
	if c.sound(c.Path(u, digest), digest) {
		return nil
	}
	_, _, err := c.download(ctx, u, digest)
	return err
}

// sound reports whether a file exists and has its digest. It is read once: later calls compare its time.
func (c *Cache) sound(path, digest string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	c.mu.Lock()
	checked := c.verified[path]
	c.mu.Unlock()
	if !checked.Equal(info.ModTime()) {
		if found, err := store.HashFile(path); err != nil || found != digest {
			return false
		}
	}
	now := info.ModTime()
	if time.Since(now) > time.Hour { // for the order of removal
		now = time.Now().Truncate(time.Microsecond)
		if os.Chtimes(path, now, now) != nil {
			now = info.ModTime()
		}
	}
	c.mu.Lock()
	c.verified[path] = now
	c.mu.Unlock()
	return true
}

// download downloads an object. Another digest than want is an error; "" = any.
func (c *Cache) download(ctx context.Context, u objecturl.URL, want string) (path, digest string, err error) {
	b, err := c.Bucket(ctx, u)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", "", fmt.Errorf("the cache of objects: %w", err)
	}
	f, err := atomicfile.Temp(c.dir)
	if err != nil {
		return "", "", fmt.Errorf("the cache of objects: %w", err)
	}
	defer os.Remove(f.Name())
	err = b.Download(ctx, u.Key, f)
	size, sizeErr := f.Seek(0, io.SeekCurrent)
	if err = cmp.Or(err, sizeErr, f.Close()); err != nil {
		return "", "", err
	}
	if digest, err = store.HashFile(f.Name()); err != nil {
		return "", "", err
	}
	if want != "" && digest != want {
		return "", "", fmt.Errorf("%s is not the file the table was made with (SHA-256 %.12s…, the table says %.12s…)",
			u.Plain(), digest, want)
	}
	path = c.Path(u, digest)
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = c.added(path, size)
	}
	if err != nil {
		return "", "", fmt.Errorf("the cache of objects: %w", err)
	}
	return path, digest, nil
}

// file is a file of the cache.
type file struct {
	path string
	size int64
	used time.Time
}

// added counts a new file, and removes others if the cache has become too large.
func (c *Cache) added(path string, size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size >= 0 {
		c.size, c.new = c.size+size, c.new+size
		if c.size <= c.max && c.new <= c.max/16 {
			return nil
		}
	}
	c.new = 0
	var files []file
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // removed meanwhile
		}
		if info, err := d.Info(); err == nil {
			files = append(files, file{path, info.Size(), info.ModTime()})
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.size = 0
	for _, f := range files {
		c.size += f.size
	}
	if c.size <= c.max {
		return nil
	}
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files { // to nine tenths, so that not every further file lists the folder
		if c.size <= c.max/10*9 {
			break
		}
		if f.path == path || atomicfile.IsTemporary(f.path) {
			continue
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = os.Remove(filepath.Dir(f.path)) // where it is empty
		delete(c.verified, f.path)
		c.size -= f.size
	}
	return nil
}

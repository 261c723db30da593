// Package objecturl parses the URLs of objects in object storage: SCHEME://BUCKET/KEY?OPTIONS. The key is written as
// it is, without percent encoding. Options configure the connection, such as endpoint=http://127.0.0.1:9000; they
// never contain a credential, because plans and records contain the URL.
package objecturl

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// URL is an object, or with a key that is empty or ends in a slash all objects below it.
type URL struct {
	Scheme  string // s3, gs, azblob or file
	Bucket  string // of file the folder; its key is empty
	Key     string
	Options string // an encoded query, sorted by name
}

// schemes are the schemes of URLs with those that they stand for.
var schemes = map[string]string{"s3": "s3", "gs": "gs", "az": "azblob", "azblob": "azblob", "file": "file"}

// options are the accepted options. None holds a credential.
var options = []string{"anonymous", "domain", "dualstack", "endpoint", "fips", "localemu", "profile", "protocol",
	"region", "use_path_style"}

// Is reports whether a path is the URL of an object, or a file:// URL.
func Is(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	return found && schemes[strings.ToLower(scheme)] != ""
}

// remote reports whether a path is the URL of an object in a bucket, not a file.
func remote(path string) bool {
	scheme, _, _ := strings.Cut(path, "://")
	return Is(path) && !strings.EqualFold(scheme, "file")
}

// Parse parses a URL. Errors do not repeat the URL: it may contain a password.
func Parse(text string) (URL, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if !Is(text) {
		return URL{}, errors.New("not the URL of an object; use s3://BUCKET/KEY, gs://, az:// or file://")
	}
	u := URL{Scheme: schemes[strings.ToLower(scheme)]}
	rest, query, _ := strings.Cut(rest, "?")
	if u.Scheme == "file" {
		folder, err := fileOf(rest, query)
		return URL{Scheme: "file", Bucket: folder}, err
	}
	u.Bucket, u.Key, _ = strings.Cut(rest, "/")
	if strings.ContainsAny(u.Bucket, "@:") {
		return URL{}, fmt.Errorf("a URL %s://… with a user name or password: plans and records would contain it; "+
			"set the credentials in the environment", u.Scheme)
	}
	if u.Bucket == "" {
		return URL{}, fmt.Errorf("the URL %.200q has no bucket; write %s://BUCKET/KEY", text, u.Scheme)
	}
	if err := checkKey(u.Key); err != nil {
		return URL{}, err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return URL{}, fmt.Errorf("the options of %s://%s cannot be parsed; write ?NAME=VALUE&…", u.Scheme, u.Bucket)
	}
	for name := range values {
		if !slices.Contains(options, name) {
			return URL{}, fmt.Errorf("%s://%s: the option %.40q is not known, or is a credential, which belongs in "+
				"the environment; options: %s", u.Scheme, u.Bucket, name, strings.Join(options, ", "))
		}
	}
	if endpoint := values.Get("endpoint"); endpoint != "" {
		at, err := url.Parse(endpoint)
		if err != nil || at.Host == "" || at.User != nil || at.RawQuery != "" {
			return URL{}, fmt.Errorf("%s://%s: the option endpoint is a URL such as http://127.0.0.1:9000, without a "+
				"user name or password", u.Scheme, u.Bucket)
		}
	}
	u.Options = values.Encode()
	return u, nil
}

// fileOf returns the path of the rest of a file:// URL.
func fileOf(rest, query string) (string, error) {
	host, _, _ := strings.Cut(rest, "/")
	file, err := url.PathUnescape(strings.TrimPrefix(rest, host))
	if err != nil || host != "" && host != "localhost" || file == "" || query != "" {
		return "", errors.New("a file:// URL names an absolute path of this machine: file:///DIR/FILE")
	}
	return filepath.Clean(file), nil
}

// checkKey refuses keys that some services change or cannot hold.
func checkKey(key string) error {
	switch {
	case strings.ContainsRune(key, 0):
		return errors.New("a path with a NUL byte")
	case !utf8.ValidString(key):
		return errors.New("a path that is not UTF-8")
	case slices.Contains(strings.Split(key, "/"), ".."):
		return ErrOutside
	}
	return nil
}

// Resolve returns a path that does not depend on the working folder: an absolute path, of a file:// URL too, or the URL
// of an object.
func Resolve(path string) (string, error) {
	if !Is(path) {
		return filepath.Abs(path)
	}
	u, err := Parse(path)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// Local returns the path of a file:// URL, and other paths as they are.
func Local(path string) (string, error) {
	if !Is(path) || remote(path) {
		return path, nil
	}
	return Resolve(path)
}

// IsRemote reports whether a path that [Resolve] returned is the URL of an object.
func IsRemote(path string) bool { return remote(path) }

// IsFolder reports whether a path is the URL of all objects below a prefix, which ends in a slash.
func IsFolder(path string) bool { return remote(path) && strings.HasSuffix(withoutOptions(path), "/") }

// Base returns the last element of a path or URL, without options.
func Base(path string) string { return filepath.Base(withoutOptions(path)) }

// Ext returns the extension of a path or URL with its dot, in lower case.
func Ext(path string) string { return strings.ToLower(filepath.Ext(withoutOptions(path))) }

func withoutOptions(path string) string {
	if remote(path) {
		path, _, _ = strings.Cut(path, "?")
	}
	return path
}

// String returns the URL; that of a file is its path.
func (u URL) String() string {
	if u.Scheme == "file" {
		return u.Bucket
	}
	text := u.Plain()
	if u.Options != "" {
		text += "?" + u.Options
	}
	return text
}

// Plain returns the URL without options, for messages and tables.
func (u URL) Plain() string {
	if u.Scheme == "file" {
		return "file://" + u.Bucket
	}
	return u.Scheme + "://" + u.Bucket + "/" + u.Key
}

// Name returns the last element of the key as the name of a file.
func (u URL) Name() string {
	name := path.Base(u.Key)
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[len(name)-maxName:], "")
	}
	return name
}

// maxName is the length in bytes that the name of a file may have everywhere.
const maxName = 200

// Dir returns the prefix of the object's key up to its last slash.
func (u URL) Dir() URL {
	u.Key = u.Key[:strings.LastIndexByte(u.Key, '/')+1]
	return u
}

// Prefix returns the URL as a prefix, whose key is empty or ends in a slash.
func (u URL) Prefix() URL {
	if u.Key != "" && !strings.HasSuffix(u.Key, "/") {
		u.Key += "/"
	}
	return u
}

// ErrOutside is the error for a path with .. in it.
var ErrOutside = errors.New("the path leaves the table's folder")

// At returns the object at a path below the prefix u, or that of a URL in u's bucket, whose options are those of u.
func (u URL) At(rel string) (URL, error) {
	if Is(rel) {
		scheme, rest, _ := strings.Cut(rel, "://")
		bucket, key, _ := strings.Cut(rest, "/")
		if schemes[strings.ToLower(scheme)] != u.Scheme || bucket != u.Bucket {
			return URL{}, ErrOutside
		}
		u.Key = key
		return u, checkKey(key)
	}
	if err := checkKey(rel); err != nil {
		return URL{}, err
	}
	if rel == "" || strings.HasPrefix(rel, "/") {
		return URL{}, ErrOutside
	}
	u.Key += path.Clean(rel)
	return u, nil
}

// Rel returns the path of an object relative to the prefix u, false for one that is not below it.
func (u URL) Rel(object URL) (string, bool) {
	if u.Scheme != object.Scheme || u.Bucket != object.Bucket || !strings.HasPrefix(object.Key, u.Key) {
		return "", false
	}
	rel := object.Key[len(u.Key):]
	return rel, rel != "" && !strings.HasPrefix(rel, "/")
}

// Package pypi downloads pinned files of a Python package index, as configured for pip and uv.
package pypi

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"antipode/internal/fetch"

	"golang.org/x/net/html"
)

// File is a pinned file of a project.
type File struct {
	Project string // as the index names it, normalized
	Name    string // of the file
	Size    int64  // bytes
	SHA256  string
}

// Download downloads a file from the first of the indexes that has it, into a path. progress receives the bytes
// downloaded so far; it may be nil.
func Download(ctx context.Context, web *fetch.Client, indexes []string, f File, into string,
	progress func(have int64)) error {
	last := errors.New("PIP_NO_INDEX forbids using a package index")
	for _, index := range indexes {
		var at *url.URL
		if at, last = find(ctx, web, index, f); last != nil {
			continue
		}
		want := fetch.Want{Size: f.Size, SHA256: f.SHA256, Progress: progress}
		if last = web.Download(ctx, at, into, want); last == nil {
			return nil
		}
	}
	return last
}

// publicIndex is the Python package index that pip and uv use by default.
const publicIndex = "https://pypi.org/simple/"

// Indexes lists the package indexes to query, as configured for pip and uv: UV_DEFAULT_INDEX, UV_INDEX_URL,
// PIP_INDEX_URL, pip's configuration files, else the public index; then PIP_EXTRA_INDEX_URL. With PIP_NO_INDEX the
// list is empty.
func Indexes() []string {
	if v := os.Getenv("PIP_NO_INDEX"); v != "" && v != "0" && v != "false" {
		return nil
	}
	main := ""
	for _, name := range []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"} {
		if main = os.Getenv(name); main != "" {
			break
		}
	}
	for _, file := range pipConfigs() {
		if main != "" {
			break
		}
		main = pipIndexURL(file)
	}
	main = cmp.Or(main, publicIndex)
	return append([]string{main}, strings.Fields(os.Getenv("PIP_EXTRA_INDEX_URL"))...)
}

// pipConfigs lists pip's configuration files in order of precedence.
func pipConfigs() []string {
	var files []string
	add := func(folder string, name ...string) {
		if folder != "" {
			files = append(files, filepath.Join(append([]string{folder}, name...)...))
		}
	}
	add(os.Getenv("PIP_CONFIG_FILE"))
	add(os.Getenv("VIRTUAL_ENV"), "pip.conf")
	home, _ := os.UserHomeDir()
	config, _ := os.UserConfigDir()
	add(config, "pip", "pip.conf")
	add(home, ".config", "pip", "pip.conf")
	add(home, ".pip", "pip.conf")
	return append(files, "/etc/pip.conf")
}

// pipIndexURL returns index-url of the sections global and install of one of pip's files, or "".
func pipIndexURL(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	section, found := "", map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[] ")
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, ";"):
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				key, value, ok = strings.Cut(line, ":")
			}
			if ok && strings.ReplaceAll(strings.TrimSpace(key), "_", "-") == "index-url" {
				found[section] = strings.TrimSpace(value)
			}
		}
	}
	if v := found["install"]; v != "" {
		return v
	}
	return found["global"]
}

// find queries a package index (PEP 503 and 691, HTML or JSON) for the address of a file.
func find(ctx context.Context, web *fetch.Client, index string, want File) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSuffix(index, "/") + "/" + want.Project + "/")
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		return nil, fmt.Errorf("the package index is not an http address: see PIP_INDEX_URL and UV_INDEX_URL")
	}
	resp, stop, err := web.Get(ctx, base,
		http.Header{"Accept": {"application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, " +
			"text/html;q=0.1"}})
	if err != nil {
		return nil, err
	}
	defer stop()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the index %s answers %q for %s", base.Host, resp.Status, want.Project)
	}
	page, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil {
		return nil, fmt.Errorf("the index %s: %w", base.Host, fetch.Plain(err))
	}
	// Relative addresses are relative to the final page, after redirects.
	from := *resp.Request.URL
	from.User = nil
	links, err := indexLinks(page, resp.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("the index %s: %w", base.Host, err)
	}
	for _, link := range links {
		at, err := from.Parse(link)
		if err != nil || path.Base(at.Path) != want.Name {
			continue
		}
		if sum, ok := strings.CutPrefix(at.Fragment, "sha256="); ok && !strings.EqualFold(sum, want.SHA256) {
			return nil, fmt.Errorf("the index %s offers another %s: SHA-256 %s, it must be %s", base.Host, want.Name,
				sum, want.SHA256)
		}
		at.Fragment = ""
		if at.Host == base.Host && at.Scheme == base.Scheme {
			at.User = base.User // the index's credentials are for its own host only
		}
		return at, nil
	}
	return nil, fmt.Errorf("the index %s does not list %s", base.Host, want.Name)
}

// indexLinks returns the addresses of an index page, with "#sha256=…" where the page contains it.
func indexLinks(page []byte, contentType string) ([]string, error) {
	kind, _, _ := mime.ParseMediaType(contentType)
	var links []string
	if strings.HasSuffix(kind, "json") {
		var project struct {
			Files []struct {
				URL    string            `json:"url"`
				Hashes map[string]string `json:"hashes"`
			} `json:"files"`
		}
		if err := json.Unmarshal(page, &project); err != nil {
			return nil, fmt.Errorf("its answer is not JSON: %w", err)
		}
		for _, f := range project.Files {
			link := f.URL
			if sum := f.Hashes["sha256"]; sum != "" && !strings.Contains(link, "#") {
				link += "#sha256=" + sum
			}
			links = append(links, link)
		}
		return links, nil
	}
	base := ""
	for z := html.NewTokenizer(strings.NewReader(string(page))); z.Next() != html.ErrorToken; {
		token := z.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		for _, a := range token.Attr {
			switch {
			case a.Key == "href" && token.Data == "a":
				links = append(links, resolve(base, a.Val))
			case a.Key == "href" && token.Data == "base" && base == "":
				base = a.Val
			}
		}
	}
	return links, nil
}

func resolve(base, link string) string {
	b, err := url.Parse(base)
	if err != nil || base == "" {
		return link
	}
	at, err := b.Parse(link)
	if err != nil {
		return link
	}
	return at.String()
}

package objecturl

import (
	"strings"
	"testing"

	"antipode/internal/must"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]URL{
		"s3://b/dir/a b%20ü.parquet": {"s3", "b", "dir/a b%20ü.parquet", ""},
		"S3://b":                     {"s3", "b", "", ""},
		"az://b/x":                   {"azblob", "b", "x", ""},
		"gs://b/x?anonymous=true":    {"gs", "b", "x", "anonymous=true"},
		"s3://b/x?region=eu-1&endpoint=http://[::1]:9": {"s3", "b", "x",
			"endpoint=http%3A%2F%2F%5B%3A%3A1%5D%3A9&region=eu-1"},
		"file:///a/../b/x%20y.csv": {"file", "/b/x y.csv", "", ""},
	} {
		got := must.Get(Parse(text))(t)
		must.Equal(t, got, want, text)
		again, err := Resolve(text)
		if err != nil || got.Scheme != "file" && !IsRemote(again) {
			t.Errorf("%s: %s, %v", text, again, err)
		}
		if got.Scheme != "file" {
			must.Equal(t, must.Get(Parse(again))(t), got, again)
		}
	}
}

// TestNoSecrets refuses URLs that hold a credential, without repeating it.
func TestNoSecrets(t *testing.T) {
	for _, text := range []string{"s3://KEY:topsecret@b/x", "s3://topsecret@b/x", "s3://b/x?X-Amz-Signature=topsecret",
		"az://b/x?sig=topsecret", "s3://b/x?endpoint=http://user:topsecret@host/", "s3://b/x?secret_key=topsecret",
		"s3://b/x?endpoint=http://host/?k=topsecret", "s3://b/x?a=topsecret;%zz"} {
		u, err := Parse(text)
		if err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s: %+v, %v", text, u, err)
		}
		must.Fail(Resolve(text))(t)
	}
	for _, text := range []string{"s3://", "s3:///x", "s3://b/a/../x", "s3://b/\x00", "s3://b/\xff", "file://host/x",
		"file://", "http://b/x", "x"} {
		u, err := Parse(text)
		must.True(t, err != nil, "%q: %+v", text, u)
	}
}

func TestAt(t *testing.T) {
	dir := must.Get(Parse("s3://b/set/rows.parquet?region=eu-1"))(t)
	dir = dir.Dir()
	for rel, want := range map[string]string{"a.png": "set/a.png", "./x/a b?.png": "set/x/a b?.png",
		"s3://b/other/a?b.png": "other/a?b.png"} {
		u, err := dir.At(rel)
		must.True(t, err == nil && u.Key == want && u.Bucket == "b" && u.Options == dir.Options,
			"%s: %+v, %v", rel, u, err)
	}
	for _, rel := range []string{"", "/etc/passwd", "../a", "x/../../a", "s3://other/x", "gs://b/x", "file:///x",
		"s3://b/set/../x", "a\x00", "..", "s3://b/x/.."} {
		u, err := dir.At(rel)
		must.True(t, err != nil, "%q: %+v", rel, u)
	}
	inside, _ := Parse("s3://b/set/x/a.png")
	if rel, below := dir.Rel(inside); !below || rel != "x/a.png" {
		t.Errorf("%q, %v", rel, below)
	}
	for _, out := range []string{"s3://b/sets/a.png", "s3://c/set/a.png", "gs://b/set/a.png", "s3://b/set/"} {
		u, _ := Parse(out)
		rel, below := dir.Rel(u)
		must.True(t, !below, "%s: %q", out, rel)
	}
}

func TestNames(t *testing.T) {
	for path, want := range map[string][2]string{"s3://b/d/x.CSV?region=a.b": {"x.CSV", ".csv"},
		"d/x.parquet?": {"x.parquet?", ".parquet?"}, "d/x.csv": {"x.csv", ".csv"}} {
		must.Equal(t, [2]string{Base(path), Ext(path)}, want, path)
	}
}

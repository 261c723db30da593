//go:build scale

package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/backend/store"
	"antipode/test/testbackend"
)

// serverModule builds a server of S3 from rclone, with what it needs alone.
var serverModule = map[string]string{
	"go.mod": "module server\n\ngo 1.26\n\nrequire github.com/rclone/rclone v1.76.0\n",
	"main.go": `package main

import (
	_ "github.com/rclone/rclone/backend/local"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve"
	_ "github.com/rclone/rclone/cmd/serve/s3"
)

func main() { cmd.Main() }
`}

// The credentials of the server.
const (
	serverKey    = "SCALEKEY"
	serverSecret = "a-Secret/Of+the-server-0123456789"
)

// rclone is a server of S3 on a folder.
type rclone struct {
	binary, dir, address string
	process              *exec.Cmd
}

// newServer builds and starts a server, or skips the test by the name of what is missing. ANTIPODE_RCLONE may name a
// built one.
func newServer(t *testing.T) *rclone {
	t.Helper()
	s := &rclone{binary: os.Getenv("ANTIPODE_RCLONE"), dir: t.TempDir()}
	if s.binary == "" {
		dir := t.TempDir()
		for name, text := range serverModule {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		s.binary = filepath.Join(dir, "server")
		cmd := exec.Command("go", "build", "-mod=mod", "-o", s.binary, ".")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
		if text, err := cmd.CombinedOutput(); err != nil {
			testbackend.Missing(t, "rclone", fmt.Sprintf("rclone cannot be built: %v: %s", err, text))
		}
	}
	must.Do(t, os.Mkdir(filepath.Join(s.dir, "lab"), 0o755))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s.address = l.Addr().String()
	l.Close()
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *rclone) start(t *testing.T) {
	t.Helper()
	s.process = exec.Command(s.binary, "serve", "s3", "--config", os.DevNull, "--addr", s.address,
		"--auth-key", serverKey+","+serverSecret, s.dir)
	must.Do(t, s.process.Start())
	for range 300 {
		if c, err := net.Dial("tcp", s.address); err == nil {
			c.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server does not start")
}

// kill is kill -9.
func (s *rclone) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

func (s *rclone) url(bucket, key string) string {
	return "s3://" + bucket + "/" + key + "?endpoint=" + url.QueryEscape("http://"+s.address)
}

// objects counts the files that the server has below a key.
func (s *rclone) objects(key string) int {
	n := 0
	_ = filepath.WalkDir(filepath.Join(s.dir, "lab", key), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// machine is a user's machine: a store with its backend, and a working folder.
type machine struct {
	binary, home, run, dir, secret string
	printed                        *bytes.Buffer // by all its commands
	env                            []string      // further variables
}

func newMachine(t *testing.T, binary, secret string) *machine {
	t.Helper()
	run := must.Get(os.MkdirTemp("", "run"))(t) // a short path, for the socket
	m := &machine{binary, filepath.Join(t.TempDir(), "home"), run, t.TempDir(), secret, &bytes.Buffer{}, nil}
	t.Cleanup(func() {
		_, _ = m.antipode(context.Background(), "backend", "stop")
		os.RemoveAll(run)
	})
	return m
}

// antipode runs the command and returns what it prints.
func (m *machine) antipode(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, m.binary, args...)
	cmd.Dir = m.dir
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "AWS_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, client.HomeVar+"="+m.home, "XDG_RUNTIME_DIR="+m.run, plugin.Env+"=none",
		client.ModuleVar+"=none", // else the first run builds the command again, for the pure Go backend
		"AWS_REGION=us-east-1", "AWS_EC2_METADATA_DISABLED=true", "AWS_ACCESS_KEY_ID="+serverKey,
		"AWS_SECRET_ACCESS_KEY="+m.secret)
	cmd.Env = append(cmd.Env, m.env...)
	out, err := cmd.CombinedOutput()
	m.printed.Write(out)
	return string(out), err
}

func (m *machine) must(t *testing.T, want string, args ...string) {
	t.Helper()
	start := time.Now()
	out, err := m.antipode(t.Context(), args...)
	if err != nil || !strings.Contains(out, want) {
		t.Fatalf("antipode %s: %s%v, want %q", strings.Join(args, " "), out, err, want)
	}
	t.Logf("%.1f s: antipode %s: %s", time.Since(start).Seconds(), strings.Join(args, " "), last(out))
}

// fails expects exit status 1 and one line.
func (m *machine) fails(t *testing.T, want string, args ...string) {
	t.Helper()
	start := time.Now()
	out, err := m.antipode(t.Context(), args...)
	m.failed(t, want, out, err)
	t.Logf("%.1f s: antipode %s: %s", time.Since(start).Seconds(), strings.Join(args, " "), last(out))
}

func (m *machine) failed(t *testing.T, want, out string, err error) {
	t.Helper()
	var exit *exec.ExitError
	lines := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "antipode: ") {
			lines++
		}
	}
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailed || lines != 1 ||
		!strings.HasPrefix(last(out), "antipode: ") || !strings.Contains(last(out), want) {
		t.Errorf("%s%v, want %q", out, err, want)
	}
}

func last(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

// TestStorage runs the built command against a server of S3: tables and images in it, wrong credentials, a bucket that
// does not exist.
func TestStorage(t *testing.T) {
	s := newServer(t)
	binary := build(t)
	a, b := newMachine(t, binary, serverSecret), newMachine(t, binary, serverSecret)
	for _, m := range []*machine{a, b} {
		prompts := []byte("id,prompt\na,boat\nb,house\n")
		must.Do(t, os.WriteFile(filepath.Join(m.dir, "prompts.csv"), prompts, 0o644))
	}
	generate := func(prompts, out string) []string {
		return []string{"generate", "--model", "archipelago-diffusion", "--prompts", prompts, "--steps", "1", "--size",
			"32x32", "--n", "2", "--out", out}
	}
	embed := func(in, out string) []string {
		return []string{"embed", "--model", "archipelago-vit", "--in", in, "--out", out}
	}

	// tables in and out, CSV and Parquet, from one machine to another
	a.must(t, "2 rows", "table", "--in", "prompts.csv", "--out", s.url("lab", "run/prompts.csv"))
	a.must(t, "4 items computed", generate(s.url("lab", "run/prompts.csv"), s.url("lab", "run/g.parquet"))...)
	a.must(t, "4 items computed", embed(s.url("lab", "run/g.parquet"), s.url("lab", "run/e.parquet"))...)
	b.must(t, "4 items computed", embed(s.url("lab", "run/g.parquet"), s.url("lab", "run/e2.parquet"))...)
	b.must(t, "4 items computed", generate("prompts.csv", "g.parquet")...)
	b.must(t, "4 items computed, 0 found", "segment", "--model", "archipelago-clipseg", "--object", "prompt", "--in",
		s.url("lab", "run/e.parquet"), "--out", s.url("lab", "run/m.csv"))
	b.must(t, "4 rows", "table", "--in", s.url("lab", "run/m.csv"), "--head", "9", "--out", "local.csv")
	equal(t, filepath.Join(s.dir, "lab", "run", "e.parquet"), filepath.Join(s.dir, "lab", "run", "e2.parquet"))

	// one line each
	wrong := newMachine(t, binary, "wrong-"+serverSecret)
	wrong.fails(t, "access denied", "table", "--in", s.url("lab", "run/g.parquet"), "--out", "x.csv")
	wrong.fails(t, "access denied", "table", "--in", "archipelago-photos", "--head", "1", "--out",
		s.url("lab", "run/x.csv"))
	wrong.fails(t, "access denied", "store", "merge", s.url("lab", "store"))
	a.fails(t, "s3://none/: the bucket does not exist", "table", "--in", s.url("none", "g.parquet"), "--out", "x.csv")
	a.fails(t, "s3://none/: the bucket does not exist", "table", "--in", "prompts.csv", "--out",
		s.url("none", "x.csv"))
	a.fails(t, "s3://none/: the bucket does not exist", "store", "merge", "--into", s.url("none", "store"))
	a.fails(t, "run/none.parquet: no such object", "table", "--in", s.url("lab", "run/none.parquet"), "--out", "x.csv")

	for _, m := range []*machine{a, b, wrong} {
		m.searched(t)
	}
}

// build builds the command with object storage.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "antipode")
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Dir = "../cluster/clouds"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	return binary
}

// TestStorageGoesOn kills the server while images and a table, and then a store, are written: one line, nothing is
// wrong, and the same command completes it. Another machine finds every item.
func TestStorageGoesOn(t *testing.T) {
	s, binary := newServer(t), build(t)
	a := newMachine(t, binary, serverSecret)
	photographs(t, filepath.Join(a.dir, "photos"), 400)
	save := []string{"table", "--in", "photos", "--out", s.url("lab", "run/photos.parquet")}
	out, err := s.killAt(t, "run/photos.images", 40, func() (string, error) { return a.antipode(t.Context(), save...) })
	a.failed(t, "no usable answer after 5 tries", out, err)
	t.Logf("killed with %d of 400 images written: %s", s.objects("run/photos.images"), last(out))
	must.Equal(t, s.objects("run/photos.parquet"), 0, "a table without its images was written")
	s.start(t)
	a.must(t, "400 rows", save...)
	few := s.url("lab", "run/few.parquet")
	a.must(t, "4 rows", "table", "--in", s.url("lab", "run/photos.parquet"), "--head", "4", "--out", few)
	embed := []string{"embed", "--model", "archipelago-vit", "--in", few, "--out", s.url("lab", "run/e.parquet")}
	a.must(t, "4 items computed", embed...)

	blobs := must.Get(store.Open(a.home))(t)
	for i := range 300 {
		_ = must.Get(blobs.PutBlob(bytes.Repeat(fmt.Appendf(nil, "image %d", i), 1000), ".png"))(t)
	}
	must.Do(t, blobs.Close())
	merge := []string{"store", "merge", "--into", s.url("lab", "store")}
	out, err = s.killAt(t, "store", 40, func() (string, error) { return a.antipode(t.Context(), merge...) })
	a.failed(t, "no usable answer after 5 tries", out, err)
	t.Logf("killed with %d objects of the store written: %s", s.objects("store"), last(out))
	s.start(t)
	a.must(t, "there already", merge...)
	a.must(t, "0 files copied", merge...)
	b := newMachine(t, binary, serverSecret)
	b.must(t, "0 damaged", "store", "merge", s.url("lab", "store"))
	embed[len(embed)-1] = s.url("lab", "run/e2.parquet")
	b.must(t, "0 items computed, 4 found", embed...)
	equal(t, filepath.Join(s.dir, "lab", "run", "e.parquet"), filepath.Join(s.dir, "lab", "run", "e2.parquet"))
	for _, m := range []*machine{a, b} {
		m.searched(t)
	}
}

// killAt kills the server when it has so many objects below a key, and returns what f returns.
func (s *rclone) killAt(t *testing.T, key string, n int, f func() (string, error)) (out string, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		out, err = f()
	}()
	for s.objects(key) < n {
		select {
		case <-done:
			t.Fatalf("ended with %d objects: %s%v", s.objects(key), out, err)
		case <-time.After(2 * time.Millisecond):
		}
	}
	s.kill()
	<-done
	return out, err
}

// photographs writes so many different images.
func photographs(t *testing.T, dir string, n int) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o755))
	for i := range n {
		img := image.NewRGBA(image.Rect(0, 0, 16, 16))
		img.Set(i%16, i/16%16, color.RGBA{R: 255, G: uint8(i / 256), A: 255})
		var b bytes.Buffer
		must.Do(t, png.Encode(&b, img))
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.png", i)), b.Bytes(), 0o644))
	}
}

// equal compares two files.
func equal(t *testing.T, a, b string) {
	t.Helper()
	x := must.Get(os.ReadFile(a))(t)
	y := must.Get(os.ReadFile(b))(t)
	must.True(t, bytes.Equal(x, y), "%s and %s differ", a, b)
}

// searched looks for the credentials in all that a machine has written and printed.
func (m *machine) searched(t *testing.T) {
	t.Helper()
	files := 0
	for _, dir := range []string{m.home, m.dir} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Base(path) == "antipode" {
				return err
			}
			data, err := os.ReadFile(path)
			files++
			must.True(t, !bytes.Contains(data, []byte(m.secret)) && !bytes.Contains(data, []byte(serverKey)),
				"%s contains the credentials", path)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if printed := m.printed.String(); strings.Contains(printed, m.secret) || strings.Contains(printed, serverKey) {
		t.Errorf("the credentials are printed: %s", printed)
	}
	must.True(t, files >= 3, "%d files were searched", files)
}

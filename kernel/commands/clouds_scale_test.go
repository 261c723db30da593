//go:build scale

package commands

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/test/testbackend"
)

// The account that every Azurite has. Its key is public.
const (
	azuriteAccount = "devstoreaccount1"
	azuriteKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// emulator is a server of Google Cloud Storage or Azure Blob Storage on this machine.
type emulator struct {
	scheme, options string
	env             []string // for commands
	process         *exec.Cmd
}

func (e *emulator) url(bucket, key string) string {
	return e.scheme + "://" + bucket + "/" + key + "?" + e.options
}

// start starts a server, which ends with the test, and waits until it answers.
func (e *emulator) start(t *testing.T, address string, command ...string) {
	t.Helper()
	e.process = exec.Command(command[0], command[1:]...)
	must.Do(t, e.process.Start())
	t.Cleanup(e.kill)
	for range 600 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s does not start", filepath.Base(command[0]))
}

func (e *emulator) kill() {
	_ = e.process.Process.Kill()
	_ = e.process.Wait()
}

func freePort(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port := must.Get2(net.SplitHostPort(l.Addr().String()))(t)
	return port
}

// createAt sends a request that creates something.
func createAt(t *testing.T, method, address, body string, header map[string]string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body)))(t)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer := must.Get(http.DefaultClient.Do(r))(t)
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, address, answer.Status)
	}
}

// newGoogle builds and starts fake-gcs-server with the bucket lab, or skips the test. ANTIPODE_FAKE_GCS may name a
// built one.
func newGoogle(t *testing.T) *emulator {
	t.Helper()
	server := os.Getenv("ANTIPODE_FAKE_GCS")
	if server == "" {
		dir := t.TempDir()
		server = filepath.Join(dir, "fake-gcs-server")
		cmd := exec.Command("go", "install", "github.com/fsouza/fake-gcs-server@v1.56.1")
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off")
		if text, err := cmd.CombinedOutput(); err != nil {
			testbackend.Missing(t, "fake-gcs-server", fmt.Sprintf("it cannot be built: %v: %s", err, text))
		}
	}
	port := freePort(t)
	address := "127.0.0.1:" + port
	e := &emulator{scheme: "gs", options: "anonymous=true", env: []string{"STORAGE_EMULATOR_HOST=" + address}}
	e.start(t, address, server, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", port,
		"-public-host", address)
	createAt(t, http.MethodPost, "http://"+address+"/storage/v1/b?project=lab", `{"name":"lab"}`,
		map[string]string{"Content-Type": "application/json"})
	return e
}

// newAzure installs and starts Azurite with the container lab, or skips the test. ANTIPODE_AZURITE may name an
// installed azurite-blob.
func newAzure(t *testing.T) *emulator {
	t.Helper()
	server := os.Getenv("ANTIPODE_AZURITE")
	if server == "" {
		dir := t.TempDir()
		text, err := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", dir,
			"azurite@3.37.0").CombinedOutput()
		if err != nil {
			testbackend.Missing(t, "azurite", fmt.Sprintf("npm cannot install it: %v: %s", err, text))
		}
		server = filepath.Join(dir, "node_modules", ".bin", "azurite-blob")
	}
	port := freePort(t)
	address := "127.0.0.1:" + port
	e := &emulator{scheme: "az", options: "protocol=http&localemu=true&domain=" + url.QueryEscape(address),
		env: []string{"AZURE_STORAGE_ACCOUNT=" + azuriteAccount, "AZURE_STORAGE_KEY=" + azuriteKey}}
	e.start(t, address, server, "--inMemoryPersistence", "--blobHost", "127.0.0.1", "--blobPort", port,
		"--skipApiVersionCheck", "--disableTelemetry")
	headers := map[string]string{"x-ms-date": time.Now().UTC().Format(http.TimeFormat), "x-ms-version": "2021-08-06"}
	key := must.Get(base64.StdEncoding.DecodeString(azuriteKey))(t)
	sign := hmac.New(sha256.New, key) // of a request without content
	fmt.Fprintf(sign, "PUT%sx-ms-date:%s\nx-ms-version:%s\n/%s/%[4]s/lab\nrestype:container",
		strings.Repeat("\n", 12), headers["x-ms-date"], headers["x-ms-version"], azuriteAccount)
	headers["Authorization"] = "SharedKey " + azuriteAccount + ":" + base64.StdEncoding.EncodeToString(sign.Sum(nil))
	createAt(t, http.MethodPut, "http://"+address+"/"+azuriteAccount+"/lab?restype=container", "", headers)
	return e
}

// TestClouds runs the command of kernel/cluster/clouds against emulators of Google Cloud Storage and Azure Blob
// Storage: tables and images, a store, a job, and what fails.
func TestClouds(t *testing.T) {
	binary := build(t)
	for name, start := range map[string]func(*testing.T) *emulator{"gs": newGoogle, "az": newAzure} {
		t.Run(name, func(t *testing.T) { cloud(t, start(t), binary) })
	}
}

func cloud(t *testing.T, e *emulator, binary string) {
	workplace(t, 3)
	dir := must.Get(filepath.Abs("."))(t)
	machineHere := func() *machine {
		m := newMachine(t, binary, serverSecret)
		m.dir, m.env = dir, e.env
		return m
	}
	a, b := machineHere(), machineHere()
	generate := func(prompts, out string) []string {
		return []string{"generate", "--model", "exec:./echo", "--size", "16x16", "--n", "2", "--prompts", prompts,
			"--out", out}
	}
	embed := func(in, out string) []string {
		return []string{"embed", "--model", "exec:./echo", "--in", in, "--out", out}
	}
	vectors := func(m *machine, in, out string) []byte {
		t.Helper()
		m.must(t, "6 rows", "table", "--in", in, "--select", "id,full", "--out", out)
		data := must.Get(os.ReadFile(filepath.Join(dir, out)))(t)
		return data
	}
	far, far2 := e.url("lab", "run/e.parquet"), e.url("lab", "run/e2.parquet")
	a.must(t, "3 rows", "table", "--in", "prompts.csv", "--out", e.url("lab", "run/prompts.csv"))
	a.must(t, "6 items computed", generate(e.url("lab", "run/prompts.csv"), e.url("lab", "run/g.parquet"))...)
	a.must(t, "6 items computed", embed(e.url("lab", "run/g.parquet"), far)...)
	b.must(t, "6 items computed", embed(e.url("lab", "run/g.parquet"), far2)...)
	b.must(t, "6 items computed", generate("prompts.csv", "g.parquet")...)
	b.must(t, "0 items computed, 6 found", embed("g.parquet", "e.parquet")...)
	want := vectors(b, "e.parquet", "near.csv")
	for _, in := range []string{far, far2} {
		must.True(t, bytes.Equal(vectors(machineHere(), in, "far.csv"), want),
			"%s has other vectors than the local table", in)
	}

	store := e.url("lab", "team/store")
	a.must(t, "there already", "store", "merge", "--into", store)
	a.must(t, "0 files copied", "store", "merge", "--into", store) // objects that exist
	c := machineHere()
	c.must(t, "0 damaged", "store", "merge", store)
	c.must(t, "0 items computed, 6 found", embed(far, "found.parquet")...)

	job := append([]string{"job", "make", "--shards", "2", "--store", e.url("lab", "job"), "--"},
		generate("prompts.csv", "g2.parquet")...)
	a.must(t, "run every shard", append(append(job, "--"), embed("g2.parquet", "e2.parquet")...)...)
	work := []string{"work", "job.json", "--allow-exec", "echo", "--shard"}
	for _, shard := range []string{"0/2", "1/2"} {
		machineHere().must(t, "items computed, 0 found", append(work, shard)...)
	}
	machineHere().must(t, "0 items computed", append(work, "1/2")...) // an overwritten status
	a.must(t, "2 shards: 2 done", "job", "status", "job.json")
	d := machineHere()
	d.must(t, "0 damaged", "store", "merge", e.url("lab", "job"))
	d.must(t, "0 items computed, 6 found", generate("prompts.csv", "g2.parquet")...)
	d.must(t, "0 items computed, 6 found", embed("g2.parquet", "e2.parquet")...)

	a.fails(t, "the bucket does not exist", "store", "merge", "--into", e.url("none", "store"))
	a.fails(t, "run/none.parquet: no such object", "table", "--in", e.url("lab", "run/none.parquet"), "--out", "x.csv")
	if e.scheme == "az" {
		wrong := machineHere()
		wrong.env = append(wrong.env, "AZURE_STORAGE_KEY="+base64.StdEncoding.EncodeToString([]byte("wrong")))
		wrong.fails(t, "access denied", "store", "merge", store)
	}
	e.kill()
	begun := time.Now()
	c.fails(t, "no usable answer after 5 tries", "store", "merge", store)
	took := time.Since(begun)
	must.True(t, took <= 100*time.Second, "an unreachable service was reported after %v", took)
	for _, m := range []*machine{a, b, c, d} {
		must.True(t, !strings.Contains(m.printed.String(), azuriteKey), "the credentials are printed")
	}
}

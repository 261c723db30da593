package plugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/internal/must"
)

// go-xla's installer itself, in a separate process, against a local release page that it reaches through a proxy:
// what it installs is found, its hash is recorded, its temporary files are removed.
func TestGoXLAInstaller(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("missing: linux, whose certificate variables Go heeds")
	}
	w := newWorld(t)
	plugin := fakePlugin("released")
	version := ""
	page := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/releases/") {
			version = path.Base(r.URL.Path)
			_ = json.NewEncoder(rw).Encode(map[string]any{"assets": []map[string]any{{
				"browser_download_url": fmt.Sprintf("https://%s/assets/pjrt_cpu_%s_%s.tar.gz", r.Host, runtime.GOOS,
					runtime.GOARCH),
			}}})
			return
		}
		_, _ = rw.Write(tarball(t, "pjrt_c_api_cpu_"+version+"_plugin.so", plugin))
	}))
	authority, certificate := newAuthority(t)
	page.TLS = &tls.Config{GetCertificate: certificate}
	page.Config.ErrorLog = log.New(io.Discard, "", 0)
	page.StartTLS()
	defer page.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter,
		_ *http.Request) {
		tunnel(rw, page.Listener.Addr().String())
	}))
	defer proxy.Close()

	t.Setenv("https_proxy", proxy.URL)
	t.Setenv("REQUESTS_CA_BUNDLE", w.put(filepath.Join(t.TempDir(), "ca.pem"), authority))
	w.provider.wheels = nil
	w.provider.goxla = func(ctx context.Context, cpuOnly bool) error {
		return runInstaller(ctx, w.folder(), cpuOnly, usual)
	}
	c, err := w.provide(context.Background())
	folder := filepath.Join(os.Getenv("HOME"), ".local", "lib", "go-xla")
	w.want(c, err, device.XLACPU, filepath.Join(folder, "pjrt_c_api_cpu_plugin.so"))
	must.True(t, c.SHA256 == sum(plugin) && strings.Contains(c.Version, version) && c.Source == "go-xla's installer",
		"%+v of version %q", c, version)
	w.tidy()
	w.lines = nil
	c, err = w.another().provide(context.Background())
	w.want(c, err, device.XLACPU, filepath.Join(folder, "pjrt_c_api_cpu_plugin.so"))
	must.Equal(t, w.printed(), "", "the second start printed")
}

func tarball(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	a := tar.NewWriter(z)
	header := a.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))})
	_, body := a.Write(data)
	for _, err := range []error{header, body, a.Close(), z.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	return out.Bytes()
}

// newAuthority creates a certificate authority: its certificate, and a source of certificates for any host.
func newAuthority(t *testing.T) ([]byte, func(*tls.ClientHelloInfo) (*tls.Certificate, error)) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root := must.Get(x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}),
		func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			leaf := *ca
			leaf.IsCA, leaf.KeyUsage, leaf.SerialNumber, leaf.DNSNames = false, x509.KeyUsageDigitalSignature,
				big.NewInt(2), []string{hello.ServerName}
			der, err := x509.CreateCertificate(rand.Reader, &leaf, ca, &key.PublicKey, key)
			return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
		}
}

// tunnel answers a proxy's CONNECT with a connection to another address than the requested one.
func tunnel(rw http.ResponseWriter, to string) {
	far, err := net.Dial("tcp", to)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadGateway)
		return
	}
	near, _, err := rw.(http.Hijacker).Hijack()
	if err != nil {
		far.Close()
		return
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(far, near); far.Close() }()
	go func() { _, _ = io.Copy(near, far); near.Close() }()
}

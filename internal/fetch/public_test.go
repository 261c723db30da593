package fetch_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"antipode/internal/fetch"
	"antipode/internal/must"
)

func TestPublic(t *testing.T) {
	for text, public := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:2800:220:1::1": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.8.9.10": false, "::1": false, "0.0.0.0": false, "::": false, "0.1.2.3": false,
		"10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "fd00::1": false, "169.254.169.254": false,
		"fe80::1": false, "fe80::1%eth0": false, "224.0.0.1": false, "ff02::1": false, "255.255.255.255": false,
		"100.64.0.1": false, "198.18.0.1": false, "240.0.0.1": false, "::ffff:127.0.0.1": false,
		"::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::127.0.0.1": false,
		"fec0::1": false, "2001:db8::1": false,
	} {
		must.Equal(t, fetch.Public(netip.MustParseAddr(text)), public, text, "public")
	}
}

// TestPublicOnly: a client for public addresses refuses others, given as an address or by a name, before any request.
func TestPublicOnly(t *testing.T) {
	at := answers(t, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
	limits := quick
	limits.Public = true
	c := must.Get(fetch.New(limits))(t)
	defer c.Close()
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		named := *at
		named.Host = host + ":" + at.Port()
		must.Is(c.Get(t.Context(), &named, nil))(t, fetch.ErrNotPublic)
	}
}

// TestPublicOnlyProxy: the user's proxy may be local; an address that is not public is not requested through it.
func TestPublicOnlyProxy(t *testing.T) {
	at := answers(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "proxied ", r.URL) })
	t.Setenv("HTTP_PROXY", "http://"+at.Host)
	t.Setenv("NO_PROXY", "")
	limits := quick
	limits.Public = true
	c := must.Get(fetch.New(limits))(t)
	defer c.Close()
	body := make([]byte, 100)
	resp, stop := must.Get2(c.Get(t.Context(), &url.URL{Scheme: "http", Host: "images.example", Path: "/a.png"},
		nil))(t)
	defer stop()
	n, _ := resp.Body.Read(body)
	text := string(body[:n])
	must.True(t, strings.HasPrefix(text, "proxied http://images.example/a.png"), "the proxy got %q", text)
	private := &url.URL{Scheme: "http", Host: "169.254.169.254", Path: "/"}
	must.Is(c.Get(t.Context(), private, nil))(t, fetch.ErrNotPublic) // a private address through the proxy
}

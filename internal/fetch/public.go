package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
)

// ErrNotPublic is wrapped by the error of a request to an address that is not on the public internet.
var ErrNotPublic = errors.New("not a public address")

// reserved are the networks, next to those that net/netip classifies, that no public server has: shared, test and
// benchmark addresses, and the IPv6 forms that contain an IPv4 address.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// Public reports whether an address is on the public internet: not loopback, private, link-local, multicast,
// unspecified or reserved.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(a) })
}

// controlPublic refuses a connection to an address that is not public. The dialer calls it with the resolved address
// of every connection, so that neither a redirect nor a name that is resolved a second time leads around it.
func controlPublic(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrNotPublic, address)
	}
	if !Public(at.Addr()) {
		return fmt.Errorf("%w: %s", ErrNotPublic, at.Addr())
	}
	return nil
}

// publicOnly sends a request directly, with a transport whose dialer refuses addresses that are not public, or through
// the user's proxy, which resolves the name: there only addresses in the URL itself can be refused.
type publicOnly struct {
	direct, proxied *http.Transport
	proxy           func(*url.URL) (*url.URL, error)
}

func newPublicOnly(t *http.Transport, d net.Dialer, proxy func(*url.URL) (*url.URL, error)) *publicOnly {
	direct := t.Clone()
	d.Control = controlPublic
	direct.Proxy, direct.DialContext = nil, d.DialContext
	return &publicOnly{direct, t, proxy}
}

// RoundTrip is part of [http.RoundTripper].
func (p *publicOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	proxy, err := p.proxy(r.URL)
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return p.direct.RoundTrip(r)
	}
	if a, err := netip.ParseAddr(r.URL.Hostname()); err == nil && !Public(a) {
		return nil, fmt.Errorf("%w: %s", ErrNotPublic, a)
	}
	return p.proxied.RoundTrip(r)
}

// CloseIdleConnections is part of [http.Client].
func (p *publicOnly) CloseIdleConnections() {
	p.direct.CloseIdleConnections()
	p.proxied.CloseIdleConnections()
}

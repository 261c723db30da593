package commands

import (
	"testing"

	"antipode/internal/must"
)

// TestTunnel: over ssh the user is told how to open the page on another machine.
func TestTunnel(t *testing.T) {
	const address = "http://127.0.0.1:8123/?token=x"
	if got, want := tunnel(address, "10.0.0.5 50100 10.0.0.9 22", ""), "on your own machine: ssh -N -L "+
		"8123:127.0.0.1:8123 10.0.0.9, then open the address there"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := tunnel(address, "", "/user/me/"), "in JupyterHub, with jupyter-server-proxy: --port 8123 "+
		"--proxy https://HUB/user/me/proxy/8123/"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	must.Equal(t, tunnel(address, "", ""), "", "without ssh")
}

package backend

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"antipode/datasets/client"
	"antipode/internal/must"
)

// Environment variables of a test program that is started as a backend.
const (
	startsVar = "ANTIPODE_TEST_STARTS" // a file that gets a byte at each start
	deathsVar = "ANTIPODE_TEST_DEATHS" // a byte for each of the first starts: k = killed, e = ends with an error
)

// startup counts a start and ends the program as deathsVar says.
func startup() error {
	name, deaths := os.Getenv(startsVar), os.Getenv(deathsVar)
	if name == "" {
		return nil
	}
	starts, _ := os.ReadFile(name)
	if err := os.WriteFile(name, append(starts, '.'), 0o600); err != nil {
		return err
	}
	if len(starts) >= len(deaths) {
		return nil
	}
	if deaths[len(starts)] == 'e' {
		return errors.New("the store is broken")
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return err
	}
	select {}
}

// TestKilledAtStartup starts a backend again that a signal ends at startup, and not one that ends with an error.
func TestKilledAtStartup(t *testing.T) {
	for _, c := range []struct {
		deaths string
		starts int
		fails  string // "" = the run succeeds
	}{
		{"kk", 3, ""},
		{"kkkk", 3, "died 3 times"},
		{"e", 1, "the store is broken"},
		{"ke", 2, "the store is broken"},
	} {
		t.Run(c.deaths, func(t *testing.T) {
			b := connect(t)
			var said []string
			b.Say = func(line string) { said = append(said, line) }
			name := b.Home + "/starts"
			t.Setenv(startsVar, name)
			t.Setenv(deathsVar, c.deaths)
			_, err := b.Run(context.Background(), client.Request{Plan: plan(t, 3, 0)}, nil)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("error %v, want one with %q", err, c.fails)
			}
			if starts, _ := os.ReadFile(name); len(starts) != c.starts {
				t.Errorf("%d starts, want %d", len(starts), c.starts)
			}
			must.Equal(t, len(said), c.starts-1, "lines for the user")
		})
	}
}

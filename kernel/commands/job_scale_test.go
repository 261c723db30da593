//go:build scale

package commands

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
)

// TestStorageJob computes a job of 4 tasks, each on a machine of its own, into a store on a server of S3. One is ended
// by kill -9 between its packs, and computed again on another machine, which finds what it had written; one runs twice.
// A further machine merges the store and writes the tables of an undisturbed run, byte for byte.
func TestStorageJob(t *testing.T) {
	s, binary := newServer(t), build(t)
	workplace(t, 60)
	dir := must.Get(filepath.Abs("."))(t)
	machineHere := func() *machine {
		m := newMachine(t, binary, serverSecret)
		m.dir = dir
		return m
	}
	one := machineHere()
	for _, line := range chain {
		one.must(t, "120 items computed", strings.Fields(line)...)
	}
	want := tables(t)
	if len(want) != 4+120 {
		t.Fatalf("%d files, want 4 tables and 120 images", len(want))
	}

	maker, url := machineHere(), s.url("lab", "job/store")
	words := []string{"job", "make", "--shards", "4", "--store", url}
	for _, line := range chain {
		words = append(append(words, "--"), strings.Fields(line)...)
	}
	maker.must(t, "run every shard", append(words, "--batch", "4")...)
	machines := []*machine{one, maker}
	work := func(shard int, more ...string) (*machine, []string) {
		m := machineHere()
		machines = append(machines, m)
		return m, append([]string{"work", "job.json", "--allow-exec", "echo", "--shard", fmt.Sprintf("%d/4", shard)},
			more...)
	}

	m, args := work(2, "--commit", "1ms")
	ctx, kill := context.WithCancel(t.Context()) // by SIGKILL
	done := make(chan error, 1)
	go func() {
		_, err := m.antipode(ctx, args...)
		done <- err
	}()
	items := regexp.MustCompile(`(\d+) items computed, (\d+) found`)
	for s.objects("job/store/items") < 9 { // of generate, with images, and segment
		select {
		case err := <-done:
			t.Fatalf("it has ended: %v: %s", err, m.printed)
		case <-time.After(time.Millisecond):
		}
	}
	kill()
	var exit *exec.ExitError
	if err := <-done; !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, m.printed)
	}
	t.Logf("killed with %d packs and %d images written", s.objects("job/store/items"), s.objects("job/store/blobs"))
	for n, shard := range []int{0, 1, 2, 3, 1} {
		m, args := work(shard)
		out, err := m.antipode(t.Context(), args...)
		found := items.FindStringSubmatch(out)
		if err != nil || found == nil {
			t.Fatalf("shard %d: %s%v", shard, out, err)
		}
		t.Logf("shard %d: %s", shard, last(out))
		switch computed, before := found[1], found[2]; {
		case shard == 2 && (computed == "0" || before == "0"),
			shard != 2 && n < 4 && (computed != "120" || before != "0"), n == 4 && before != "120":
			t.Errorf("shard %d: %s", shard, last(out))
		}
	}
	maker.must(t, "4 shards: 4 done", "job", "status", "job.json")

	finish := machineHere()
	machines = append(machines, finish)
	finish.must(t, "0 damaged", "store", "merge", url)
	for _, line := range chain {
		finish.must(t, "0 items computed, 120 found", strings.Fields(line)...)
	}
	got := tables(t)
	for name := range want {
		must.True(t, got[name] == want[name], "%s differs from that of an undisturbed run", name)
	}
	for _, m := range machines {
		m.searched(t)
	}
}

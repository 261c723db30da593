package client

import (
	"testing"

	"antipode/internal/must"
)

func TestHugePages(t *testing.T) {
	env := []string{"LANG=C"}
	want := []string{"LANG=C", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}
	got := HugePages(env)
	must.EqualSlices(t, got, want, "HugePages")
	must.Equal(t, len(env), 1, "HugePages")
	must.EqualSlices(t, HugePages(got), want, "HugePages of it")
	own := []string{"GLIBC_TUNABLES=glibc.malloc.tcache_count=0"}
	must.EqualSlices(t, HugePages(own), own, "HugePages", "the user's settings")
}

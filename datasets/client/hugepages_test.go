package client

import (
	"slices"
	"testing"
)

func TestHugePages(t *testing.T) {
	env := []string{"LANG=C"}
	want := []string{"LANG=C", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}
	got := HugePages(env)
	if !slices.Equal(got, want) || len(env) != 1 {
		t.Errorf("HugePages = %q, want %q", got, want)
	}
	if again := HugePages(got); !slices.Equal(again, want) {
		t.Errorf("HugePages of it = %q, want the same", again)
	}
	own := []string{"GLIBC_TUNABLES=glibc.malloc.tcache_count=0"}
	if got := HugePages(own); !slices.Equal(got, own) {
		t.Errorf("HugePages = %q, want the user's settings %q", got, own)
	}
}

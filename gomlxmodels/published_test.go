package gomlxmodels

import (
	"reflect"
	"strings"
	"testing"
)

func TestPublished(t *testing.T) {
	for i, line := range strings.Split(strings.TrimSuffix(published, "\n"), "\n") {
		if n := len(strings.Split(line, "\t")); n != reflect.TypeFor[Model]().NumField() {
			t.Errorf("published.tsv, line %d has %d fields", i+1, n)
		}
	}
	for _, m := range Known() {
		if m.Bytes == 0 && (m.Hub != "" && m.With == "" && m.Name != "vqgan-f16-16384" || m.Status == Archive) {
			t.Errorf("%s has no size", m.Name)
		}
	}
}

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
)

func init() {
	stage.Register(stage.Stage{Name: "counted-on-devices", Version: 1,
		Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (*stage.Opened, error) {
			_, err := env.DeviceKind()
			return stage.Of(counted{env}), err
		}})
}

// TestObjectsOnDevices: images in object storage are there when a process computes their rows. An object that has
// changed and an image that cannot be decoded are bad rows in the order of the table; a storage that denies access ends
// the run, and what comes before is found.
func TestObjectsOnDevices(t *testing.T) {
	s := remotetest.New(t)
	dir, local := images(t, 10)
	must.Write(t, filepath.Join(dir, "img", "1.png"), "bad")
	_ = must.Get(run1(t, newEngine(t), datasets.CSV(local), client.Request{Save: s.Object("set/t.parquet"),
		Counts: true}))(t)
	var names []string
	if err := bucket(t, s).List(t.Context(), "set/t.images/", func(o remote.Object) error {
		names = append(names, o.Key)
		return nil
	}); err != nil || len(names) != 10 {
		t.Fatalf("%s, %v", names, err)
	}
	named := func(id string) string {
		i := slices.IndexFunc(names, func(key string) bool { return strings.Contains(filepath.Base(key), id) })
		return names[i]
	}
	put(t, s, named("i2"), "changed")
	rows := derive(datasets.Parquet(s.Object("set/t.parquet")), "counted-on-devices", nil, "full:vector", "size:number")
	var want *client.Result
	for _, n := range []int{1, 2} {
		computed.Store(0)
		e := engineOn(t, n)
		got := must.Get(run1(t, e, rows, client.Request{SkipBad: true}))(t)
		if want == nil {
			want = got
		}
		if !bytes.Equal(plainBytes(t, got.Frame), plainBytes(t, want.Frame)) || !slices.Equal(got.Bad, want.Bad) ||
			len(got.Bad) != 2 || got.Computed != 8 || (computed.Load() == 0) != (n > 1) {
			t.Errorf("%d devices: %+v, want %+v", n, got, want)
		}
		o := e.Store.Origin()
		must.True(t, o.Device != "" && o.Build == "test" && o.Features != "", "%d devices: the packs name %+v", n, o)
		e = engineOn(t, n)
		s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
			if r.Method == http.MethodGet && r.URL.Path == "/lab/"+named("i6") {
				return remotetest.Denied
			}
			return remotetest.None
		})
		_, err := run1(t, e, rows, client.Request{SkipBad: true})
		s.Faults(nil)
		must.Is(err)(t, remote.ErrDenied)
		again, err := run1(t, e, rows, client.Request{SkipBad: true})
		if err != nil || again.Found < 4 || n == 1 && again.Found > 4 || again.Found+again.Computed != 8 ||
			!bytes.Equal(plainBytes(t, again.Frame), plainBytes(t, want.Frame)) {
			t.Errorf("%d devices: after the outage %+v, %v", n, again, err)
		}
	}
}

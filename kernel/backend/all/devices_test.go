package all

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/internal/must"
	"antipode/kernel/backend/engine"
	_ "antipode/test/memdir"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "backend" && os.Args[2] == "child" {
		if err := engine.ServeChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestDevicesSameBytes: two processes compute the bytes of one, though one of them is killed meanwhile: vectors of
// images and of texts, several of which share a row of the encoder.
func TestDevicesSameBytes(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	photos := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 1}).Reference().Head(8)
	sameBytes(t, []datasets.Table{gomlxmodels.EmbedText("archipelago-clip",
		gomlxmodels.Embed("archipelago-vit", photos), "caption",
		gomlxmodels.EmbedTextOptions{Vector: gomlxmodels.ClipText})})
}

func sameBytes(t *testing.T, tables []datasets.Table) {
	t.Helper()
	var want [][]byte
	computed := 0
	for _, list := range []string{"cpu", "cpu:2"} {
		t.Setenv(device.ListEnv, list)
		t.Setenv("GOMLX_BACKEND", os.Getenv("GOMLX_BACKEND")) // which the list sets
		e := must.Get(NewBackend(t.TempDir(), "test"))(t)
		defer e.Close()
		var got [][]byte
		var kill sync.Once
		for _, tab := range tables {
			plan := must.Get(tab.Plan())(t)
			res := must.Get(e.Run(t.Context(), client.Request{Plan: plan, Batch: 2}, func(table.Progress) {
				if all := e.Devices(); len(all) == 2 && all[0].Computed > 0 {
					kill.Do(func() {
						if err := syscall.Kill(all[0].PID, syscall.SIGKILL); err != nil {
							t.Error(err)
						}
					})
				}
			}))(t)
			got = append(got, digests(t, res.Frame))
		}
		n, _ := e.Counts()
		devices := e.Devices()
		switch {
		case want == nil:
			want, computed = got, int(n)
			must.True(t, devices == nil, "one device is computed by %+v", devices)
		case int(n) != computed || len(devices) != 2 || !strings.Contains(devices[0].Reason, "killed"):
			t.Errorf("%d items computed, by one process %d; devices %+v", n, computed, devices)
		default:
			for i := range want {
				must.True(t, bytes.Equal(got[i], want[i]), "table %d differs", i)
			}
			for _, d := range devices {
				must.True(t, d.Computed != 0 && len(d.Models) != 0 && d.Memory.Models > 0, "device %+v", d)
			}
		}
	}
}

// digests encodes a frame whose images have their digests alone.
func digests(t *testing.T, f *table.Frame) []byte {
	t.Helper()
	out := &table.Frame{Columns: slices.Clone(f.Columns)}
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Images = slices.Clone(c.Images)
		for j := range c.Images {
			c.Images[j].Path = ""
		}
	}
	var b bytes.Buffer
	must.Do(t, out.Encode(&b))
	return b.Bytes()
}

// TestWrongDevices: a list that is wrong is an error before the backend works.
func TestWrongDevices(t *testing.T) {
	t.Setenv(device.ListEnv, "cpu:0")
	_, err := NewBackend(t.TempDir(), "test")
	must.Err(t, err, "ANTIPODE_DEVICES=cpu:0")
}

package caption_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/test/stagetest"
)

// childVar names the file of a request that this program, started again by a test, evaluates until it is killed.
const childVar = "ANTIPODE_TEST_REQUEST"

func TestMain(m *testing.M) {
	file := os.Getenv(childVar)
	if file == "" {
		os.Exit(m.Run())
	}
	var req client.Request
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &req)
	}
	var e *engine.Engine
	if err == nil {
		e, err = all.NewEngine(filepath.Dir(file), "test")
	}
	if err == nil {
		_, err = e.Run(context.Background(), req, func(p table.Progress) { fmt.Println(p.Computed) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// request requests five sampled captions of each image, in a file of the folder.
func request(t *testing.T, home, model string, images datasets.Table, batch int) client.Request {
	t.Helper()
	plan := must.Get(gomlxmodels.Caption(model, images, gomlxmodels.CaptionOptions{N: 5, Seed: 7, Decode: "nucleus",
		Temperature: 2, MaxTokens: 12}).Plan())(t)
	return client.Request{Plan: plan, Batch: batch, Counts: true, Save: filepath.Join(home, "captions.parquet")}
}

// finish evaluates a request in this process and gives the file it saved.
func finish(t *testing.T, home string, req client.Request) (*client.Result, []byte) {
	t.Helper()
	e := must.Get(all.NewEngine(home, "test"))(t)
	defer e.Close()
	res := must.Get(e.Run(t.Context(), req, nil))(t)
	return res, must.Get(os.ReadFile(req.Save))(t)
}

// TestInterrupted writes captions at one go, one by one in a process that is killed half-way and by eights
// interrupted: the files are equal, byte for byte, and what was finished is not written again.
func TestInterrupted(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	var rows []map[string]any
	for i, img := range stagetest.Scenes(t, 8) {
		rows = append(rows, map[string]any{"id": fmt.Sprint("p", i), "image": img.Path})
	}
	for _, model := range []string{"../../blip/testdata/base", "../../blip2/testdata/opt"} {
		t.Run(strings.Split(model, "/")[1], func(t *testing.T) {
			images := images(t, rows)
			home := t.TempDir()
			res, want := finish(t, home, request(t, home, model, images, 0))
			if res.Computed != 40 || res.Found != 0 {
				t.Fatalf("%+v", res)
			}
			for _, c := range []struct {
				how   string
				stop  func(*testing.T, string, client.Request)
				batch int
			}{{"killed", kill, 1}, {"interrupted", interrupt, 8}} {
				home := t.TempDir()
				req := request(t, home, model, images, c.batch)
				c.stop(t, home, req)
				if _, err := os.Stat(req.Save); err == nil {
					t.Errorf("%s, by %d: the file was saved", c.how, c.batch)
				}
				res, got := finish(t, home, req)
				if !bytes.Equal(got, want) {
					t.Errorf("%s, by %d: another file", c.how, c.batch)
				}
				if res.Found == 0 || res.Computed == 0 || res.Found+res.Computed != 40 {
					t.Errorf("%s, by %d: %d found, %d computed", c.how, c.batch, res.Found, res.Computed)
				}
			}
		})
	}
}

// images is a table of image files, as a user's CSV.
func images(t *testing.T, rows []map[string]any) datasets.Table {
	t.Helper()
	dir := t.TempDir()
	lines := "id,image\n"
	for _, r := range rows {
		name := fmt.Sprint(r["id"], ".png")
		data, err := os.ReadFile(r["image"].(string))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines += fmt.Sprintf("%s,%s\n", r["id"], name)
	}
	file := filepath.Join(dir, "images.csv")
	must.Do(t, os.WriteFile(file, []byte(lines), 0o600))
	return datasets.CSV(file)
}

// enough is how many captions are finished before a run is stopped.
const enough = 5

func interrupt(t *testing.T, home string, req client.Request) {
	e := must.Get(all.NewEngine(home, "test"))(t)
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := e.Run(ctx, req, func(p table.Progress) {
		if p.Computed >= enough {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func kill(t *testing.T, home string, req client.Request) {
	text, err := json.Marshal(req)
	file := filepath.Join(home, "request.json")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVar+"="+file)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var computed int
		if fmt.Sscan(lines.Text(), &computed); computed >= enough {
			break
		}
	}
	must.Do(t, child.Process.Kill())
	if err := child.Wait(); err == nil || child.ProcessState.Exited() {
		t.Errorf("the process ended before it was killed: %v", err)
	}
}

//go:build checks

package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// command is the built command with a store of its own.
type command struct {
	t             *testing.T
	program, home string
}

func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "antipode")
	if out, err := exec.Command("go", "build", "-o", binary, "antipode").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// start starts the command; its store's backend ends with the test.
func (c command) start(out *bytes.Buffer, args ...string) *exec.Cmd {
	cmd := exec.Command(c.program, args...)
	cmd.Env = append(os.Environ(), "ANTIPODE_HOME="+c.home, "ANTIPODE_BIN=")
	cmd.Stdout, cmd.Stderr = out, out
	must.Do(c.t, cmd.Start())
	return cmd
}

func (c command) run(args ...string) (status int, printed string) {
	var out bytes.Buffer
	err := c.start(&out, args...).Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		c.t.Fatal(err)
	}
	return status, out.String()
}

func newCommand(t *testing.T, program string) command {
	c := command{t, program, t.TempDir()}
	t.Cleanup(func() { c.run("backend", "stop") })
	return c
}

// writeImages writes so many images of noise and gives the CSV file that lists them.
func writeImages(t *testing.T, n int) string {
	t.Helper()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	lines := "id,image,object\n"
	for i := range n {
		img := image.NewNRGBA(image.Rect(0, 0, 61, 40))
		var b color.NRGBA
		for p := range 61 * 40 {
			if p%7 == 0 {
				b = color.NRGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 255}
			}
			img.SetNRGBA(p%61, p/61, b)
		}
		var data bytes.Buffer
		name := fmt.Sprintf("image%03d.png", i)
		err := png.Encode(&data, img)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines += fmt.Sprintf("row%03d,%s,%s\n", i, name, [3]string{"cat", "dog", "cat|dog"}[i%3])
	}
	table := filepath.Join(dir, "t.csv")
	must.Do(t, os.WriteFile(table, []byte(lines), 0o600))
	return table
}

var counts = regexp.MustCompile(`(\d+) items computed, (\d+) found`)

// TestKilled segments 200 images at one go and with the client and the backend killed half-way: the files are equal,
// byte for byte, and no finished image is computed again.
func TestKilled(t *testing.T) {
	testbackend.XLA(t)
	const n = 200
	program, table, args := build(t), writeImages(t, n), boxArgs(t)
	out := filepath.Join(filepath.Dir(table), "out.parquet")
	segment := []string{"segment", "--model", args.Model, "--detector", args.Detector, "--in", table, "--out", out,
		"--object", "object", "--box-threshold", "0.5"}
	done := func(c command) (computed, found int, file []byte) {
		status, printed := c.run(segment...)
		m := counts.FindStringSubmatch(printed)
		if status != 0 || m == nil {
			t.Fatalf("exit status %d: %s", status, printed)
		}
		computed, _ = strconv.Atoi(m[1])
		found, _ = strconv.Atoi(m[2])
		file = must.Get(os.ReadFile(out))(t)
		os.Remove(out)
		return computed, found, file
	}
	computed, found, want := done(newCommand(t, program))
	if computed != n || found != 0 {
		t.Fatalf("%d computed, %d found", computed, found)
	}

	c := newCommand(t, program)
	var printed bytes.Buffer
	client := c.start(&printed, segment...)
	state := regexp.MustCompile(`pid +(\d+)[^$]*?items +(\d+) computed`)
	pid := 0
	for deadline := time.Now().Add(5 * time.Minute); pid == 0; time.Sleep(20 * time.Millisecond) {
		_, status := c.run("backend", "status")
		var computed int
		if m := state.FindStringSubmatch(status); m != nil {
			computed, _ = strconv.Atoi(m[2])
			if computed >= n/3 {
				pid, _ = strconv.Atoi(m[1])
			}
		}
		if pid == 0 && time.Now().After(deadline) {
			t.Fatalf("%d items are computed: %s", computed, status)
		}
	}
	process, err := os.FindProcess(pid)
	if err == nil {
		err = errors.Join(process.Kill(), client.Process.Kill())
	}
	if err != nil {
		t.Fatal(err)
	}
	client.Wait()
	must.Fail(os.Stat(out))(t) // a killed run leaves no table
	computed, found, got := done(c)
	t.Logf("after the kill: %d computed, %d found", computed, found)
	if !bytes.Equal(got, want) {
		t.Errorf("another file: %d and %d bytes", len(got), len(want))
	}
	if found == 0 || computed == 0 || computed+found != n {
		t.Errorf("%d computed, %d found of %d", computed, found, n)
	}
}

// TestDamagedFolders damages the folders of a detector and of a segmenter: the command says in one line what is wrong
// and where.
func TestDamagedFolders(t *testing.T) {
	testbackend.XLA(t)
	program, table := build(t), writeImages(t, 1)
	c := newCommand(t, program)
	whole := boxArgs(t)
	run := func(t *testing.T, args gomlxmodels.SegmentArgs) (status int, printed string) {
		return c.run("segment", "--model", args.Model, "--detector", args.Detector, "--in", table, "--out",
			filepath.Join(t.TempDir(), "out.csv"), "--object", "object")
	}
	if status, printed := run(t, whole); status != 0 { // it installs the plugin too
		t.Fatalf("whole folders: %s", printed)
	}
	const config, weightsFile = "config.json", weights.SingleFile
	change := func(key string, value any) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			modeltest.Edit(t, filepath.Join(dir, config), map[string]any{key: value})
		}
	}
	edit := func(file string, f func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			data := must.Get(os.ReadFile(path))(t)
			modeltest.Write(t, path, string(f(data)))
		}
	}
	half := func(data []byte) []byte { return data[:len(data)/2] }
	with := func(text string) func([]byte) []byte { return func([]byte) []byte { return []byte(text) } }
	remove := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			must.Do(t, os.Remove(filepath.Join(dir, file)))
		}
	}
	folder := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			remove(file)(t, dir)
			must.Do(t, os.Mkdir(filepath.Join(dir, file), 0o700))
		}
	}
	tensors := func(f func([]weights.Tensor) []weights.Tensor) func(*testing.T, string) {
		return func(t *testing.T, dir string) { modeltest.Save(t, dir, f(modeltest.Tensors(t, dir))) }
	}
	type damage struct {
		name string
		do   func(*testing.T, string)
		want string
	}
	both := []damage{
		{"config missing", remove(config), "config.json"},
		{"config empty", edit(config, with("")), "config.json"},
		{"config half", edit(config, half), "config.json"},
		{"config null", edit(config, with("null")), "model_type"},
		{"config a list", edit(config, with("[]")), "config.json"},
		{"config a folder", folder(config), "config.json"},
		{"config of another model", change("model_type", "bert"), `model_type "bert"`},
		{"config without a type", change("model_type", nil), "model_type"},
		{"weights missing", remove(weightsFile), weightsFile},
		{"weights empty", edit(weightsFile, with("")), weightsFile},
		{"weights half", edit(weightsFile, half), weightsFile},
		{"weights of five bytes", edit(weightsFile, with("\x05\x00\x00\x00\x00")), weightsFile},
		{"weights with a huge header", edit(weightsFile, func(b []byte) []byte {
			return append(binary.LittleEndian.AppendUint64(nil, 1<<60), b[8:]...)
		}), weightsFile},
		{"weights without a header", edit(weightsFile, func(b []byte) []byte {
			return append(bytes.Clone(b[:8]), bytes.Repeat([]byte("x"), len(b)-8)...)
		}), weightsFile},
		{"weights a folder", folder(weightsFile), weightsFile},
		{"a tensor missing", tensors(func(l []weights.Tensor) []weights.Tensor { return l[1:] }), "missing"},
		{"a tensor too many", tensors(func(l []weights.Tensor) []weights.Tensor {
			return append(l, weights.Tensor{Name: "extra", Shape: []int{1}, Data: []float32{1}})
		}), "extra"},
		{"a tensor of another shape", tensors(func(l []weights.Tensor) []weights.Tensor {
			l[0].Shape = append([]int{1}, l[0].Shape...)
			return l
		}), "shape"},
	}
	folders := map[string][]damage{"detector": append([]damage{
		{"tokenizer half", edit("tokenizer.json", half), "tokenizer.json"},
		{"more queries", change("num_queries", 5000), "query_position_embeddings"},
		{"odd width", change("d_model", 33), "d_model"},
	}, both...), "segmenter": append([]damage{
		{"other size of windows", change("vision_config", map[string]any{"window_size": 1000}), "window_size 1000"},
		{"more layers", change("vision_config", map[string]any{"num_hidden_layers": 99}), "layers."},
	}, both...)}
	for part, damages := range folders {
		for _, d := range damages {
			t.Run(part+": "+d.name, func(t *testing.T) {
				args, at := whole, &whole.Detector
				dir := filepath.Join(t.TempDir(), "model")
				if part == "segmenter" {
					at = &whole.Model
				}
				must.Do(t, os.CopyFS(dir, os.DirFS(*at)))
				d.do(t, dir)
				if part == "segmenter" {
					args.Model = dir
				} else {
					args.Detector = dir
				}
				status, printed := run(t, args)
				line := strings.TrimRight(printed, "\n")
				if status != 1 || strings.Contains(line, "\n") || !strings.HasPrefix(line, "antipode: ") ||
					!strings.Contains(line, d.want) || !strings.Contains(line, dir) {
					t.Errorf("exit status %d: %s; want one line with the folder and %q", status, printed, d.want)
				}
				t.Log(strings.ReplaceAll(line, filepath.Dir(dir), "…"))
			})
		}
	}
}

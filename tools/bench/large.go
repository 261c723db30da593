package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"antipode/datasets/client"
)

// largeBenchmark measures the antipode command on large inputs, each with a backend of its own: wall-clock time, and
// the largest resident memory of the command and of the backend.
var largeBenchmark = benchmark{
	about: "the command on images of -side × -side pixels, tables of -n rows, and 2 × -vectors vectors",
	ints:  map[string]int{"n": 1_000_000, "side": 10_000, "vectors": 100_000, "size": 64, "seed": 1},
	run:   runLarge,
}

func runLarge(s *session) error {
	l := must(newLarge(s))
	check(l.inputs())
	side, n, vectors := s.int("side"), s.int("n"), s.int("vectors")
	fmt.Printf("%-60s %9s %12s %12s\n", "", "seconds", "command MiB", "backend MiB")
	for _, c := range []struct {
		title string
		args  []string
	}{
		{fmt.Sprintf("embed a PNG of %d×%d pixels", side, side),
			[]string{"embed", "--model", "archipelago-vit", "--in", "png.csv", "--out", "o.csv"}},
		{fmt.Sprintf("embed a JPEG of %d×%d pixels", side, side),
			[]string{"embed", "--model", "archipelago-vit", "--in", "jpeg.csv", "--out", "o.csv"}},
		{fmt.Sprintf("CSV of %d rows to Parquet", n), []string{"table", "--in", "rows.csv", "--out", "rows.parquet"}},
		{fmt.Sprintf("Parquet of %d rows to CSV, every 2nd", n),
			[]string{"table", "--in", "rows.parquet", "--where", "even == yes", "--out", "o.csv"}},
		{fmt.Sprintf("CSV of %d rows, sorted, and counted by group", n),
			[]string{"table", "--in", "rows.csv", "--sort", "score", "--count", "region,even"}},
		{fmt.Sprintf("precision and coverage, 2 × %d vectors, d = %d", vectors, s.int("size")),
			[]string{"score", "--metric", "precision-coverage", "--real", "real.csv", "--gen", "generated.csv",
				"--vector", "full", "--out", "o.csv"}},
	} {
		m, err := l.measure(c.args)
		if err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
		fmt.Printf("%-60s %9.1f %12.0f %12.0f\n", c.title, m.seconds, m.command, m.backend)
	}
	return nil
}

type large struct {
	*session
	binary, store string
}

// newLarge builds the command.
func newLarge(s *session) (*large, error) {
	l := &large{s, filepath.Join(s.dir, "antipode"), filepath.Join(s.dir, "store")}
	if out, err := exec.Command("go", "build", "-o", l.binary, "antipode").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return l, nil
}

func (l *large) command(args ...string) *exec.Cmd {
	cmd := exec.Command(l.binary, args...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), client.HomeVar+"="+l.store, "XDG_RUNTIME_DIR="+l.dir,
		client.BinaryVar+"=")
	return cmd
}

// cost is the time of a command, and the peaks of resident memory of the command and of its backend, in MiB.
type cost struct{ seconds, command, backend float64 }

// measure runs a command with a backend of its own, if it needs one.
func (l *large) measure(args []string) (m cost, err error) {
	defer catch(&err)
	cmd := l.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for running := true; running; {
		if now, err := memory(strconv.Itoa(cmd.Process.Pid), "VmHWM:"); err == nil {
			m.command = now // its peak; what rusage reports is at least this process's
		}
		select {
		case err := <-ended:
			if err != nil {
				return m, fmt.Errorf("%w: %s", err, out.String())
			}
			running = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	m.seconds = time.Since(begin).Seconds()
	text, err := l.command("backend", "status", "--json").Output()
	var status client.Status
	check(errors.Join(err, json.Unmarshal(text, &status)))
	if status.PID == 0 {
		return m, nil // the command started none
	}
	m.backend = must(memory(strconv.Itoa(status.PID), "VmHWM:"))
	return m, l.command("backend", "stop").Run()
}

// inputs writes the files that the commands read.
func (l *large) inputs() error {
	side := l.int("side")
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			img.SetRGBA(x, y, color.RGBA{uint8(x >> 4), uint8(y >> 4), uint8(x ^ y), 255})
		}
	}
	fast := png.Encoder{CompressionLevel: png.BestSpeed}
	files := map[string]func(io.Writer) error{
		"i.png":    func(w io.Writer) error { return fast.Encode(w, img) },
		"i.jpg":    func(w io.Writer) error { return jpeg.Encode(w, img, nil) },
		"png.csv":  func(w io.Writer) error { _, err := io.WriteString(w, "id,image\na,i.png\n"); return err },
		"jpeg.csv": func(w io.Writer) error { _, err := io.WriteString(w, "id,image\na,i.jpg\n"); return err },
		"rows.csv": func(w io.Writer) error { return l.rowsTo(w, l.int("n")) },
	}
	for name, content := range files {
		check(l.file(name, content))
	}
	return l.vectors(l.int("vectors"))
}

// vectors writes two tables of so many vectors.
func (l *large) vectors(n int) error {
	for i, name := range []string{"real.csv", "generated.csv"} {
		check(l.file(name, func(w io.Writer) error {
			return l.vectorsTo(w, n, rand.New(rand.NewPCG(uint64(l.int("seed")), uint64(i))))
		}))
	}
	return nil
}

func (l *large) file(name string, content func(io.Writer) error) error {
	f := must(os.Create(filepath.Join(l.dir, name)))
	w := bufio.NewWriter(f)
	return errors.Join(content(w), w.Flush(), f.Close())
}

func (l *large) rowsTo(w io.Writer, n int) error {
	r := rand.New(rand.NewPCG(uint64(l.int("seed")), 2))
	_, err := io.WriteString(w, "id,prompt,region,even,score\n")
	for i := range n {
		even := [2]string{"yes", "no"}[i%2]
		if err == nil {
			_, err = fmt.Fprintf(w, "row-%d,a photo of house %d in a town,region %d,%s,%.6f\n", i, i, i%17, even,
				r.Float64())
		}
	}
	return err
}

func (l *large) vectorsTo(w io.Writer, n int, r *rand.Rand) error {
	_, err := io.WriteString(w, "id,region,full\n")
	for i := range n {
		line := fmt.Appendf(nil, "%d,region %d", i, i%6)
		for j := range l.int("size") {
			line = append(line, [2]string{",\"[", ", "}[min(j, 1)]...)
			line = strconv.AppendFloat(line, r.NormFloat64(), 'g', 6, 32)
		}
		if err == nil {
			_, err = w.Write(append(line, "]\"\n"...))
		}
	}
	return err
}

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
	l := &large{session: s, binary: filepath.Join(s.dir, "antipode")}
	if out, err := exec.Command("go", "build", "-o", l.binary, "antipode").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if err := l.inputs(); err != nil {
		return err
	}
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
		if err := l.measure(c.title, c.args); err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
	}
	return nil
}

type large struct {
	*session
	binary string
}

func (l *large) command(args ...string) *exec.Cmd {
	cmd := exec.Command(l.binary, args...)
	cmd.Dir = l.dir
	cmd.Env = append(os.Environ(), client.HomeVar+"="+filepath.Join(l.dir, "store"), "XDG_RUNTIME_DIR="+l.dir,
		client.BinaryVar+"=")
	return cmd
}

// measure runs a command and prints its line.
func (l *large) measure(title string, args []string) error {
	cmd := l.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	own := 0. // its peak; what rusage reports is at least this process's
	for running := true; running; {
		if now, err := memory(strconv.Itoa(cmd.Process.Pid), "VmHWM:"); err == nil {
			own = now
		}
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("%w: %s", err, out.String())
			}
			running = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	took := time.Since(begin)
	text, err := l.command("backend", "status", "--json").Output()
	var status client.Status
	if err = errors.Join(err, json.Unmarshal(text, &status)); err != nil {
		return err
	}
	peak, err := memory(strconv.Itoa(status.PID), "VmHWM:")
	if err != nil {
		return err
	}
	fmt.Printf("%-60s %9.1f %12.0f %12.0f\n", title, took.Seconds(), own, peak)
	return l.command("backend", "stop").Run()
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
		"rows.csv": l.rowsTo,
	}
	for i, name := range []string{"real.csv", "generated.csv"} {
		files[name] = func(w io.Writer) error {
			return l.vectorsTo(w, rand.New(rand.NewPCG(uint64(l.int("seed")), uint64(i))))
		}
	}
	for name, content := range files {
		if err := l.file(name, content); err != nil {
			return err
		}
	}
	return nil
}

func (l *large) file(name string, content func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(l.dir, name))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(content(w), w.Flush(), f.Close())
}

func (l *large) rowsTo(w io.Writer) error {
	r := rand.New(rand.NewPCG(uint64(l.int("seed")), 2))
	_, err := io.WriteString(w, "id,prompt,region,even,score\n")
	for i := range l.int("n") {
		even := [2]string{"yes", "no"}[i%2]
		if err == nil {
			_, err = fmt.Fprintf(w, "row-%d,a photo of house %d in a town,region %d,%s,%.6f\n", i, i, i%17, even,
				r.Float64())
		}
	}
	return err
}

func (l *large) vectorsTo(w io.Writer, r *rand.Rand) error {
	_, err := io.WriteString(w, "id,full\n")
	for i := range l.int("vectors") {
		line := strconv.AppendInt(nil, int64(i), 10)
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

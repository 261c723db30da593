package execmodel

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain runs this binary as the program of a test, with the arguments child MODE DIR.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "child" {
		f := fake{mode: os.Args[2], dir: os.Args[3]}
		f.note("starts", fmt.Sprint(os.Getpid()))
		f.serve()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a program with one fault. Its images are of one color, which depends on prompt, negative prompt and seed.
type fake struct{ mode, dir string }

// note appends a line to a file of the test.
func (f *fake) note(name, line string) {
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(file, line)
		file.Close()
	}
}

func (f *fake) once() bool {
	file, err := os.OpenFile(filepath.Join(f.dir, "once"), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		file.Close()
	}
	return err == nil
}

func say(m map[string]any) {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

func (f *fake) serve() {
	if f.mode == "ignores terminate" {
		signal.Ignore(syscall.SIGTERM)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxLine+1)
	for in.Scan() {
		var m struct {
			Type  string
			Task  string
			Batch int
			Items []Item
			IDs   []string
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			panic(err)
		}
		switch m.Type {
		case "hello":
			f.hello(m.Task)
		case "batch":
			f.batch(m.Batch, m.Items)
		case "bye":
			if f.mode == "status" {
				os.Exit(3)
			}
			return
		}
	}
}

func (f *fake) hello(task string) {
	version := "1"
	switch f.mode {
	case "silent":
		time.Sleep(time.Hour)
	case "prints first":
		fmt.Println("Loading pipeline components...")
	case "fatal":
		say(map[string]any{"type": "fatal", "reason": "no weights"})
		os.Exit(1)
	case "other":
		version = fmt.Sprint(os.Getpid())
	}
	say(map[string]any{"type": "ready", "protocol": 1, "name": "fake", "version": version,
		"model": map[string]any{"id": "fake-model", "digest": "d1"}, "tasks": []string{task, "generate"},
		"capabilities": map[string]any{"seed": "exact", "negative": f.mode != "no negative",
			"cancel": f.mode != "deaf" && f.mode != "no cancel",
			"sizes":  map[string]int{"multiple": 8, "min": 8, "max": 64}},
		"max_batch": 4, "device_kind": "cpu", "dtype": "float32", "paid": f.mode == "paid",
		"defaults": map[string]any{"width": 16, "height": 8}, "unknown": []int{1}})
}

func (f *fake) batch(number int, items []Item) {
	f.note("batches", fmt.Sprint(len(items)))
	answer := func(item *Item, more map[string]any) {
		f.note("answers", item.ID)
		m := map[string]any{"type": "item", "batch": number, "id": item.ID, "outcome": "ok", "file": item.Out}
		for k, v := range more {
			m[k] = v
		}
		say(m)
	}
	if f.mode == "exit in batch" && f.once() {
		answer(&items[0], f.file(&items[0], len(items)))
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
	}
	for i := range items {
		item := &items[i]
		more := f.file(item, len(items))
		switch f.mode {
		case "slow", "deaf", "ignores terminate":
			for {
				time.Sleep(20 * time.Millisecond)
				if f.mode == "slow" {
					say(map[string]any{"type": "progress", "batch": number, "step": 1, "of": 4})
				}
			}
		case "garbage":
			fmt.Println("Loading pipeline components...")
		case "long line":
			fmt.Println(strings.Repeat("x", 2<<20))
		case "wrong id":
			say(map[string]any{"type": "item", "batch": number, "id": "other", "outcome": "ok", "file": item.Out})
		case "wrong batch":
			say(map[string]any{"type": "item", "batch": number + 1, "id": item.ID, "outcome": "ok", "file": item.Out})
		case "unknown type":
			say(map[string]any{"type": "pong"})
		case "poison":
			if item.Prompt == "poison" {
				fmt.Fprintln(os.Stderr, "cannot compute this\x1b[31m")
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				time.Sleep(time.Hour)
			}
		case "floods stderr":
			fmt.Fprint(os.Stderr, strings.Repeat(strings.Repeat("noise", 40)+"\n", 3000))
		case "grandchild":
			f.grandchild()
			os.Exit(1)
		case "prints while loading":
			if f.once() {
				fmt.Println("Loading pipeline components...")
			}
		case "canceled":
			time.Sleep(100 * time.Millisecond)
		case "secret":
			fmt.Fprintln(os.Stderr, "token", os.Getenv("FAKE_TOKEN"), os.Getenv("OTHER_TOKEN"), os.Getenv("PLAIN"))
		case "changes images":
			_ = os.WriteFile(item.Image, []byte("another"), 0o600)
		case "paid":
			more["cost"] = 0.04
		}
		say(map[string]any{"type": "progress", "batch": number, "step": 1, "of": 2})
		answer(item, more)
		if f.mode == "double answer" {
			answer(item, more)
		}
	}
}

// grandchild starts a process that holds the output open, in a session of its own.
func (f *fake) grandchild() {
	cmd := exec.Command("sleep", "60")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil {
		f.note("grandchildren", fmt.Sprint(cmd.Process.Pid))
	}
}

// file writes an item's file and returns fields of its answer.
func (f *fake) file(item *Item, together int) map[string]any {
	seen := *item // what the image depends on
	switch f.mode {
	case "ignores seed":
		seen.Seed = 0
	case "ignores negative":
		seen.Negative = ""
	case "random":
		seen.Seed = uint64(time.Now().UnixNano())
	case "other after restart":
		seen.Seed += uint64(os.Getpid())
	case "depends on batch":
		seen.Seed += 1000 * uint64(together)
	case "crashes on emoji":
		if strings.ContainsRune(item.Prompt, '🌊') {
			panic("emoji")
		}
	}
	sum := crc32.ChecksumIEEE(fmt.Append(nil, seen.Prompt, seen.Negative, seen.Seed))
	if item.MaxTokens > 0 {
		return map[string]any{"captions": []string{fmt.Sprint("caption ", item.Seed)}, "scores": []float64{-1}}
	}
	if item.Image != "" && filepath.Ext(item.Out) == ".png" {
		return f.masks(item, sum)
	}
	more := map[string]any{"meta": map[string]any{"ms": 12.5, "note": "a\x07b"}}
	if filepath.Ext(item.Out) == ".f32" {
		data := binary.LittleEndian.AppendUint32(nil, 0x3f800000) // 1
		if f.mode == "nan" {
			data = binary.LittleEndian.AppendUint32(nil, 0x7fc00000)
		}
		os.WriteFile(item.Out, data, 0o600)
		return map[string]any{"dim": 1}
	}
	width, height := item.Width, item.Height
	if width == 0 {
		width, height = 16, 8
	}
	if width%8 != 0 && f.mode != "any size" {
		return map[string]any{"outcome": "failed", "reason": "unsupported size"}
	}
	switch f.mode {
	case "wrong size":
		width++
	case "resized":
		width++
		more["meta"] = map[string]any{"resized": true}
	case "symbolic link":
		os.Symlink("/etc/hostname", item.Out)
		return more
	case "pipe":
		syscall.Mkfifo(item.Out, 0o600)
		return more
	case "outside":
		return map[string]any{"file": filepath.Join(f.dir, "starts")}
	case "no file":
		return more
	case "text":
		os.WriteFile(item.Out, []byte("not an image"), 0o600)
		return more
	case "by name":
		more["file"] = filepath.Base(item.Out)
	case "refuses":
		return map[string]any{"outcome": "refused", "reason": "unsafe\nprompt"}
	case "transient":
		return map[string]any{"outcome": "failed", "reason": "busy", "transient": true}
	case "no reason":
		return map[string]any{"outcome": "failed"}
	}
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		m.Set(i%width, i/width, color.NRGBA{byte(sum), byte(sum >> 8), byte(sum >> 16), 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	data := b.Bytes()
	if f.mode == "huge image" { // the header of a PNG of 20,000 × 20,000 pixels
		binary.BigEndian.PutUint32(data[16:], 20_000)
		binary.BigEndian.PutUint32(data[20:], 20_000)
		binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	}
	if err := os.WriteFile(item.Out, data, 0o600); err != nil {
		panic(err)
	}
	return more
}

// masks returns an item's masks: the left part of the image.
func (f *fake) masks(item *Item, sum uint32) map[string]any {
	m := image.NewGray(image.Rect(0, 0, item.Width, item.Height))
	for i := range m.Pix {
		if i%item.Width <= int(sum)%item.Width {
			m.Pix[i] = 1
		}
	}
	if f.mode == "large" {
		m = image.NewGray(image.Rect(0, 0, item.Width+1, item.Height))
	}
	var b bytes.Buffer
	var err error
	if f.mode == "jpeg" {
		err = jpeg.Encode(&b, m, nil)
	} else {
		err = png.Encode(&b, m)
	}
	if err == nil {
		err = os.WriteFile(item.Out, b.Bytes(), 0o600)
	}
	if err != nil {
		panic(err)
	}
	one := map[string]any{"file": item.Out, "label": "a\nb"}
	switch f.mode {
	case "link":
		one["file"] = "/etc/hostname"
	case "box":
		one["box"] = []int{1, 1, 2, 2}
	case "no masks":
		return nil
	case "empty":
		return map[string]any{"masks": []any{}}
	case "257":
		return map[string]any{"masks": slices.Repeat([]any{one}, 257)}
	case "runs":
		return map[string]any{"masks": []any{map[string]any{"size": []int{item.Height, item.Width}, "counts": "ooo"}}}
	}
	return map[string]any{"masks": []any{one, one}}
}

// Command echo_adapter is a program for --model exec: in its smallest form: it answers each prompt with an image of one
// color, which depends on the prompt, the negative prompt and the seed, each image with a caption that repeats its
// digest, each object in an image with a mask whose width depends on the object's name, each question with
// probabilities that depend on image and choice, and each image or text with a vector made of its digest. Copy it to
// write an adapter in Go; the protocol is described in docs/adapters.md.
//
//	go build -o echo_adapter ./docs/examples/echo_adapter
//	antipode check-adapter exec:./echo_adapter
//	antipode generate --model exec:./echo_adapter --prompts prompts.csv --out images.parquet
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"os"
)

// message is a line of the parent.
type message struct {
	Type  string `json:"type"`
	Task  string `json:"task"`
	Batch int    `json:"batch"`
	Items []item `json:"items"`
}

type item struct {
	ID       string `json:"id"`
	Prompt   string `json:"prompt"`
	Negative string `json:"negative"`
	Seed     uint64 `json:"seed"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Out      string `json:"out"`

	// of other tasks
	Image  string `json:"image"`
	Text   string `json:"text"`
	Prefix string `json:"prefix"`

	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

type object map[string]any

// ready describes the program. Raise the version whenever its images change.
var ready = object{"type": "ready", "protocol": 1, "name": "echo", "version": "1",
	"model": object{"id": "echo", "digest": "none"},
	"tasks": []string{"generate", "segment", "caption", "ask", "embed"},
	"capabilities": object{"seed": "exact", "negative": true, "cancel": true,
		"sizes": object{"multiple": 1, "min": 1, "max": 4096}},
	"max_batch": 8, "device_kind": "cpu", "dtype": "uint8", "defaults": object{"width": 64, "height": 64}}

func main() {
	if err := serve(os.Stdin, json.NewEncoder(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err) // free text goes to standard error
		os.Exit(1)
	}
}

// serve answers the parent's messages. A batch is finished before the next message is read, which is soon enough for a
// cancel here.
func serve(in io.Reader, out *json.Encoder) error {
	task := ""
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return err
		}
		switch m.Type {
		case "hello":
			task = m.Task
			if err := out.Encode(ready); err != nil {
				return err
			}
		case "batch":
			for _, it := range m.Items {
				answer := object{"type": "item", "batch": m.Batch, "id": it.ID, "outcome": "ok", "file": it.Out}
				if err := compute(task, it, answer); err != nil {
					answer["outcome"], answer["reason"] = "failed", err.Error()
				}
				if err := out.Encode(answer); err != nil {
					return err
				}
			}
		case "bye":
			return nil
		}
	}
	return lines.Err()
}

// compute does an item's task and completes its answer.
func compute(task string, it item, answer object) error {
	if task == "generate" {
		return generate(it)
	}
	data := []byte(it.Text)
	if task == "segment" {
		sum := sha256.Sum256(data)
		m := image.NewGray(image.Rect(0, 0, it.Width, it.Height))
		part := image.Rect(0, 0, 1+int(sum[0])*it.Width/256, it.Height)
		draw.Draw(m, part, image.White, image.Point{}, draw.Src)
		answer["masks"] = []object{{"file": it.Out, "score": 0.5, "label": it.Text,
			"box": []int{0, 0, part.Max.X, it.Height}}}
		return write(it.Out, m)
	}
	if it.Image != "" {
		var err error
		if data, err = os.ReadFile(it.Image); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(data)
	if task == "caption" {
		answer["captions"] = []string{fmt.Sprintf("%simage %x, seed %d", it.Prefix, sum[:4], it.Seed)}
		return nil
	}
	if task == "ask" {
		ask(it, sum, answer)
		return nil
	}
	var vector []byte // float32, little-endian
	for _, b := range sum {
		vector = binary.LittleEndian.AppendUint32(vector, math.Float32bits(float32(b)))
	}
	answer["dim"] = len(sum)
	return os.WriteFile(it.Out, vector, 0o600)
}

// ask answers a question. The digests stand for the logits that a model has for the choices.
func ask(it item, image [32]byte, answer object) {
	probabilities, sum, best := make([]float64, len(it.Choices)), 0.0, 0
	for i, choice := range it.Choices {
		digest := sha256.Sum256(fmt.Appendf(nil, "%x %q %q", image, it.Question, choice))
		probabilities[i] = math.Exp(float64(digest[0]) / 64)
		if sum += probabilities[i]; probabilities[i] > probabilities[best] {
			best = i
		}
	}
	for i := range probabilities {
		probabilities[i] /= sum
	}
	answer["choice"], answer["probabilities"], answer["source"] = best, probabilities, "logits"
	answer["text"] = it.Choices[best]
}

// generate writes the item's image.
func generate(it item) error {
	if min(it.Width, it.Height) < 1 || max(it.Width, it.Height) > 4096 {
		return fmt.Errorf("size %dx%d: must be from 1 to 4096 pixels", it.Width, it.Height)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", it.Prompt, it.Negative, it.Seed))
	m := image.NewNRGBA(image.Rect(0, 0, it.Width, it.Height))
	c := color.NRGBA{R: sum[0], G: sum[1], B: sum[2], A: 255}
	draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return write(it.Out, m)
}

// write writes a PNG.
func write(path string, m image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, m), f.Close())
}

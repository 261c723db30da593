package execmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"antipode/datasets/table"
)

// Protocol is the version of the protocol.
const Protocol = 1

// Limits of the protocol.
const (
	maxLine  = 1 << 20 // bytes of a line
	maxText  = 4 << 10 // bytes of a text of the program
	maxMeta  = 32      // keys
	maxFile  = 64 << 20
	maxEdge  = 8192 // pixels of an edge
	maxBatch = 256
	maxMasks = 256 // of an item
)

// Tasks are what a program can do.
const (
	Generate = "generate"
	Segment  = "segment"
	Caption  = "caption"
	Ask      = "ask"
	Embed    = "embed"
)

// Tasks lists them.
var Tasks = []string{Generate, Segment, Caption, Ask, Embed}

// The values of [Capabilities].Seed.
const (
	SeedExact      = "exact"       // the same seed gives the same file
	SeedBestEffort = "best_effort" // the same seed gives almost the same image
	SeedNone       = "none"
)

// Outcomes of an item.
const (
	OK      = "ok"
	Refused = "refused"
	Failed  = "failed"
)

// Sources of the probabilities of choices.
const (
	FromLogits  = "logits"  // of the choices' labels at the position of the answer
	FromSamples = "samples" // shares of several answers
	FromNothing = "none"    // there are none
)

// Item is a unit of work. Fields of other tasks are zero and not sent.
type Item struct {
	ID   string `json:"id"` // unique within a run
	Seed uint64 `json:"seed"`
	Out  string `json:"out,omitempty"` // set by [Group.Run]: where the program writes its file

	// of generate
	Prompt    string  `json:"prompt,omitempty"`
	Negative  string  `json:"negative,omitempty"`
	Steps     int     `json:"steps,omitempty"`
	Guidance  float64 `json:"guidance,omitempty"`
	Scheduler string  `json:"scheduler,omitempty"`

	Width  int `json:"width,omitempty"` // of the image to make, or of the image to segment
	Height int `json:"height,omitempty"`

	// of the other tasks
	Image     string `json:"image,omitempty"` // absolute path of a file to read
	SHA256    string `json:"-"`               // of that file; "" = not known
	Text      string `json:"text,omitempty"`
	N         int    `json:"n,omitempty"` // captions
	Prefix    string `json:"prefix,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`

	// of ask
	Question string   `json:"question,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	System   string   `json:"system,omitempty"`
}

// Answer is the result of an [Item].
type Answer struct {
	ID        string         `json:"id"`
	Outcome   string         `json:"outcome"` // OK, Refused or Failed; "" = not answered
	Reason    string         `json:"reason"`
	Transient bool           `json:"transient"` // failed for a temporary reason: another run should try again
	File      string         `json:"file"`
	Cost      float64        `json:"cost"` // US dollars
	Meta      map[string]any `json:"meta"` // texts and numbers
	Captions  []string       `json:"captions"`
	Scores    []float64      `json:"scores"`
	Dim       int            `json:"dim"`
	Masks     []Mask         `json:"masks"`

	// of ask
	Choice        *int      `json:"choice"`        // index of the answer among the choices
	Probabilities []float64 `json:"probabilities"` // of the choices; nil = not known
	Source        string    `json:"source"`        // of the probabilities: FromLogits, FromSamples or FromNothing
	Text          string    `json:"text"`          // what the model wrote

	Data      []byte `json:"-"` // contents of File, checked
	Extension string `json:"-"` // of File by its contents: ".png", ".jpg" or ".f32"
}

// Mask is a mask of an [Answer]: compressed run lengths, or a PNG whose pixels that are not black are the object.
type Mask struct {
	table.Mask             // once it is checked, also of a file
	File       string      `json:"file"`
	Score      *float64    `json:"score"` // nil = not given
	Label      string      `json:"label"`
	Box        *[4]float64 `json:"box"` // x0, y0, x1, y1 in pixels; nil = not given
}

// Ready is what a program reports about itself before it loads weights.
type Ready struct {
	Protocol     int          `json:"protocol"`
	Name         string       `json:"name"`
	Version      string       `json:"version"`
	Model        Weights      `json:"model"`
	Tasks        []string     `json:"tasks"`
	Capabilities Capabilities `json:"capabilities"`
	MaxBatch     int          `json:"max_batch"`
	DeviceKind   string       `json:"device_kind"` // for example "cpu", "cuda"
	DType        string       `json:"dtype"`
	Paid         bool         `json:"paid"` // items cost money
	Defaults     Parameters   `json:"defaults"`
}

// Weights identify the program's model.
type Weights struct {
	ID       string `json:"id"`
	Revision string `json:"revision"`
	Digest   string `json:"digest"`
	License  string `json:"license"`
	Files    []File `json:"files"`
}

// File is a file that the model consists of.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes
}

// Parameters are the parameters of generation that have a default.
type Parameters struct {
	Steps     int     `json:"steps,omitempty"`
	Guidance  float64 `json:"guidance,omitempty"`
	Scheduler string  `json:"scheduler,omitempty"`
	Width     int     `json:"width,omitempty"`
	Height    int     `json:"height,omitempty"`
}

// Capabilities are the fields of an item that a program follows.
type Capabilities struct {
	Seed      string `json:"seed"`
	Negative  bool   `json:"negative"`
	Guidance  bool   `json:"guidance"`
	Steps     bool   `json:"steps"`
	Scheduler bool   `json:"scheduler"`
	Sizes     Sizes  `json:"sizes"`
	Cancel    bool   `json:"cancel"`
}

// Sizes are the sizes of images that a program makes: a list, or the multiples of a number in a range. The zero value
// is any size.
type Sizes struct {
	List               [][2]int // width, height
	Multiple, Min, Max int
}

// UnmarshalJSON reads [[512,512], …] or {"multiple":8,"min":256,"max":2048}.
func (s *Sizes) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, &s.List)
	}
	var r struct{ Multiple, Min, Max int }
	err := json.Unmarshal(text, &r)
	s.Multiple, s.Min, s.Max = r.Multiple, r.Min, r.Max
	return err
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (s Sizes) MarshalJSON() ([]byte, error) {
	if s.List != nil {
		return json.Marshal(s.List)
	}
	return json.Marshal(map[string]int{"multiple": s.Multiple, "min": s.Min, "max": s.Max})
}

// Check reports a size that the program does not make.
func (s *Sizes) Check(width, height int) error {
	if s.List != nil {
		if !slices.Contains(s.List, [2]int{width, height}) {
			return fmt.Errorf("size %dx%d: the program makes %s", width, height,
				strings.ReplaceAll(strings.Trim(fmt.Sprint(s.List), "[]"), "] [", ", "))
		}
		return nil
	}
	for _, edge := range []int{width, height} {
		if s.Multiple > 0 && edge%s.Multiple != 0 || edge < s.Min || s.Max > 0 && edge > s.Max {
			return fmt.Errorf("size %dx%d: the program makes multiples of %d from %d to %d pixels", width, height,
				max(s.Multiple, 1), s.Min, s.Max)
		}
	}
	return nil
}

// check reports what is missing in a ready message.
func (r *Ready) check(task string) error {
	missing := func(field string) error { return fmt.Errorf("ready has no %s", field) }
	switch {
	case r.Protocol != Protocol:
		return fmt.Errorf("ready: protocol %d; this version supports %d", r.Protocol, Protocol)
	case r.Name == "":
		return missing("name")
	case r.Version == "":
		return missing("version")
	case r.Model.Digest == "":
		return missing("model.digest")
	case r.DeviceKind == "":
		return missing("device_kind")
	case !slices.Contains(r.Tasks, task):
		return fmt.Errorf("the program's tasks are %q, without %q", r.Tasks, task)
	case r.MaxBatch < 1 || r.MaxBatch > maxBatch:
		return fmt.Errorf("ready: max_batch %d is not from 1 to %d", r.MaxBatch, maxBatch)
	case task == Generate && !slices.Contains([]string{SeedExact, SeedBestEffort, SeedNone}, r.Capabilities.Seed):
		return fmt.Errorf("ready: capabilities.seed %q is not exact, best_effort or none", r.Capabilities.Seed)
	}
	return nil
}

// identity is what the processes of a program must agree in.
func (r *Ready) identity() string {
	return fmt.Sprintf("%q %q %q %q %q", r.Name, r.Version, r.Model.Digest, r.DeviceKind, r.DType)
}

// Messages of the parent.
type (
	helloMessage struct {
		Type     string            `json:"type"`
		Protocol []int             `json:"protocol"`
		Task     string            `json:"task"`
		Worker   int               `json:"worker"`
		Device   int               `json:"device"` // index of the GPU; −1 = the program's choice
		Scratch  string            `json:"scratch"`
		Options  map[string]string `json:"options"`
	}
	batchMessage struct {
		Type     string  `json:"type"`
		Batch    int     `json:"batch"`
		Items    []Item  `json:"items"`
		Deadline float64 `json:"deadline_s"`
		Unknown  string  `json:"unknown,omitempty"` // of Check: programs ignore fields that they do not know
	}
	cancelMessage struct {
		Type string   `json:"type"`
		IDs  []string `json:"ids"` // empty = all
	}
	byeMessage struct {
		Type string `json:"type"`
	}
)

// message is a line of the program: fields of all types of messages.
type message struct {
	Type  string `json:"type"`
	Batch int    `json:"batch"`
	Step  int    `json:"step"`
	Of    int    `json:"of"`
	Level string `json:"level"`

	Answer // whose text a log has too
	ready  *Ready
}

// parse reads the number-th line of the program's output.
func parse(line []byte, number int) (m message, err error) {
	if !json.Valid(line) {
		return m, fmt.Errorf("line %d of stdout is not JSON: %q. Fix: send prints to stderr", number,
			clip(string(line), 200))
	}
	if err = json.Unmarshal(line, &m); err == nil && m.Type == "ready" {
		m.ready = &Ready{}
		err = json.Unmarshal(line, m.ready)
	}
	if err != nil {
		return m, fmt.Errorf("line %d of stdout: %w", number, err)
	}
	if !slices.Contains([]string{"ready", "progress", "item", "log", "fatal"}, m.Type) {
		return m, fmt.Errorf("line %d of stdout has the unknown type %q", number, clip(m.Type, 40))
	}
	m.Text, m.Reason = clean(m.Text), clean(m.Reason)
	return m, nil
}

// check reports an answer that its item does not allow, and cleans its texts.
func (a *Answer) check(task string) error {
	if !slices.Contains([]string{OK, Refused, Failed}, a.Outcome) {
		return fmt.Errorf("item %q has the outcome %q, not ok, refused or failed", a.ID, clip(a.Outcome, 40))
	}
	if a.Outcome != OK && a.Reason == "" {
		return fmt.Errorf("item %q is %s without a reason", a.ID, a.Outcome)
	}
	if !(a.Cost >= 0) || len(a.Meta) > maxMeta {
		return fmt.Errorf("item %q: cost %v, %d keys in meta; a cost must not be negative, and at most %d keys are "+
			"allowed", a.ID, a.Cost, len(a.Meta), maxMeta)
	}
	for key, value := range a.Meta {
		switch v := value.(type) {
		case string:
			a.Meta[key] = clean(v)
		case float64, bool:
		default:
			return fmt.Errorf("item %q: meta.%s is neither a text nor a number", a.ID, clip(key, 40))
		}
	}
	for i := range a.Captions {
		a.Captions[i] = clean(a.Captions[i])
	}
	for i := range a.Masks {
		m := &a.Masks[i]
		if m.Label = clean(m.Label); m.Box != nil && (m.Score == nil || m.Box[0] > m.Box[2] || m.Box[1] > m.Box[3]) {
			return fmt.Errorf("item %q: the box of mask %d needs a score, and x0 ≤ x1 and y0 ≤ y1", a.ID, i+1)
		}
	}
	switch {
	case a.Outcome == OK && task == Caption && len(a.Captions) == 0:
		return fmt.Errorf("item %q is ok without captions", a.ID)
	case a.Outcome == OK && task == Segment && a.Masks == nil:
		return fmt.Errorf("item %q is ok without masks; where there is no object, the list is empty", a.ID)
	case len(a.Masks) > maxMasks:
		return fmt.Errorf("item %q has %d masks; at most %d are allowed", a.ID, len(a.Masks), maxMasks)
	}
	return nil
}

// clean returns a text as one line of at most maxText bytes, without control characters.
func clean(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\r' || c == '\t':
			return ' '
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c) && c != '\u200d' && c != '\u200c':
			return -1
		}
		return c
	}, text))
}

// clip returns at most n bytes of a cleaned text.
func clip(text string, n int) string {
	if text = clean(text); len(text) > n {
		return strings.ToValidUTF8(text[:n], "") + "…"
	}
	return text
}

// Times of the protocol.
const (
	readyLimit  = time.Minute
	firstLimit  = 20 * time.Minute // of a process's first batch, for which it loads the weights
	batchLimit  = 10 * time.Minute // of other batches, at least
	idleLimit   = 5 * time.Minute  // without output
	cancelGrace = 5 * time.Second
	byeGrace    = 10 * time.Second
	termGrace   = 5 * time.Second // between terminate and kill

	// IdleTime is the time without work after which processes end.
	IdleTime = 10 * time.Minute
)

// errFatal is wrapped by an error that a restart does not fix.
var errFatal = errors.New("fatal")

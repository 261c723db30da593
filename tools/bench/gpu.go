package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/go-xla/compute/xla"

	"antipode/gomlxmodels/device"
	"antipode/internal/near"
)

// gpuBenchmark is for a machine with a GPU and without Go: networks of published shapes with random weights, by
// precision and batch. It needs the XLA plugin alone.
var gpuBenchmark = benchmark{
	about: "all networks on -device by precision and batch, random weights, within -limit seconds: results differ by " +
		"how much from those of -reference, which a run with -device xla:cpu writes; with PYTHON set, next to torch " +
		"on the same GPU. Writes -out .json, .md and .f32.json (the results)",
	ints: map[string]int{"limit": 600, "repeat": 5, "seed": 1},
	texts: map[string]string{"device": device.XLACUDA, "out": "gpu", "reference": "", "model": "", "work": "",
		"precision": "float32,bfloat16,tf32", "batches": "1,32,128"},
	run: runGPU,
}

// measured is one line of the table.
type measured struct {
	Network   string    `json:"network"`
	Precision string    `json:"precision"`
	Batch     int       `json:"batch"`
	Calls     int       `json:"calls"` // batches of a run
	Side      string    `json:"side"`  // "antipode" or the peer's libraries
	Unit      string    `json:"unit"`
	Load      float64   `json:"load_s,omitempty"`    // weights to the device
	Compile   float64   `json:"compile_s,omitempty"` // and the first run
	Seconds   []float64 `json:"seconds,omitempty"`   // of each run
	Differs   *float64  `json:"differs,omitempty"`   // from the reference, in its scale (root mean square)
	Error     string    `json:"error,omitempty"`

	Result []float32 `json:"result,omitempty"` // of the first item
}

// perSecond is the units per second of a quantile of the runs' seconds.
func (m measured) perSecond(p float64) float64 {
	return float64(m.Batch*m.Calls) / quantile(m.Seconds, p)
}

// gpu is a run of the benchmark.
type gpu struct {
	*session
	end     time.Time
	batches []int
	names   []string // of the networks
	peers   string   // the peer's libraries
	list    []measured
	first   map[string][]float32 // results to compare with, by network
	own     map[string][]float32 // float32 results of this run, by network
}

func runGPU(s *session) error {
	g := &gpu{session: s, first: map[string][]float32{}, own: map[string][]float32{},
		end: time.Now().Add(time.Duration(s.int("limit")) * time.Second)}
	for _, text := range strings.Split(s.text("batches"), ",") {
		batch, err := strconv.Atoi(text)
		if err != nil || batch < 1 {
			return fmt.Errorf("-batches %q: %q is not a number from 1", s.text("batches"), text)
		}
		g.batches = append(g.batches, batch)
	}
	g.names = slices.Sorted(maps.Keys(networks))
	if list := s.text("model"); list != "" {
		g.names = strings.Split(list, ",")
	}
	if s.text("work") != "" {
		return g.work()
	}
	for _, name := range g.names {
		if networks[name].open == nil {
			return fmt.Errorf("-model %s is not one of %s", name,
				strings.Join(slices.Sorted(maps.Keys(networks)), ", "))
		}
	}
	return g.lead()
}

// lead fills the folders and starts a process for each precision, so that a network that ends its process costs its
// own lines only.
func (g *gpu) lead() error {
	if name := g.text("reference"); name != "" {
		raw, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(raw, &g.first)
		}
		if err != nil {
			return fmt.Errorf("-reference: %w", err)
		}
	}
	begin := time.Now()
	check(fillFolders(g.session, g.names, slices.Max(g.batches)))
	fmt.Printf("%d folders filled in %.0f s\n", len(g.names), time.Since(begin).Seconds())
	if os.Getenv("PYTHON") != "" {
		check(g.start())
		g.peers = g.peer.name
	}
	var jobs []string
	for _, batch := range g.batches {
		for _, name := range g.names {
			if batch <= max(1, networks[name].most) {
				jobs = append(jobs, fmt.Sprintf("%s:%d", name, batch))
			}
		}
	}
	for _, precision := range strings.Split(g.text("precision"), ",") {
		from := len(g.list)
		for rest := jobs; len(rest) > 0; {
			done, err := g.process(precision, rest)
			if err != nil {
				g.add(failed(rest[done], precision, err))
				done++
			}
			rest = rest[done:]
		}
		// The peer comes when our process has given the GPU's memory back.
		for _, m := range slices.Clone(g.list[from:]) {
			if g.peer != nil && m.Error == "" && time.Now().Before(g.end) {
				g.add(g.theirs(m))
			}
		}
	}
	return g.write()
}

// failed is the line of a job without a result.
func failed(job, precision string, err error) measured {
	name, batch, _ := strings.Cut(job, ":")
	m := measured{Network: name, Precision: precision, Side: "antipode",
		Error: strings.ReplaceAll(err.Error(), "\n", " ")}
	m.Batch, _ = strconv.Atoi(batch)
	m.Calls = max(1, networks[name].calls)
	m.Error = m.Error[:min(len(m.Error), 400)]
	return m
}

// process runs a process for jobs, networks with a batch, in a precision and returns how many it got through.
func (g *gpu) process(precision string, jobs []string) (done int, err error) {
	defer catch(&err)
	left := time.Until(g.end)
	if left < 5*time.Second {
		return 0, errors.New("not run: the time is over")
	}
	self := must(os.Executable())
	cmd := exec.Command(self, "gpu", "-work", g.dir, "-precision", precision, "-model", strings.Join(jobs, ","),
		"-device", g.text("device"), "-repeat", strconv.Itoa(g.int("repeat")))
	log := must(os.Create(filepath.Join(g.dir, precision+".log")))
	defer log.Close()
	cmd.Stderr = log
	out := must(cmd.StdoutPipe())
	check(cmd.Start())
	stop := time.AfterFunc(left, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		var m measured
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return done, fmt.Errorf("%q is not a result", lines.Text())
		}
		done++
		g.add(m)
	}
	if err = cmd.Wait(); err != nil {
		text, _ := os.ReadFile(log.Name())
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		err = fmt.Errorf("the process ended: %w: %s", err, strings.Join(lines[max(0, len(lines)-3):], " / "))
		done = min(done, len(jobs)-1)
	}
	return done, err
}

// theirs measures the peer as m was.
func (g *gpu) theirs(m measured) measured {
	p := measured{Network: m.Network, Precision: m.Precision, Batch: m.Batch, Calls: m.Calls, Unit: m.Unit,
		Side: g.peers}
	for i := range len(m.Seconds) + 1 {
		r, err := g.peer.do(m.Network, m.Precision, m.Batch, m.Calls)
		if err == nil && r.Error != "" {
			err = errors.New(r.Error)
		}
		if err != nil {
			p.Error = err.Error()
			return p
		}
		if i > 0 {
			p.Seconds = append(p.Seconds, r.Seconds[0])
		}
	}
	p.Result, _ = g.floats("peer.f32")
	return p
}

// add keeps and prints a result.
func (g *gpu) add(m measured) {
	if want := g.first[m.Network]; want != nil && len(m.Result) == len(want) {
		worst, _ := near.Worst(m.Result, want)
		worst = min(worst/near.Scale(want), math.MaxFloat64)
		m.Differs = &worst
	} else if want == nil && m.Result != nil {
		g.first[m.Network] = m.Result
	}
	if m.Precision == "float32" && m.Side == "antipode" && g.own[m.Network] == nil && m.Result != nil {
		g.own[m.Network] = m.Result
	}
	m.Result = nil
	g.list = append(g.list, m)
	fmt.Println(m.line(false))
}

// line is the line of a table, as text or Markdown.
func (m measured) line(markdown bool) string {
	cells := []string{m.Network, m.Precision, strconv.Itoa(m.Batch), m.Side, "", "", "", "", "", ""}
	if m.Error != "" {
		cells[4] = m.Error
	} else {
		cells[4] = fmt.Sprintf("%.4g %s/s", m.perSecond(0.5), m.Unit)
		cells[5], cells[6] = fmt.Sprintf("%.4g", m.perSecond(0.95)), fmt.Sprintf("%.4g", m.perSecond(0.05))
		if m.Compile > 0 {
			cells[7], cells[8] = fmt.Sprintf("%.1f", m.Load), fmt.Sprintf("%.1f", m.Compile)
		}
		if m.Differs != nil {
			cells[9] = fmt.Sprintf("%.1e", *m.Differs)
		}
	}
	if markdown {
		return "| " + strings.Join(cells, " | ") + " |"
	}
	return strings.Join(cells, "\t")
}

// write writes the files and says which float32 results differ.
func (g *gpu) write() error {
	about := map[string]any{"device": g.text("device"), "go": runtime.Version(), "peer": g.peers,
		"cards": cards(), "results": g.list}
	table := "| network | precision | batch | side | median | p5 | p95 | load s | compile s | differs |\n" +
		"|---|---|---|---|---|---|---|---|---|---|\n"
	var wrong []string
	for _, m := range g.list {
		table += m.line(true) + "\n"
		if m.Precision == "float32" && m.Differs != nil && !(*m.Differs < 1e-3) {
			wrong = append(wrong, m.Network+" ("+m.Side+")")
		}
	}
	for name, content := range map[string]any{".json": about, ".f32.json": g.own} {
		check(os.WriteFile(g.text("out")+name, must(json.MarshalIndent(content, "", " ")), 0o644))
	}
	check(os.WriteFile(g.text("out")+".md", []byte(table), 0o644))
	if len(wrong) > 0 {
		return fmt.Errorf("in float32 these differ from the reference by over 1e-3 of its scale: %s",
			strings.Join(wrong, ", "))
	}
	return nil
}

// cards are the GPUs as nvidia-smi names them.
func cards() string {
	out, _ := exec.Command("nvidia-smi", "--query-gpu=name,driver_version,memory.total",
		"--format=csv,noheader").Output()
	return strings.TrimSpace(string(out))
}

// precisions are the dtypes of networks by name; tf32 is float32 whose products the device rounds.
var precisions = map[string]dtypes.DType{"float32": dtypes.Float32, "bfloat16": dtypes.BFloat16,
	"float16": dtypes.Float16, "tf32": dtypes.Float32}

// work measures jobs in this process and prints a line of JSON for each.
func (g *gpu) work() error {
	g.dir = g.text("work")
	precision := g.text("precision")
	out := json.NewEncoder(os.Stdout)
	backend := openGPU(g.text("device"), precision)
	for _, job := range g.names {
		m, err := g.measure(backend, job, precision)
		if err != nil {
			m = failed(job, precision, err)
		}
		check(out.Encode(m))
	}
	return nil
}

// openGPU opens the device, with products of float32 in TF32 where the precision is tf32.
func openGPU(kind, precision string) compute.Backend {
	if precision == "tf32" && kind == device.XLACUDA { // and TF32 in convolutions
		return must(xla.NewWithOptions(device.Find(kind)+",tf32=true,noshared_buffers", nil))
	}
	return must(device.Open(kind, "")).Backend
}

// measure measures a job: a run that compiles, then as many as fit in three seconds, at most -repeat.
func (g *gpu) measure(backend compute.Backend, at, precision string) (m measured, err error) {
	defer catch(&err)
	m = failed(at, precision, errors.New(""))
	n, count := networks[m.Network], m.Batch
	j := job{dir: filepath.Join(g.dir, n.folder), backend: backend, dtype: precisions[precision], batch: count}
	m.Unit = n.unit
	if size := n.input[0] * n.input[1] * n.input[2]; size > 0 {
		flat, err := g.floats(filepath.Join(n.folder, inputFile))
		if err != nil || len(flat) < count*size {
			return m, fmt.Errorf("%s: %d numbers: %w", inputFile, len(flat), err)
		}
		j.pixels = slices.Repeat(slices.Collect(slices.Chunk(flat[:count*size], size)), m.Calls)
	}
	begin := time.Now()
	opened := n.open(j)
	defer opened.close()
	m.Load = time.Since(begin).Seconds()
	begin = time.Now()
	m.Result = opened.run()
	for _, v := range m.Result {
		if v-v != 0 {
			return m, fmt.Errorf("the result holds %v", v)
		}
	}
	m.Compile = time.Since(begin).Seconds()
	begin = time.Now()
	for len(m.Seconds) < g.int("repeat") && (len(m.Seconds) == 0 || time.Since(begin) < 3*time.Second) {
		start := time.Now()
		opened.run()
		m.Seconds = append(m.Seconds, time.Since(start).Seconds())
	}
	return m, nil
}

// ready is an opened network.
type ready struct {
	close func()
	run   func() []float32 // the result of the first item
}

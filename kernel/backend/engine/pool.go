package engine

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"sync"

	"antipode/datasets/client"
)

// pool holds expensive values (loaded models) by key and counts their users. A value in use is closed by [pool.close]
// alone. An unused one is closed when the budget is exceeded, the least recently used first. Values are closed without
// the lock, because that may wait for the device.
type pool struct {
	mu     sync.Mutex
	budget int64
	clock  int64
	values map[string]*shared
	closed bool
}

type shared struct {
	ready chan struct{} // closed when opened
	value any
	bytes int64
	close func()
	err   error
	users int
	used  int64
}

func newPool(budget int64) *pool { return &pool{budget: budget, values: map[string]*shared{}} }

// get returns the value of a key and the function that releases it. It opens a missing value; concurrent calls for one
// key open it once.
func (p *pool) get(key string, open func() (any, int64, func(), error)) (any, func(), error) {
	var unused []*shared
	defer func() { closeAll(unused) }()
	p.mu.Lock()
	s := p.values[key]
	if s == nil {
		s = &shared{ready: make(chan struct{})}
		p.values[key] = s
		s.users++
		p.mu.Unlock()
		value, bytes, end, err := open()
		p.mu.Lock()
		s.value, s.bytes, s.close, s.err = value, bytes, end, err
		switch {
		case err != nil:
			delete(p.values, key)
		case p.closed:
			unused, s.err = []*shared{s}, errClosed
		default:
			unused = p.trim()
		}
		close(s.ready)
	} else {
		s.users++
		p.mu.Unlock()
		<-s.ready
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	if s.err != nil {
		return nil, nil, s.err
	}
	p.clock++
	s.used = p.clock
	var once sync.Once
	return s.value, func() {
		once.Do(func() {
			p.mu.Lock()
			s.users--
			unused := p.trim()
			p.mu.Unlock()
			closeAll(unused)
		})
	}, nil
}

// trim removes unused values, which the caller closes, until the total size is within the budget. The caller holds the
// lock.
func (p *pool) trim() (unused []*shared) {
	for {
		var total int64
		oldest := ""
		for k, s := range p.values {
			total += s.bytes
			if s.users == 0 && (oldest == "" || s.used < p.values[oldest].used) {
				oldest = k
			}
		}
		if total <= p.budget || oldest == "" {
			return unused
		}
		unused = append(unused, p.values[oldest])
		delete(p.values, oldest)
	}
}

func closeAll(values []*shared) {
	for _, s := range values {
		if s.close != nil {
			s.close()
		}
	}
}

func (p *pool) status() (models []client.ModelStatus, used, budget int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, s := range p.values {
		models = append(models, client.ModelStatus{Name: k, Bytes: s.bytes, Users: s.users})
		used += s.bytes
	}
	sort.Slice(models, func(i, j int) bool { return models[i].Name < models[j].Name })
	return models, used, p.budget
}

// close closes all values, used or not, and those that are being opened when they are.
func (p *pool) close() {
	p.mu.Lock()
	var open []*shared
	for k, s := range p.values {
		select {
		case <-s.ready:
			open = append(open, s)
		default:
		}
		delete(p.values, k)
	}
	p.closed = true
	p.mu.Unlock()
	closeAll(open)
}

// memoryTotal returns the size of the machine's memory in bytes, or 8 GiB if it is unknown.
func memoryTotal() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 8 << 30
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var kb int64
		if _, err := fmt.Sscanf(sc.Text(), "MemTotal: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 8 << 30
}

// Resident returns the resident memory of this process in bytes, or 0 if it is unknown.
func Resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscanf(string(data), "%d %d", &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

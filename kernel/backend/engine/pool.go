package engine

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"sync"

	"antipode/datasets/client"
)

// pool holds expensive values (loaded models) by key and counts their users. A value in use is never closed. An unused
// one is closed when the budget is exceeded, the least recently used first.
type pool struct {
	mu     sync.Mutex
	budget int64
	clock  int64
	values map[string]*shared
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
	p.mu.Lock()
	s := p.values[key]
	if s == nil {
		s = &shared{ready: make(chan struct{})}
		p.values[key] = s
		s.users++
		p.mu.Unlock()
		s.value, s.bytes, s.close, s.err = open()
		close(s.ready)
		p.mu.Lock()
		if s.err != nil {
			delete(p.values, key)
		} else {
			p.trim()
		}
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
			defer p.mu.Unlock()
			s.users--
			p.trim()
		})
	}, nil
}

// trim closes unused values until the total size is within the budget. The caller holds the lock.
func (p *pool) trim() {
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
			return
		}
		p.drop(oldest)
	}
}

func (p *pool) drop(key string) {
	s := p.values[key]
	delete(p.values, key)
	if s.close != nil {
		s.close()
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

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k := range p.values {
		p.drop(k)
	}
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

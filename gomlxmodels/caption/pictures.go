package caption

import (
	"sync"

	"antipode/kernel/client"
)

// pictures keeps the pixels of pictures prepared last, so that many captions of one decode it once.
type pictures struct {
	read func(file string) ([]float32, error)
	most int

	mu    sync.Mutex
	known map[string]*pixels
	order []string // by first use
}

// pixels is a picture, prepared once.
type pixels struct {
	once   sync.Once
	values []float32
	err    error
}

func newPictures(most int, read func(string) ([]float32, error)) *pictures {
	return &pictures{read: read, most: most, known: map[string]*pixels{}}
}

// get prepares a picture, or gives what was prepared. It is safe on several goroutines at once.
func (p *pictures) get(img client.Image) ([]float32, error) {
	p.mu.Lock()
	x := p.known[img.SHA256]
	if x == nil {
		x = &pixels{}
		p.known[img.SHA256] = x
		if p.order = append(p.order, img.SHA256); len(p.order) > p.most {
			delete(p.known, p.order[0])
			p.order = p.order[1:]
		}
	}
	p.mu.Unlock()
	x.once.Do(func() { x.values, x.err = p.read(img.Path) })
	return x.values, x.err
}

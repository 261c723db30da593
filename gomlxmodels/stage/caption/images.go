package caption

import (
	"sync"

	"antipode/datasets/table"
)

// images caches the pixels of the images prepared last, so that an image with many captions is decoded once.
type images struct {
	read func(table.Image) ([]float32, error)
	most int

	mu    sync.Mutex
	known map[string]*pixels
	order []string // by first use
}

// pixels is an image, prepared once.
type pixels struct {
	once   sync.Once
	values []float32
	err    error
}

func newImages(most int, read func(table.Image) ([]float32, error)) *images {
	return &images{read: read, most: most, known: map[string]*pixels{}}
}

// get returns the pixels of an image. It may run on several goroutines at once.
func (p *images) get(img table.Image) ([]float32, error) {
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
	x.once.Do(func() { x.values, x.err = p.read(img) })
	return x.values, x.err
}

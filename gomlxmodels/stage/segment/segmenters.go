package segment

import (
	"context"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/stage"
)

// segmenter makes masks of boxes.
type segmenter interface {
	Files() []string
	Preprocess() preprocess.Config
	load(ctx context.Context, env stage.Env, key string) (stage.Release, error)
	// prepare does the host's part for one image.
	prepare(rgb *preprocess.RGB) (input any, err error)
	// segment returns a map for each box of an image.
	segment(ctx context.Context, input any, boxes []sam.Box) ([]boxMap, error)
}

// boxMap is the logits in a box.
type boxMap interface {
	Mask() (sam.Mask, error) // at the image's size
}

func openSegmenter(dir, profile string) (segmenter, error) {
	m, err := sam.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &samSegmenter{Model: m}
	if profile == gomlxmodels.ProfileLangSAM2024 {
		m.UsePillow()
		s.options.Epsilon = 1e-5 // segment-anything's
	}
	return s, nil
}

// samSegmenter is a SAM.
type samSegmenter struct {
	*sam.Model
	options sam.Options
	on      *sam.Encoder
}

func (s *samSegmenter) load(ctx context.Context, env stage.Env, key string) (release stage.Release, err error) {
	s.on, release, err = stage.Load(ctx, env, key, func(backend compute.Backend) (*sam.Encoder, error) {
		on, err := sam.NewEncoder(backend, s.Model, s.options)
		if err == nil {
			err = on.Load()
		}
		return on, err
	})
	return release, err
}

func (s *samSegmenter) prepare(rgb *preprocess.RGB) (any, error) { return s.Prepare(rgb) }

func (s *samSegmenter) segment(ctx context.Context, input any, boxes []sam.Box) (maps []boxMap, err error) {
	list, err := s.on.Segment(ctx, input.(*sam.Image), boxes)
	for _, m := range list {
		maps = append(maps, m)
	}
	return maps, err
}

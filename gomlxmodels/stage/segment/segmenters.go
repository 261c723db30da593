package segment

import (
	"context"
	"fmt"
	"image"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/sam2"
	"antipode/gomlxmodels/stage"
)

// segmenter makes masks of boxes: a SAM or a SAM 2.1.
type segmenter struct {
	model interface {
		Files() []string
		Preprocess() preprocess.Config
		Prepare(image.Image) (*sam.Image, error)
	}
	open func(compute.Backend) (encoder, error)
	on   encoder
}

type encoder interface {
	stage.Loaded
	Load() error
	Segment(ctx context.Context, img *sam.Image, boxes []sam.Box) ([]sam.Map, error)
}

func openSegmenter(dir string, s settings) (*segmenter, error) {
	architecture, err := hub.Architecture(dir)
	if err != nil {
		return nil, err
	}
	switch architecture {
	case "sam2", "sam2_video":
		if s.args.Profile == gomlxmodels.ProfileLangSAM2024 {
			return nil, fmt.Errorf("%s: profile %s is of a SAM, and this is a SAM 2.1: its profile is %s", dir,
				s.args.Profile, gomlxmodels.ProfileTransformers)
		}
		m, err := sam2.Open(dir)
		return &segmenter{model: m, open: func(backend compute.Backend) (encoder, error) {
			return sam2.NewEncoder(backend, m, sam2.Options{DType: s.dtype})
		}}, err
	}
	m, err := sam.Open(dir)
	if err != nil {
		return nil, err
	}
	o := sam.Options{DType: s.dtype}
	if s.args.Profile == gomlxmodels.ProfileLangSAM2024 {
		m.UsePillow()
		o.Epsilon = 1e-5 // segment-anything's
	}
	return &segmenter{model: m, open: func(backend compute.Backend) (encoder, error) {
		return sam.NewEncoder(backend, m, o)
	}}, nil
}

func (s *segmenter) load(ctx context.Context, env stage.Env, key string) (release stage.Release, err error) {
	s.on, release, err = stage.Load(ctx, env, key, func(backend compute.Backend) (encoder, error) {
		on, err := s.open(backend)
		if err == nil {
			err = on.Load()
		}
		return on, err
	})
	return release, err
}

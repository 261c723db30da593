package segment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/groundingdino"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/owlv2"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
)

type detector interface {
	Files() []string
	Preprocess() preprocess.Config
	load(ctx context.Context, env stage.Env, key string) (stage.Release, error)
	// prepare does the host's part for one image and the names of objects in it.
	prepare(rgb *preprocess.RGB, names []string) (detection, error)
	// doubt says what may keep the detector from finding the names, "; …", or "".
	doubt(names []string) string
}

// detection returns all boxes of each object in a prepared image, the highest score first.
type detection func(ctx context.Context) ([][]groundingdino.Box, error)

// openDetector opens the model of a folder, and sets the thresholds that the arguments lack to the model's own.
func openDetector(dir string, s *settings) (detector, error) {
	args := &s.args
	architecture, err := hub.Architecture(dir)
	if err != nil {
		return nil, err
	}
	if architecture == "owlv2" {
		switch {
		case args.Profile == gomlxmodels.ProfileLangSAM2024:
			return nil, fmt.Errorf("%s: profile %s is of a GroundingDINO, and this is an OWLv2: its profile is %s", dir,
				args.Profile, gomlxmodels.ProfileTransformers)
		case args.TextThreshold != 0:
			return nil, fmt.Errorf("%s: text threshold is for a GroundingDINO; the label of an OWLv2's box is the "+
				"object's name", dir)
		}
		args.BoxThreshold = cmp.Or(args.BoxThreshold, owlv2.BoxThreshold)
		m, err := owlv2.Open(dir)
		return &owl{Model: m, dtype: s.dtype}, err
	}
	m, err := groundingdino.Open(dir)
	if err != nil {
		return nil, err
	}
	profile := groundingdino.Profile(args.Profile)
	box, text := profile.Thresholds()
	args.BoxThreshold, args.TextThreshold = cmp.Or(args.BoxThreshold, box), cmp.Or(args.TextThreshold, text)
	return &dino{Model: m, profile: profile, text: args.TextThreshold}, nil
}

// anyBox is a threshold that every score exceeds.
const anyBox = math.SmallestNonzeroFloat64

type dino struct {
	*groundingdino.Model
	profile groundingdino.Profile
	text    float64 // threshold
	on      *groundingdino.Detector
}

func (d *dino) load(ctx context.Context, env stage.Env, key string) (release stage.Release, err error) {
	d.on, release, err = stage.Load(ctx, env, key, func(backend compute.Backend) (*groundingdino.Detector, error) {
		on, err := groundingdino.NewDetector(backend, d.Model, groundingdino.Options{Profile: d.profile})
		if err == nil {
			err = on.Load()
		}
		return on, err
	})
	return release, err
}

func (d *dino) prepare(rgb *preprocess.RGB, names []string) (detection, error) {
	var captions []groundingdino.Caption
	for _, name := range names {
		if d.profile != groundingdino.LangSAM2024 {
			name = groundingdino.Labels(name)
		}
		c, err := d.Caption(name, d.profile)
		if err != nil {
			return nil, textError{err}
		}
		captions = append(captions, c)
	}
	image, err := d.Prepare(rgb, d.profile)
	return func(ctx context.Context) ([][]groundingdino.Box, error) {
		out := make([][]groundingdino.Box, len(captions))
		for i, c := range captions {
			var err error
			if out[i], err = d.on.Detect(ctx, image, c, groundingdino.DetectOptions{BoxThreshold: anyBox,
				TextThreshold: d.text}); err != nil {
				return nil, err
			}
		}
		return out, nil
	}, err
}

func (d *dino) doubt(names []string) string {
	for _, name := range names {
		if c, err := d.Caption(name, d.profile); err == nil && 2*c.Unknown > len(c.IDs)-2 { // [CLS] and [SEP]
			return "; the model reads English, and most words of " + strconv.Quote(short(name)) + " are unknown to it"
		}
	}
	return ""
}

// owl is an OWLv2.
type owl struct {
	*owlv2.Model
	dtype dtypes.DType
	on    *owlv2.Detector
}

func (o *owl) load(ctx context.Context, env stage.Env, key string) (release stage.Release, err error) {
	o.on, release, err = stage.Load(ctx, env, key, func(backend compute.Backend) (*owlv2.Detector, error) {
		on, err := owlv2.NewDetector(backend, o.Model, owlv2.Options{DType: o.dtype})
		if err == nil {
			err = on.Load()
		}
		return on, err
	})
	return release, err
}

func (o *owl) prepare(rgb *preprocess.RGB, names []string) (detection, error) {
	var captions []owlv2.Caption
	for _, name := range names {
		c, err := o.Caption(name)
		if err != nil {
			return nil, textError{err}
		}
		captions = append(captions, c)
	}
	image, err := o.Prepare(rgb)
	return func(ctx context.Context) ([][]groundingdino.Box, error) {
		out := make([][]groundingdino.Box, len(captions))
		for i, c := range captions {
			list, err := o.on.Detect(ctx, image, c, owlv2.DetectOptions{BoxThreshold: anyBox})
			if err != nil {
				return nil, err
			}
			for _, b := range list {
				out[i] = append(out[i], groundingdino.Box(b))
			}
		}
		return out, nil
	}, err
}

// doubt is "": every text has tokens.
func (o *owl) doubt([]string) string { return "" }

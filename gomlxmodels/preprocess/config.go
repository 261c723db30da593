package preprocess

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"antipode/internal/plaintext"
)

// Resizing is how an image's size is changed before the crop.
type Resizing string

// The ways of resizing.
const (
	NoResize     Resizing = ""              // the size stays
	Stretch      Resizing = "stretch"       // to Height × Width, whatever the shape
	ShortestEdge Resizing = "shortest-edge" // the shorter side to Edge, the shape kept
	LongestEdge  Resizing = "longest-edge"  // the longer side to Edge, the shape kept, see [Config.Resized]
	// the shorter side to Edge, the longer at most Longest, the shape kept, see [Config.Resized]: images of many sizes
	Within        Resizing = "shortest-edge-within"
	Cover         Resizing = "cover"          // the smallest size that covers Height × Width, the shape kept
	SquareThenFit Resizing = "square-stretch" // the middle square first, then Stretch: Decomposed-DIG's public code
	// with 0 right and below to a square, in floating point blurred where it is shrunk, then stretched without
	// antialiasing: OWLv2's image processor
	PadSquare Resizing = "pad-square"
	// to Height × Width in floating point, bilinearly from the upper left corners of pixels, without antialiasing: the
	// resize_bilinear of TensorFlow 1
	TensorFlow Resizing = "tensorflow"
	// to Height × Width in floating point, bicubic without antialiasing (torch's interpolate): CMMD's public code
	TorchBicubic Resizing = "torch-bicubic"
)

// Config is one preprocessing: resize, crop, rescale, normalize. JSON is the form Parse reads back and run records
// hold.
type Config struct {
	Resize Resizing `json:"resize"`
	Height int      `json:"height,omitempty"` // of Stretch, PadSquare; of LongestEdge: after padding right and below
	Width  int      `json:"width,omitempty"`
	Edge   int      `json:"edge,omitempty"` // of ShortestEdge, LongestEdge and Within
	// of Within
	Longest int `json:"longest,omitempty"`
	// Within rounds as the authors' GroundingDINO, which may exceed Longest by a few pixels, not as transformers
	OriginalSize bool   `json:"original_size,omitempty"`
	Filter       Filter `json:"filter"`
	// to the last bit as torchvision resizes tensors, else as Pillow
	Torchvision bool `json:"torchvision,omitempty"`
	// of the computation, for digests of stored results: 2 where images are prepared otherwise than once
	Version int `json:"version,omitempty"`
	// center crop; 0 = none. An image smaller than it is padded with black
	CropHeight int `json:"crop_height,omitempty"`
	CropWidth  int `json:"crop_width,omitempty"`
	// where the margin is odd: round half to even (torchvision) instead of down (transformers)
	RoundCropEven bool `json:"round_crop_even,omitempty"`
	// pixel values 0…255 are multiplied by it; 1/255 as a rule
	Scale  float64    `json:"scale"`
	Mean   [3]float64 `json:"mean"`
	Std    [3]float64 `json:"std"`
	Source string     `json:"source"` // the file it was read from, or what it stands for
}

// The usual means and deviations of channels.
var (
	ImageNetMean = [3]float64{0.485, 0.456, 0.406}
	ImageNetStd  = [3]float64{0.229, 0.224, 0.225}
	Half         = [3]float64{0.5, 0.5, 0.5}
)

// Default is transformers' ViTImageProcessor: stretched to height × width, bilinear, mean and deviation 0.5.
func Default(height, width int) Config {
	return Config{Resize: Stretch, Height: height, Width: width, Filter: Bilinear, Torchvision: true, Scale: 1.0 / 255,
		Mean: Half, Std: Half, Source: "default of ViTImageProcessor"}
}

// PublicCode is the preprocessing of Decomposed-DIG's public code: the middle square, resized bilinearly, ImageNet's
// mean and deviation.
func PublicCode(side int) Config {
	return Config{Resize: SquareThenFit, Height: side, Width: side, Filter: Bilinear, Scale: 1.0 / 255,
		Mean: ImageNetMean, Std: ImageNetStd, Source: "Decomposed-DIG public code"}
}

// CMMD is the preprocessing of CMMD's public code (arXiv 2401.09603): bicubic without antialiasing, whatever the shape,
// and CLIP's mean and deviation.
func CMMD(side int) Config {
	return Config{Resize: TorchBicubic, Height: side, Width: side, Filter: Bicubic, Scale: 1.0 / 255,
		Mean: [3]float64{0.48145466, 0.4578275, 0.40821073}, Std: [3]float64{0.26862954, 0.26130258, 0.27577711},
		Source: "CMMD public code"}
}

// Validate checks the configuration; the output must be height × width, both 0 for a model that takes images of any
// size, by Within.
func (c *Config) Validate(height, width int) error {
	const limit = 1 << 14
	in := func(v int) bool { return v >= 1 && v <= limit }
	switch c.Resize {
	case NoResize:
	case Within:
		if !in(c.Edge) || !in(c.Longest) || c.Edge > c.Longest || c.CropHeight != 0 {
			return fmt.Errorf("preprocessing: shortest_edge %d must be between 1 and longest_edge %d, which is "+
				"at most %d, without a center crop", c.Edge, c.Longest, limit)
		}
	case LongestEdge:
		if !in(c.Edge) || c.Edge > min(c.Height, c.Width) || c.CropHeight != 0 {
			return fmt.Errorf("preprocessing: longest_edge %d must be between 1 and the sides of pad_size, %d×%d, "+
				"without a center crop", c.Edge, c.Width, c.Height)
		}
		fallthrough
	case Stretch, SquareThenFit, Cover, PadSquare, TensorFlow, TorchBicubic:
		if !in(c.Height) || !in(c.Width) {
			return fmt.Errorf("preprocessing: size %d×%d is not between 1 and %d", c.Width, c.Height, limit)
		}
	case ShortestEdge:
		if !in(c.Edge) {
			return fmt.Errorf("preprocessing: shortest_edge %d is not between 1 and %d", c.Edge, limit)
		}
	default:
		return fmt.Errorf("preprocessing: resizing %q is not known", c.Resize)
	}
	if filters[c.Filter].name == "" {
		return fmt.Errorf("preprocessing: resample %d is not a filter (0 to 5)", int(c.Filter))
	}
	if c.Torchvision && (c.Filter == Box || c.Filter == Hamming) {
		return fmt.Errorf("preprocessing: resample %d is of Pillow alone: image_processor_type must end in Pil",
			int(c.Filter))
	}
	if !(c.Scale > 0) || math.IsInf(c.Scale, 0) {
		return fmt.Errorf("preprocessing: rescale_factor %v is not a positive number", c.Scale)
	}
	for i := range 3 {
		if !(c.Std[i] > 0) || math.IsInf(c.Std[i], 0) || c.Mean[i]-c.Mean[i] != 0 {
			return fmt.Errorf("preprocessing: image_mean %v, image_std %v: deviations must be positive numbers", c.Mean,
				c.Std)
		}
	}
	if free := height == 0 && width == 0; free != (c.Resize == Within) {
		if free {
			return fmt.Errorf("preprocessing %q gives images of one size, the model takes sizes by shortest_edge and "+
				"longest_edge", c.Resize)
		}
		return fmt.Errorf("preprocessing: shortest_edge with longest_edge gives images of many sizes")
	} else if free {
		return nil
	}
	h, w := c.CropHeight, c.CropWidth
	if h == 0 && w == 0 {
		if h, w = c.Height, c.Width; c.Resize == ShortestEdge || c.Resize == Cover {
			return fmt.Errorf("preprocessing: resizing to the shortest edge without a center crop gives images " +
				"of many sizes")
		} else if c.Resize == NoResize {
			return nil // only images of the right size are taken
		}
	}
	if h != height || w != width {
		return fmt.Errorf("preprocessing gives %d×%d pixels (width×height), the model takes %d×%d", w, h, width, height)
	}
	return nil
}

// sizeJSON is the many forms of a size in preprocessor_config.json: 224, [224,224], {"height","width"},
// {"shortest_edge"}, {"longest_edge"}, both of these.
type sizeJSON struct{ height, width, edge, longest int }

func (s *sizeJSON) UnmarshalJSON(text []byte) error {
	var one int
	if json.Unmarshal(text, &one) == nil {
		*s = sizeJSON{height: one, width: one}
		return nil
	}
	var list []int
	if json.Unmarshal(text, &list) == nil && len(list) == 2 {
		*s = sizeJSON{height: list[0], width: list[1]}
		return nil
	}
	var o struct {
		Height, Width *int
		Edge          *int `json:"shortest_edge"`
		Longest       *int `json:"longest_edge"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("%s is not a size", plaintext.OneLine(string(text)))
	}
	switch {
	case o.Height != nil && o.Width != nil:
		*s = sizeJSON{height: *o.Height, width: *o.Width}
	case o.Edge != nil && o.Longest == nil:
		*s = sizeJSON{edge: *o.Edge}
	case o.Longest != nil && o.Edge == nil:
		*s = sizeJSON{longest: *o.Longest}
	case o.Longest != nil && o.Edge != nil:
		*s = sizeJSON{edge: *o.Edge, longest: *o.Longest}
	default:
		return fmt.Errorf("%s is not a size this program knows (height and width, shortest_edge or longest_edge)",
			plaintext.OneLine(string(text)))
	}
	return nil
}

// ParseHuggingFace reads a preprocessor_config.json of transformers' ViTImageProcessor (or one with its keys), of its
// CLIPImageProcessor or BitImageProcessor. Since version 5 transformers resizes with torchvision whatever the file
// says, unless the processor's name ends in Pil; so does this.
func ParseHuggingFace(text []byte) (*Config, error) {
	var kind struct {
		Type          string `json:"image_processor_type"`
		Older         string `json:"feature_extractor_type"`
		Flip          bool   `json:"do_flip_channel_order"`
		Offset        bool   `json:"offset"`
		RescaleOffset bool   `json:"rescale_offset"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, fmt.Errorf("not readable: %w", err)
	}
	if kind.Flip || kind.Offset || kind.RescaleOffset {
		return nil, fmt.Errorf("do_flip_channel_order %v, offset %v, rescale_offset %v: none of them is supported",
			kind.Flip, kind.Offset, kind.RescaleOffset)
	}
	if name := cmp.Or(kind.Type, kind.Older); strings.HasPrefix(name, "CLIP") || strings.HasPrefix(name, "Bit") {
		var err error
		if text, err = CLIP.complete(text, CLIP.Side); err != nil {
			return nil, fmt.Errorf("not readable: %w", err)
		}
	}
	resize, rescale, normalize := true, true, true
	f := struct {
		Type        string    `json:"image_processor_type"`
		DoResize    *bool     `json:"do_resize"`
		Size        *sizeJSON `json:"size"`
		Resample    *Filter   `json:"resample"`
		DoCrop      *bool     `json:"do_center_crop"`
		CropSize    *sizeJSON `json:"crop_size"`
		DoPad       *bool     `json:"do_pad"`
		PadSize     *sizeJSON `json:"pad_size"`
		DoRescale   *bool     `json:"do_rescale"`
		Factor      *float64  `json:"rescale_factor"`
		DoNormalize *bool     `json:"do_normalize"`
		Mean        []float64 `json:"image_mean"`
		Std         []float64 `json:"image_std"`
	}{DoResize: &resize, Size: &sizeJSON{height: 224, width: 224}, DoRescale: &rescale, DoNormalize: &normalize}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable: %w", err)
	}
	on := func(b *bool) bool { return b != nil && *b }
	c := Default(0, 0)
	c.Source, c.Torchvision = "preprocessor_config.json", !strings.HasSuffix(f.Type, "Pil")
	if f.Resample != nil {
		c.Filter = *f.Resample
	}
	switch {
	case !on(f.DoResize) || f.Size == nil:
		c.Resize = NoResize
	case f.Size.edge > 0 && f.Size.longest > 0:
		c.Resize, c.Edge, c.Longest = Within, f.Size.edge, f.Size.longest
	case f.Size.edge > 0:
		c.Resize, c.Edge = ShortestEdge, f.Size.edge
	case f.Size.longest > 0:
		if !on(f.DoPad) || f.PadSize == nil {
			return nil, fmt.Errorf("longest_edge without do_pad and a pad_size gives images of many sizes")
		}
		c.Resize, c.Edge, c.Height, c.Width = LongestEdge, f.Size.longest, f.PadSize.height, f.PadSize.width
	default:
		c.Height, c.Width = f.Size.height, f.Size.width
	}
	if strings.HasPrefix(f.Type, owlv2) {
		if err := c.checkPadSquare(f.Type, on(f.DoPad)); err != nil {
			return nil, err
		}
		c.Resize, c.Filter = PadSquare, Bilinear
	} else if on(f.DoCrop) {
		if f.CropSize == nil || f.CropSize.edge > 0 {
			return nil, fmt.Errorf("do_center_crop without a crop_size")
		}
		c.CropHeight, c.CropWidth = f.CropSize.height, f.CropSize.width
	}
	if !on(f.DoRescale) {
		c.Scale = 1
	} else if f.Factor != nil {
		c.Scale = *f.Factor
	}
	if !on(f.DoNormalize) {
		c.Mean, c.Std = [3]float64{}, [3]float64{1, 1, 1}
	} else if err := three(&c.Mean, f.Mean, "image_mean"); err != nil {
		return nil, err
	} else if err := three(&c.Std, f.Std, "image_std"); err != nil {
		return nil, err
	}
	if c.Torchvision && (c.Filter == Lanczos || c.Edge > 0 && max(c.CropHeight, c.CropWidth) > c.Edge) {
		c.Version = 2
	}
	return &c, nil
}

func three(to *[3]float64, from []float64, name string) error {
	switch len(from) {
	case 0:
	case 3:
		copy(to[:], from)
	default:
		return fmt.Errorf("%s has %d values, not 3", name, len(from))
	}
	return nil
}

// ParseTimm reads the pretrained_cfg of a timm config.json, for models of height × width: what timm's
// create_transform does at evaluation.
func ParseTimm(text []byte, height, width int) (*Config, error) {
	var file struct {
		Cfg struct {
			Interpolation string    `json:"interpolation"`
			CropPct       *float64  `json:"crop_pct"`
			CropMode      string    `json:"crop_mode"`
			Mean          []float64 `json:"mean"`
			Std           []float64 `json:"std"`
		} `json:"pretrained_cfg"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("not readable: %w", err)
	}
	f := file.Cfg
	c := Config{Filter: Bicubic, CropHeight: height, CropWidth: width, RoundCropEven: true, Scale: 1.0 / 255,
		Mean: ImageNetMean, Std: ImageNetStd, Source: "config.json, pretrained_cfg"}
	if f.Interpolation != "" && f.Interpolation != "random" {
		var ok bool
		if c.Filter, ok = filterNamed(f.Interpolation); !ok {
			return nil, fmt.Errorf("pretrained_cfg: interpolation %q is not known", f.Interpolation)
		}
	}
	pct := 0.875
	if f.CropPct != nil && *f.CropPct != 0 {
		pct = *f.CropPct
	}
	if !(pct > 0 && pct <= 1) {
		return nil, fmt.Errorf("pretrained_cfg: crop_pct %v is not in (0, 1]", pct)
	}
	h, w := int(math.Floor(float64(height)/pct)), int(math.Floor(float64(width)/pct))
	switch f.CropMode {
	case "", "center":
		if c.Resize, c.Edge = ShortestEdge, h; h != w {
			c.Resize, c.Edge, c.Height, c.Width = Cover, 0, h, w
		}
	case "squash":
		c.Resize, c.Height, c.Width = Stretch, h, w
	default:
		return nil, fmt.Errorf("pretrained_cfg: crop_mode %q is not supported (center, squash)", f.CropMode)
	}
	if err := three(&c.Mean, f.Mean, "pretrained_cfg: mean"); err != nil {
		return nil, err
	}
	return &c, three(&c.Std, f.Std, "pretrained_cfg: std")
}

// HuggingFace returns the configuration as the keys of a preprocessor_config.json of transformers' ViTImageProcessor;
// an error where that cannot express it.
func (c *Config) HuggingFace() (map[string]any, error) {
	if c.Resize != Stretch && c.Resize != NoResize || c.CropHeight != 0 {
		return nil, fmt.Errorf("preprocessing %q with a crop cannot be written as a ViTImageProcessor", c.Resize)
	}
	return map[string]any{
		"image_processor_type": "ViTImageProcessor",
		"do_resize":            c.Resize == Stretch, "size": map[string]int{"height": c.Height, "width": c.Width},
		"resample":   c.Filter,
		"do_rescale": true, "rescale_factor": c.Scale, "do_normalize": true, "image_mean": c.Mean, "image_std": c.Std,
	}, nil
}

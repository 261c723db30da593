package archipelago

import (
	"image"
	"image/color"
	"image/draw"
)

// The random streams of an image. The parts of an image use separate streams, so that one does not change another.
const (
	streamScene = iota + 1
	streamPlace
	streamObject
	streamFigure
)

// Draw draws an item's image, Options.Size pixels wide and high, and its object's mask: 255 = object, 0 = background.
// It returns nil, nil if the item's object, region, scene or variant is unknown.
func (w *World) Draw(it Item) (*image.RGBA, *image.Gray) {
	layer := w.object(it)
	img := w.Background(it)
	if img == nil || layer == nil {
		return nil, nil
	}
	return compose(img, layer)
}

// compose draws a layer over an image and returns the image and the layer's mask.
func compose(img, layer *image.RGBA) (*image.RGBA, *image.Gray) {
	draw.Draw(img, img.Rect, layer, image.Point{}, draw.Over)
	opaque(img)
	mask := image.NewGray(layer.Rect)
	for i := range mask.Pix {
		if layer.Pix[4*i+3] > 0 {
			mask.Pix[i] = 255
		}
	}
	return img, mask
}

// Background draws an item's image without its object but with its shadow on the ground; nil for an unknown item.
func (w *World) Background(it Item) *image.RGBA {
	isl, sc, t := findIsland(it.Region), findScene(it.Scene), findThing(it.Object)
	if isl == nil || sc == nil || t == nil {
		return nil
	}
	p := w.scenery(isl, sc, it.Backdrop)
	if at := placed(it, t); !t.flies {
		p.shadow(at)
	}
	opaque(p.im)
	return p.im
}

// scenery draws an empty background.
func (w *World) scenery(isl *island, sc *scene, backdrop uint64) *pen {
	p := newPen(image.NewRGBA(image.Rect(0, 0, w.opts.Size, w.opts.Size)), stream(backdrop, streamScene))
	sc.draw(p, newLight(p, isl))
	return p
}

// shadow draws a soft shadow at the foot of a place.
func (p *pen) shadow(at place) {
	for i := range 3 {
		k := 1 - 0.25*float64(i)
		p.oval(color.NRGBA{16, 14, 34, 34}, at.x, at.y+at.size*0.49, at.size*0.46*k, at.size*0.085*k)
	}
}

// opaque sets the alpha of all pixels to 255; blending rounds some down.
func opaque(im *image.RGBA) {
	for i := 3; i < len(im.Pix); i += 4 {
		im.Pix[i] = 255
	}
}

// object draws an item's object on a transparent layer; nil for an unknown item.
func (w *World) object(it Item) *image.RGBA {
	isl, t := findIsland(it.Region), findThing(it.Object)
	if isl == nil || t == nil {
		return nil
	}
	form := t.form(it.Variant)
	if form < 0 {
		return nil
	}
	im := image.NewRGBA(image.Rect(0, 0, w.opts.Size, w.opts.Size))
	p := newPen(im, stream(it.Seed, streamObject))
	at := placed(it, t)
	defer p.place(at.x, at.y, at.size, at.angle, at.mirrored)()
	t.draw(p, newLook(p, t, isl, form))
	return im
}

// place is the position of an object: the center and the side of its box, and its rotation in radians.
type place struct {
	x, y, size, angle float64
	mirrored          bool
}

func placed(it Item, t *thing) place {
	r := stream(it.Seed, streamPlace)
	between := func(a, b float64) float64 { return a + (b-a)*r.Float64() }
	at := place{size: between(0.56, 0.74), mirrored: r.IntN(2) == 0}
	half := at.size / 2
	at.x = between(half*0.9, 1-half*0.9)
	if t.flies {
		at.y = between(half, 1-half)
		at.angle = between(-0.35, 0.35)
	} else {
		at.y = between(0.80, 0.95) - half
		at.angle = between(-0.06, 0.06)
	}
	return at
}

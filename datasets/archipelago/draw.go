package archipelago

import (
	"image"
	"image/color"
	"image/draw"
)

// Random streams of a picture: what one part draws never shifts another part.
const (
	streamScene = iota + 1
	streamPlace
	streamObject
	streamFigure
)

// Draw draws a picture of Options.Size pixels a side and its object's mask: 255 = object, 0 = background (see the package
// comment for edges). An item whose object, region, scene or variant this world does not know gives nil, nil.
func (w *World) Draw(it Item) (*image.RGBA, *image.Gray) {
	layer := w.object(it)
	picture := w.Background(it)
	if picture == nil || layer == nil {
		return nil, nil
	}
	return compose(picture, layer)
}

// compose lays what is to be seen over its background, and makes the mask.
func compose(picture, layer *image.RGBA) (*image.RGBA, *image.Gray) {
	draw.Draw(picture, picture.Rect, layer, image.Point{}, draw.Over)
	opaque(picture)
	mask := image.NewGray(layer.Rect)
	for i := range mask.Pix {
		if layer.Pix[4*i+3] > 0 {
			mask.Pix[i] = 255
		}
	}
	return picture, mask
}

// Background draws the picture without its object (the soft shadow on the ground stays): nil for an item this world does not know.
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

// scenery draws a background with nothing in it.
func (w *World) scenery(isl *island, sc *scene, backdrop uint64) *pen {
	p := newPen(image.NewRGBA(image.Rect(0, 0, w.opts.Size, w.opts.Size)), stream(backdrop, streamScene))
	sc.draw(p, newLight(p, isl))
	return p
}

// shadow draws the soft shadow of what stands at a place.
func (p *pen) shadow(at place) {
	for i := range 3 {
		k := 1 - 0.25*float64(i)
		p.oval(color.NRGBA{16, 14, 34, 34}, at.x, at.y+at.size*0.49, at.size*0.46*k, at.size*0.085*k)
	}
}

// opaque takes back the last bit of alpha that blending rounds away.
func opaque(im *image.RGBA) {
	for i := 3; i < len(im.Pix); i += 4 {
		im.Pix[i] = 255
	}
}

// object draws the object alone on a transparent layer; nil for an item this world does not know.
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

// place is where an object is: the middle and the side of its box, its turn in radians.
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

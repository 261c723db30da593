package archipelago

import (
	"image/color"
	"math"
)

func sinTurn(i, n int) float64 { return math.Sin(2 * math.Pi * float64(i) / float64(n)) }
func cosTurn(i, n int) float64 { return math.Cos(2 * math.Pi * float64(i) / float64(n)) }

// star fills a star of n points, outer radius r, inner radius s, one point up.
func (p *pen) star(c color.Color, n int, x, y, r, s float64) {
	xy := make([]float64, 0, 4*n)
	for i := range 2 * n {
		d := r
		if i%2 == 1 {
			d = s
		}
		xy = append(xy, x+d*sinTurn(i, 2*n), y-d*cosTurn(i, 2*n))
	}
	p.poly(c, xy...)
}

func drawKettle(p *pen, k *look) {
	// rx, top and bottom of the body
	rx, top, low := 0.30*k.wide, -0.16, 0.48
	switch k.form {
	case 1:
		rx, top = 0.37*k.wide, 0.02
	case 2:
		rx, top = 0.22*k.wide, -0.28
	}
	mid := (top + low) / 2
	if k.form != 5 {
		p.blob(k.dark, rx*0.6, mid+0.10, 0.44, mid-0.04, 0.52, top-0.06, 0.44, top-0.06, 0.36, mid-0.16, rx*0.5,
			mid-0.06)
	}
	if k.bright { // a hoop over the lid, or a handle behind
		p.MoveTo(-rx*0.75, top+0.12)
		p.CubicTo(-rx*0.9, top-0.30, rx*0.9, top-0.30, rx*0.75, top+0.12)
	} else {
		p.MoveTo(-rx*0.7, mid-0.10)
		p.CubicTo(-0.56, mid-0.20, -0.56, mid+0.24, -rx*0.7, mid+0.12)
	}
	p.stroke(k.ink, 0.045)
	switch k.form {
	case 3:
		p.poly(k.body, -rx*0.6, top, rx*0.6, top, rx, mid, rx*0.7, low, -rx*0.7, low, -rx, mid)
		p.poly(k.pale, -rx*0.6, top, -rx*0.1, top, -rx*0.2, mid, -rx, mid)
		p.poly(k.dark, rx*0.3, mid, rx, mid, rx*0.7, low, rx*0.2, low)
	case 4:
		p.box(k.body, -0.30, -0.12, 0.60, 0.60)
		p.box(k.dark, 0.0, -0.12, 0.30, 0.30)
		p.box(k.dark, -0.30, 0.18, 0.30, 0.30)
	case 5:
		p.oval(k.body, 0, 0.26, 0.34, 0.24)
		p.oval(k.body, 0, -0.12, 0.20, 0.20)
		p.oval(k.dark, 0, 0.26, 0.22, 0.14)
		p.oval(k.dark, 0, -0.12, 0.11, 0.11)
		p.line(k.body, 0.07, 0.25, 0.16, 0.48, -0.10)
		p.line(k.body, 0.07, -0.25, 0.16, -0.48, -0.10)
	default:
		p.oval(k.body, 0, mid, rx, (low-top)/2)
		p.oval(k.pale, -rx*0.35, mid-(low-top)*0.14, rx*0.35, (low-top)*0.22)
		if k.patterned {
			p.line(k.trim, 0.05, -rx*0.93, mid+0.08, rx*0.93, mid+0.08)
		}
		p.pill(k.dark, -rx*0.6, low-0.03, rx*1.2, 0.05, 0.02)
	}
	if k.form < 5 {
		p.oval(k.trimDark, 0, top+0.02, rx*0.55, 0.05)
		p.oval(k.trim, 0, top-0.045, 0.045, 0.045)
	}
}

func drawUmbrella(p *pen, k *look) {
	p.line(k.wood, 0.045, 0, -0.42, 0, 0.42)
	p.MoveTo(0, 0.42)
	p.CubicTo(0, 0.54, 0.13, 0.54, 0.13, 0.42)
	p.stroke(k.wood, 0.045)
	w := 0.47
	apex, rim, bulge := -0.46, 0.02, 0.24
	switch k.form {
	case 1:
		apex, rim, bulge = -0.38, 0.00, 0.16
	case 2:
		rim, bulge = 0.12, -0.06
	case 3:
		w, rim, bulge = 0.36, 0.12, 0.34
	case 4:
		p.poly(k.body, -0.42, -0.44, 0.42, -0.44, 0.42, -0.04, -0.42, -0.04)
		for i := range 4 {
			for j := range 2 {
				if (i+j)%2 == 0 {
					p.box(k.dark, -0.42+0.21*float64(i), -0.44+0.2*float64(j), 0.21, 0.2)
				}
			}
		}
		return
	case 5:
		p.blob(k.body, -0.50, -0.50, -0.48, -0.50, -0.10, -0.26, 0.10, -0.26, 0.48, -0.50, 0.50, -0.50, 0.40, -0.10, 0,
			0.22, -0.40, -0.10)
		for i := range 5 {
			p.line(k.dark, 0.022, 0, 0.04, (float64(i)-2)*0.20, -0.38+0.05*math.Abs(float64(i)-2))
		}
		return
	}
	n := 2 * (1 + k.count) // panels
	for i := range n {
		a, b := -1+2*float64(i)/float64(n), -1+2*float64(i+1)/float64(n)
		c := k.body
		if i%2 == 1 {
			c = k.trim
			if k.patterned {
				c = k.dark
			}
		}
		p.MoveTo(0, apex)
		p.QuadraticTo(a*(w*0.5+bulge), (apex+rim)/2-bulge*0.5, a*w, rim)
		p.QuadraticTo((a+b)/2*w, rim-0.07, b*w, rim)
		p.QuadraticTo(b*(w*0.5+bulge), (apex+rim)/2-bulge*0.5, 0, apex)
		p.ClosePath()
		p.paint(c)
	}
	p.oval(k.ink, 0, apex-0.01, 0.02, 0.035)
}

func drawDrum(p *pen, k *look) {
	skin := hsl(40, 0.42, 0.88)
	// half widths at the top, the waist and the foot; y of the top
	a, b, c, top := 0.27, 0.27, 0.27, -0.34
	switch k.form {
	case 1:
		a, b, c, top = 0.40, 0.40, 0.40, -0.02
	case 2:
		a, b, c, top = 0.33, 0.13, 0.24, -0.40
	case 3:
		a, b, c, top = 0.27, 0.40, 0.27, -0.26
	case 4:
		p.poly(k.body, -0.40, -0.14, 0.22, -0.14, 0.22, 0.48, -0.40, 0.48)
		p.poly(k.dark, 0.22, -0.14, 0.44, -0.34, 0.44, 0.28, 0.22, 0.48)
		p.poly(k.pale, -0.40, -0.14, -0.18, -0.34, 0.44, -0.34, 0.22, -0.14)
		for i := range 3 {
			p.oval(k.ink, -0.25+0.16*float64(i), 0.02+0.15*float64(i), 0.05, 0.05)
		}
		return
	case 5:
		p.poly(k.body, -0.40, -0.44, 0.40, -0.44, 0.06, 0.02, 0.40, 0.48, -0.40, 0.48, -0.06, 0.02)
		p.poly(k.dark, 0.10, -0.44, 0.40, -0.44, 0.06, 0.02, 0.40, 0.48, 0.10, 0.48, 0, 0.02)
		p.star(k.pale, 4, 0, 0.02, 0.16, 0.06)
		return
	}
	a, b, c = a*k.wide, b*k.wide, c*k.wide
	low, mid := 0.42, (top+0.42)/2
	p.MoveTo(-a, top)
	p.QuadraticTo(-2*b+(a+c)/2, mid, -c, low)
	p.QuadraticTo(0, low+0.14, c, low)
	p.QuadraticTo(2*b-(a+c)/2, mid, a, top)
	p.ClosePath()
	p.paint(k.body)
	if k.patterned { // lacing
		n := k.count
		for i := range n {
			x0, x1 := -1+2*float64(i)/float64(n), -1+2*float64(i+1)/float64(n)
			p.line(k.trim, 0.022, x0*a*0.95, top+0.06, (x0+x1)/2*c*0.9, low, x1*a*0.95, top+0.06)
		}
	} else { // bands
		for i := range 2 {
			y := mid - 0.05 + 0.16*float64(i)
			p.line(k.trimDark, 0.04, -b*0.92, y, b*0.92, y)
		}
	}
	p.oval(k.ink, 0, top+0.02, a+0.02, 0.095)
	p.oval(k.trim, 0, top, a+0.02, 0.09)
	p.oval(skin, 0, top-0.01, a*0.9, 0.07)
	if k.extra { // sticks
		p.line(k.wood, 0.03, -0.10, top+0.01, 0.30, top-0.12)
		p.line(k.wood, 0.03, 0.08, top+0.02, -0.30, top-0.14)
	}
}

func drawMushroom(p *pen, k *look) {
	stem := hsl(44, 0.32, 0.86)
	single := func(x, y, s float64) {
		half, top := 0.40*k.wide, -0.40
		switch k.form {
		case 1:
			half, top = 0.48, -0.16
		case 2:
			half, top = 0.28*k.wide, -0.50
		}
		rim := top + 0.46
		if k.form == 1 {
			rim = top + 0.24
		}
		at := func(u, v float64) (float64, float64) { return x + u*s, y + v*s }
		stalk := []float64{-0.08, rim - 0.05, 0.08, rim - 0.05, 0.13, 0.50, -0.13, 0.50}
		for i := 0; i < len(stalk); i += 2 {
			stalk[i], stalk[i+1] = at(stalk[i], stalk[i+1])
		}
		p.poly(stem, stalk...)
		gx, gy := at(0, rim)
		p.oval(darker(stem, 0.22), gx, gy, half*0.98*s, 0.075*s)
		lx, ly := at(-half, rim)
		rx, _ := at(half, rim)
		tx, ty := at(0, top)
		lift := 1.0
		if k.form == 2 {
			lift = 0.25
		}
		p.MoveTo(lx, ly)
		p.CubicTo(lx, ly+(ty-ly)*lift, tx-0.12*s, ty, tx, ty)
		p.CubicTo(tx+0.12*s, ty, rx, ly+(ty-ly)*lift, rx, ly)
		p.QuadraticTo(tx, ly+0.06*s, lx, ly)
		p.ClosePath()
		p.paint(k.body)
		spot := k.trim
		if k.bright {
			spot = hsl(46, 0.5, 0.93)
		}
		for i := range k.count {
			u := (float64(i)+0.5)/float64(k.count)*1.3 - 0.65
			v := 0.35 + 0.25*float64(i%2)
			sx, sy := at(u*half, rim+(top-rim)*v*(1-0.4*u*u))
			p.oval(spot, sx, sy, 0.055*s, 0.042*s)
		}
	}
	switch k.form {
	case 3:
		single(-0.24, 0.14, 0.62)
		single(0.25, 0.20, 0.54)
		single(0.02, 0.02, 0.86)
	case 4:
		p.blob(k.body, -0.52, -0.44, 0.52, -0.44, 0.12, 0.02, 0.10, 0.56, -0.10, 0.56, -0.12, 0.02)
		p.oval(k.dark, 0, -0.30, 0.33, 0.10)
		for i := range 4 {
			p.line(k.pale, 0.02, -0.21+0.14*float64(i), -0.16, -0.04+0.027*float64(i), 0.14)
		}
	case 5:
		p.box(k.dark, -0.07, -0.3, 0.14, 0.8)
		for i := range 4 {
			y := -0.40 + 0.23*float64(i)
			w := 0.22 + 0.07*float64(i)
			p.blob(k.body, -w, y+0.12, 0, y-0.12, w, y+0.12, w, y+0.15, -w, y+0.15)
			p.line(k.pale, 0.02, -w*0.6, y+0.10, w*0.6, y+0.10)
		}
	default:
		single(0, 0, 1)
	}
}

func drawWindmill(p *pen, k *look) {
	wall := mix(k.body, hsl(40, 0.3, 0.86), 0.35)
	hubX, hubY, reach, blades := 0.0, -0.14, 0.36, 4
	turn := p.between(0, math.Pi/2)
	w := 0.20 * k.wide
	switch k.form {
	case 0:
		p.poly(wall, -w, 0.5, -w*0.62, -0.14, w*0.62, -0.14, w, 0.5)
		p.poly(darker(wall, 0.2), w*0.2, 0.5, w*0.2, -0.14, w*0.62, -0.14, w, 0.5)
		p.poly(k.trimDark, -w*0.8, -0.14, 0, -0.34, w*0.8, -0.14)
	case 1:
		p.poly(k.wood, -0.16, 0.5, -0.03, 0.18, 0.03, 0.18, 0.16, 0.5, 0.10, 0.5, 0, 0.28, -0.10, 0.5)
		p.box(wall, -w*1.1, -0.22, w*2.2, 0.44)
		for i := range 3 {
			p.line(darker(wall, 0.25), 0.014, -w*1.1, -0.10+0.11*float64(i), w*1.1, -0.10+0.11*float64(i))
		}
		p.poly(k.trimDark, -w*1.3, -0.22, 0, -0.40, w*1.3, -0.22)
	case 2:
		p.line(k.ink, 0.03, -0.17, 0.5, 0, -0.12, 0.17, 0.5)
		p.line(k.ink, 0.02, -0.13, 0.34, 0.09, 0.12, -0.08, 0.12, 0.13, 0.34)
		reach, blades = 0.30, 12
	case 3:
		p.pill(wall, -w*1.2, -0.06, w*2.4, 0.56, 0.03)
		p.oval(k.body, 0, -0.06, w*1.2, 0.20)
		hubY = -0.10
	case 4:
		p.poly(wall, -0.26, 0.5, -0.06, -0.2, 0.16, -0.2, 0.20, 0.5)
		p.poly(k.dark, -0.26, 0.5, -0.16, 0.15, 0.18, 0.15, 0.20, 0.5)
		for _, c := range [][2]float64{{-0.22, -0.24}, {0.24, 0.04}} {
			for i := range 3 {
				x, y := c[0]+0.24*math.Sin(turn+float64(i)*2.094), c[1]+0.24*math.Cos(turn+float64(i)*2.094)
				p.blob(k.body, c[0], c[1], x-0.06, y+0.06, x, y, x+0.06, y-0.06)
			}
			p.oval(k.pale, c[0], c[1], 0.06, 0.06)
		}
		return
	default:
		p.poly(wall, -0.10, 0.5, -0.10, 0, 0.10, 0, 0.10, 0.5)
		p.oval(k.body, 0, -0.14, 0.36, 0.36)
		p.oval(k.pale, 0, -0.14, 0.25, 0.25)
		p.star(k.dark, 8, 0, -0.14, 0.24, 0.12)
		return
	}
	if k.form != 2 {
		p.pill(k.ink, -0.05, 0.34, 0.10, 0.16, 0.04)
		p.oval(hsl(205, 0.4, 0.4), 0, 0.14, 0.035, 0.045)
	}
	for i := range blades {
		a := turn + 2*math.Pi*float64(i)/float64(blades)
		s, c := math.Sin(a), math.Cos(a)
		half := 0.055
		if blades > 4 {
			half = 0.035
		}
		x, y := hubX+reach*s, hubY-reach*c
		p.poly(k.trim, hubX+0.07*s, hubY-0.07*c, x-half*c, y-half*s, x+half*c*1.6, y+half*s*1.6, hubX+0.07*s+half*c*1.6,
			hubY-0.07*c+half*s*1.6)
		p.line(k.ink, 0.016, hubX, hubY, x, y)
	}
	p.oval(k.ink, hubX, hubY, 0.04, 0.04)
}

package archipelago

import "image/color"

func drawPeaks(p *pen, l *light) {
	horizon := p.between(0.52, 0.62)
	l.heaven(p, horizon+0.04)
	rock := l.lit(l.sky+12, 0.20, 0.46)
	for i := range 3 {
		x, h, w := (float64(i)+p.between(0.1, 0.9))/3, p.between(0.26, 0.46), p.between(0.24, 0.36)
		c := l.far(darker(rock, 0.1*float64(i)), 0.5-0.15*float64(i))
		top := horizon - h
		p.poly(c, x-w, horizon+0.05, x, top, x+w, horizon+0.05)
		p.poly(darker(c, 0.22), x, top, x+w, horizon+0.05, x+w*0.25, horizon+0.05, x+w*0.08, top+h*0.45)
		snow := lighter(l.lit(l.sky, 0.2, 0.93), 0.4)
		p.poly(snow, x, top, x+w*0.30, top+h*0.30, x+w*0.14, top+h*0.25, x+w*0.04, top+h*0.38, x-w*0.10, top+h*0.26,
			x-w*0.28, top+h*0.30)
	}
	if p.chance(0.5) { // a band of cloud
		y := p.between(horizon-0.14, horizon-0.05)
		for range 5 {
			p.oval(clear(lighter(l.low, 0.5), 0.5), p.r.Float64(), y+p.between(-0.02, 0.02), p.between(0.1, 0.25),
				p.between(0.012, 0.03))
		}
	}
	slope := l.far(l.lit(l.land-10, 0.30, 0.44), 0.35)
	p.ridge(slope, horizon+0.03, 0.05, 5, false)
	for range 8 + p.r.IntN(8) { // firs
		x, y, s := p.r.Float64(), p.between(horizon+0.03, horizon+0.13), p.between(0.035, 0.06)
		c := l.lit(l.land+24, 0.34, p.between(0.22, 0.32))
		for i := range 3 {
			k := 1 - 0.25*float64(i)
			d := float64(i) * s * 0.55
			p.poly(c, x-s*0.5*k, y-d, x, y-d-s, x+s*0.5*k, y-d)
		}
	}
	ground := l.lit(l.earth-6, 0.26, 0.56)
	if p.chance(0.35) { // snow on the ground
		ground = lighter(l.lit(l.sky, 0.25, 0.88), 0.3)
	}
	p.ridge(ground, horizon+0.16, 0.03, 4, false)
	for range 5 + p.r.IntN(7) {
		x, y, s := p.r.Float64(), p.between(horizon+0.22, 1), p.between(0.015, 0.04)
		c := darker(l.lit(l.sky+12, 0.12, 0.55), p.between(0, 0.3))
		p.blob(c, x-s, y, x-s*0.6, y-s, x+s*0.4, y-s*1.1, x+s, y-s*0.1, x, y+s*0.2)
	}
}

func drawStreet(p *pen, l *light) {
	ground := p.between(0.66, 0.76)
	l.heaven(p, 0.5)
	x := p.between(-0.15, 0)
	for x < 1 {
		w := p.between(0.2, 0.34)
		l.house(p, x, w, p.between(0.06, 0.30), ground)
		x += w
	}
	stone := l.lit(l.earth+6, 0.20, 0.62)
	p.fade(darker(stone, 0.12), lighter(stone, 0.1), ground, 1)
	joint := darker(stone, 0.26)
	rows := 4 + p.r.IntN(3)
	shift := p.r.Float64()
	for i := range rows {
		t := float64(i) / float64(rows)
		y := ground + (1-ground)*t*t
		p.line(joint, 0.005, -0.1, y, 1.1, y)
	}
	for i := range 9 {
		t := (float64(i) + shift - 4.5) / 4.5
		p.line(joint, 0.005, 0.5+t*0.45, ground, 0.5+t*1.1, 1.02)
	}
	if p.chance(0.65) { // bunting
		y, sag := p.between(0.06, 0.2), p.between(0.05, 0.14)
		px, py := -0.05, y
		for i := 1; i <= 10; i++ {
			nx := -0.05 + 0.11*float64(i)
			u := nx*2 - 1
			ny := y + sag*(1-u*u)
			p.line(l.lit(l.earth, 0.2, 0.3), 0.005, px, py, nx, ny)
			c := l.lit(l.accent+float64(i%3)*50, 0.7, 0.62)
			p.poly(c, px+0.015, py+0.003, nx-0.015, ny+0.003, (px+nx)/2, (py+ny)/2+0.07)
			px, py = nx, ny
		}
	}
}

// house draws a house front of width w from x, from the eaves at y down to the ground.
func (l *light) house(p *pen, x, w, y, ground float64) {
	wall := l.lit(l.earth+p.between(-14, 24), p.between(0.25, 0.5), p.between(0.66, 0.84))
	if p.chance(0.25) {
		wall = l.lit(l.accent, 0.35, 0.74)
	}
	p.box(wall, x, y, w, ground-y+0.01)
	p.box(clear(darker(wall, 0.6), 0.18), x, y, w*0.06, ground-y+0.01)
	roof := l.lit(l.accent+14, 0.42, 0.46)
	if p.chance(0.5) {
		p.poly(roof, x-0.02, y, x+w*0.5, y-p.between(0.06, 0.14), x+w+0.02, y)
	} else {
		p.box(roof, x-0.01, y-0.025, w+0.02, 0.04)
	}
	glass := mix(l.lit(l.sky, 0.35, 0.45), hsl(44, 0.95, 0.68), 0.9*l.hour)
	for row := range 3 {
		wy := y + 0.06 + 0.155*float64(row)
		if wy+0.10 > ground-0.17 {
			break
		}
		for col := range 2 {
			wx := x + w*(0.18+0.40*float64(col))
			p.box(lighter(wall, 0.5), wx-0.008, wy-0.008, w*0.22+0.016, 0.10+0.016)
			p.box(glass, wx, wy, w*0.22, 0.10)
			p.line(lighter(wall, 0.5), 0.007, wx+w*0.11, wy, wx+w*0.11, wy+0.10)
		}
	}
	if p.chance(0.5) { // a striped awning
		n := 6
		for i := range n {
			c := l.lit(l.accent, 0.65, 0.58)
			if i%2 == 1 {
				c = hsl(44, 0.4, 0.93)
			}
			a, b := x+w*float64(i)/float64(n), x+w*float64(i+1)/float64(n)
			p.poly(c, a, ground-0.15, b, ground-0.15, b, ground-0.095, (a+b)/2, ground-0.08, a, ground-0.095)
		}
	}
	door := x + w*p.between(0.3, 0.6)
	p.box(l.lit(l.sea, 0.4, 0.32), door, ground-0.12, w*0.24, 0.13)
}

func drawRoom(p *pen, l *light) {
	floor := p.between(0.70, 0.80)
	wall := l.lit(l.accent+p.between(-30, 30), p.between(0.2, 0.42), p.between(0.72, 0.86))
	p.fade(darker(wall, 0.08), wall, 0, floor)
	l.wallpaper(p, wall, floor)
	x, y, w := p.between(0.04, 0.62), p.between(0.06, 0.14), p.between(0.26, 0.36)
	l.window(p, x, y, w)
	side := x + w + 0.08
	if x > 0.33 {
		side = x - 0.26
	}
	for range 1 + p.r.IntN(2) { // framed images
		fx, fy, fw := side+p.between(0, 0.05), p.between(0.08, 0.36), p.between(0.10, 0.17)
		p.box(l.lit(l.earth, 0.4, 0.4), fx, fy, fw, fw*1.1)
		p.box(hsl(46, 0.4, 0.92), fx+0.012, fy+0.012, fw-0.024, fw*1.1-0.024)
		p.oval(l.lit(l.accent+120*p.r.Float64(), 0.5, 0.6), fx+fw/2, fy+fw*0.55, fw*0.25, fw*0.3)
	}
	wood := l.lit(l.earth-4, 0.42, 0.50)
	p.fade(darker(wood, 0.1), wood, floor, 1)
	p.box(lighter(wall, 0.5), -0.1, floor-0.025, 1.2, 0.025)
	shift := p.r.Float64()
	for i := range 10 {
		t := (float64(i) + shift - 5) / 5
		p.line(darker(wood, 0.25), 0.006, 0.5+t*0.6, floor, 0.5+t*1.0, 1.02)
	}
	if p.chance(0.7) { // a rug
		cx, cy, rx := p.between(0.3, 0.7), p.between(floor+0.1, floor+0.16), p.between(0.28, 0.42)
		p.oval(l.lit(l.accent, 0.5, 0.45), cx, cy, rx, 0.075)
		p.oval(l.lit(l.earth+20, 0.5, 0.72), cx, cy, rx*0.82, 0.056)
		p.oval(l.lit(l.accent+40, 0.5, 0.52), cx, cy, rx*0.5, 0.032)
	}
	if p.chance(0.5) { // a potted plant
		px := p.edge()
		for range 6 {
			p.oval(l.lit(l.land, 0.45, p.between(0.3, 0.45)), px+p.between(-0.06, 0.06),
				floor-0.12+p.between(-0.08, 0.06), 0.035, 0.06)
		}
		p.poly(l.lit(l.accent+20, 0.5, 0.5), px-0.055, floor-0.06, px+0.055, floor-0.06, px+0.04, floor+0.05, px-0.04,
			floor+0.05)
	}
}

// wallpaper draws a plain, striped or dotted wall.
func (l *light) wallpaper(p *pen, wall color.NRGBA, floor float64) {
	ink := clear(darker(wall, 0.3), 0.35)
	switch p.r.IntN(3) {
	case 0:
		for x := p.between(0, 0.05); x < 1; x += 0.09 {
			p.box(ink, x, 0, 0.03, floor)
		}
	case 1:
		for row := range 7 {
			for col := range 8 {
				p.oval(ink, 0.14*(float64(col)+0.5*float64(row%2)), 0.05+0.11*float64(row), 0.014, 0.014)
			}
		}
	}
}

// window draws a square window of side w with a view of the island.
func (l *light) window(p *pen, x, y, w float64) {
	frame := lighter(l.lit(l.earth, 0.3, 0.7), 0.5)
	p.box(frame, x-0.02, y-0.02, w+0.04, w+0.04)
	p.box(mix(l.top, l.low, 0.5), x, y, w, w)
	view := l.lit(l.land, 0.45, 0.48)
	if p.chance(0.5) {
		view = l.lit(l.sea, 0.6, 0.5)
	}
	p.box(view, x, y+w*p.between(0.55, 0.75), w, w*0.25)
	p.box(view, x, y+w*0.75, w, w*0.25)
	p.line(frame, 0.016, x+w/2, y, x+w/2, y+w)
	p.line(frame, 0.016, x, y+w/2, x+w, y+w/2)
	if p.chance(0.6) { // curtains
		c := l.lit(l.accent, 0.55, 0.55)
		p.poly(c, x-0.04, y-0.03, x+w*0.22, y-0.03, x+w*0.04, y+w+0.05, x-0.05, y+w+0.05)
		p.poly(c, x+w+0.04, y-0.03, x+w*0.78, y-0.03, x+w*0.96, y+w+0.05, x+w+0.05, y+w+0.05)
	}
}

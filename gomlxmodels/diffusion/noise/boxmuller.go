package noise

import "math"

// block is how many uniform numbers PyTorch's vectorized Box–Muller transform turns into normal ones at once.
const block = 16

// boxMuller turns 16 numbers uniform in [0, 1) into 16 normal ones: of each pair u[i], u[i+8] the first gives the
// radius.
func boxMuller(u *[block]float32) {
	for i := range block / 2 {
		radius := float32(math.Sqrt(float64(float32(-2 * log32(1-u[i])))))
		sin, cos := sincos32(float32(2*math.Pi) * u[i+block/2])
		u[i], u[i+block/2] = radius*cos, radius*sin
	}
}

// fma is x·y + z, rounded once. (Rounding to float64 before float32 could only differ where the sum is within 2⁻²⁹ of
// a tie.)
func fma(x, y, z float32) float32 { return float32(math.FMA(float64(x), float64(y), float64(z))) }

// log32 is the natural logarithm of a normal positive number, by the polynomial of Cephes' logf.
func log32(x float32) float32 {
	bits := math.Float32bits(x)
	e := float32(int32(bits>>23) - 126)
	m := math.Float32frombits(bits&0x007fffff | 0x3f000000) // in [0.5, 1)
	if m < 0.707106781186547524 {
		e--
		m = float32(m-1) + m
	} else {
		m--
	}
	z := m * m
	y := float32(7.0376836292e-2)
	for _, c := range [...]float32{-1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
		-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1} {
		y = fma(y, m, c)
	}
	y = fma(float32(y*m), z, e*-2.12194440e-4)
	y = fma(-z, 0.5, y)
	return fma(e, 0.693359375, m+y)
}

// sincos32 are the sine and cosine of an angle of at most 2π, by the polynomials of Cephes' sincosf.
func sincos32(x float32) (sin, cos float32) {
	octant := (int32(float32(x*1.27323954473516)) + 1) &^ 1
	y := float32(octant)
	x = fma(y, -0.78515625, x)
	x = fma(y, -2.4187564849853515625e-4, x)
	x = fma(y, -3.77489497744594108e-8, x)
	z := x * x
	c := fma(2.443315711809948e-5, z, -1.388731625493765e-3)
	c = fma(c, z, 4.166664568298827e-2)
	c = fma(float32(c*z), z, float32(-z*0.5)) + 1
	s := fma(-1.9515295891e-4, z, 8.3321608736e-3)
	s = fma(s, z, -1.6666654611e-1)
	s = fma(float32(s*z), x, x)
	if octant&2 != 0 {
		s, c = c, s
	}
	if octant&4 != 0 {
		s = -s
	}
	if (octant+2)&4 != 0 {
		c = -c
	}
	return s, c
}

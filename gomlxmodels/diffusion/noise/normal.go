package noise

import "math"

// Generator is the state of a torch.Generator on the CPU. It is not for use by several goroutines at once.
type Generator struct {
	engine  *mersenne
	spare   float64 // the second normal number of a pair, not given yet
	isSpare bool
}

// New is a generator after manual_seed(seed). PyTorch seeds its twister with the seed's lower 32 bits: seeds that
// differ only above them give the same numbers.
func New(seed uint64) *Generator {
	return &Generator{engine: newMersenne(uint32(seed))}
}

// Normal fills dst with what torch.randn of that many elements gives next: independent numbers of mean 0 and variance
// 1. As in PyTorch the numbers depend on how many are requested at once: fewer than 16 come pair by pair in float64,
// and others in blocks of 16, where the last 16 are sampled again if the blocks do not fill dst.
func (g *Generator) Normal(dst []float32) {
	if len(dst) < block {
		for i := range dst {
			dst[i] = float32(g.normal())
		}
		return
	}
	for i := range dst {
		dst[i] = g.uniform32()
	}
	for at := 0; at+block <= len(dst); at += block {
		boxMuller((*[block]float32)(dst[at:]))
	}
	if len(dst)%block != 0 {
		tail := (*[block]float32)(dst[len(dst)-block:])
		for i := range tail {
			tail[i] = g.uniform32()
		}
		boxMuller(tail)
	}
}

// uniform32 is uniform in [0, 1), a multiple of 2⁻²⁴.
func (g *Generator) uniform32() float32 {
	return float32(g.engine.uint32()&(1<<24-1)) * (1.0 / (1 << 24))
}

// uniform64 is uniform in [0, 1), a multiple of 2⁻⁵³.
func (g *Generator) uniform64() float64 {
	high := uint64(g.engine.uint32())
	return float64((high<<32|uint64(g.engine.uint32()))&(1<<53-1)) * (1.0 / (1 << 53))
}

// normal is one number of the Box–Muller transform in float64; the pair's other number comes with the next call.
func (g *Generator) normal() float64 {
	if g.isSpare {
		g.isSpare = false
		return g.spare
	}
	angle, u := 2*math.Pi*g.uniform64(), g.uniform64()
	radius := math.Sqrt(-2 * math.Log1p(-u))
	sin, cos := math.Sincos(angle)
	g.spare, g.isSpare = radius*sin, true
	return radius * cos
}

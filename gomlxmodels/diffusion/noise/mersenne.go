package noise

// The parameters of MT19937: Matsumoto, Nishimura: Mersenne Twister, 1998.
const (
	words = 624
	shift = 397
)

// mersenne is the 32-bit Mersenne Twister MT19937.
type mersenne struct {
	state [words]uint32
	next  int // the word of state to be given next; words = none is left
}

func newMersenne(seed uint32) *mersenne {
	m := &mersenne{next: words}
	m.state[0] = seed
	for i := 1; i < words; i++ {
		m.state[i] = 1812433253*(m.state[i-1]^m.state[i-1]>>30) + uint32(i)
	}
	return m
}

func (m *mersenne) uint32() uint32 {
	if m.next == words {
		m.twist()
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *mersenne) twist() {
	for i := range m.state {
		y := m.state[i]&0x80000000 | m.state[(i+1)%words]&0x7fffffff
		v := m.state[(i+shift)%words] ^ y>>1
		if y&1 != 0 {
			v ^= 0x9908b0df
		}
		m.state[i] = v
	}
	m.next = 0
}

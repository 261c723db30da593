package interval

import "math"

// Wilson returns the share k/n with its score interval (Wilson, JASA 22, 1927), which contains the share and, unlike a
// resampling interval, has a width if k is 0 or n. All are NaN if n is 0.
func Wilson(k, n int, level float64) Interval {
	m := float64(n)
	share, z := float64(k)/m, math.Sqrt2*math.Erfinv(level)
	middle, half := (share+z*z/(2*m))/(1+z*z/m), z/(1+z*z/m)*math.Sqrt(share*(1-share)/m+z*z/(4*m*m))
	return Interval{Value: share, Low: max(0, min(middle-half, share)), High: min(1, max(middle+half, share)),
		Level: level} // the share is inside despite rounding
}

package interval

import "math"

// Wilson is the share k/n with its score interval (Wilson, JASA 22, 1927), which unlike resampling has a width where all or none are counted, and always holds
// the share. NaN where n is 0.
func Wilson(k, n int, level float64) Interval {
	m := float64(n)
	share, z := float64(k)/m, math.Sqrt2*math.Erfinv(level)
	middle, half := (share+z*z/(2*m))/(1+z*z/m), z/(1+z*z/m)*math.Sqrt(share*(1-share)/m+z*z/(4*m*m))
	return Interval{Value: share, Low: max(0, min(middle-half, share)), High: min(1, max(middle+half, share)), Level: level} // rounding must not push the share out
}

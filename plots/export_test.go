package plots

// What the tests of the package see of its inside.
var (
	Exact = exact
	Wrap  = wrap
	Fit   = fit
)

// InlineBytes is the limit of inline image data of a number of images.
func InlineBytes(n int) int { return inlineBytes(n) }

// PreviewBytes is the limit of the PNG of a figure that is shown.
const PreviewBytes = previewBytes

// Ticks gives the ends and the ticks of an axis.
func Ticks(low, high float64, limits *[2]float64, n int) (ends [2]float64, at []float64, names []string) {
	a := numberAxis(low, high, limits, n)
	for _, t := range a.ticks {
		at, names = append(at, t.at), append(names, t.name)
	}
	return [2]float64{a.low, a.high}, at, names
}

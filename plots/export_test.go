package plots

import (
	"context"

	"antipode/datasets/cell"
)

// InlineBytes is the limit of inline image data of a number of images.
func InlineBytes(n int) int { return inlineBytes(n, false) }

// PreviewBytes is the limit of the PNG of a figure that is shown.
const PreviewBytes = previewBytes

// Bundle returns a figure in the forms that a notebook stores.
func Bundle(f Figure) (cell.Bundle, error) { return f.figure().bundle(context.Background()) }

// Ticks returns the ends and the ticks of an axis.
func Ticks(low, high float64, limits Range, n int) (ends [2]float64, at []float64, names []string) {
	return written(numberAxis(low, high, limits, n))
}

// WholeTicks is [Ticks] for whole numbers.
func WholeTicks(low, high float64, n int) (ends [2]float64, at []float64, names []string) {
	return written(snugAxis([]value{single(low), missing, single(high)}, Range{}, n, 0))
}

func written(a axis) (ends [2]float64, at []float64, names []string) {
	for _, t := range a.ticks {
		at, names = append(at, t.at), append(names, t.name)
	}
	return [2]float64{a.low, a.high}, at, names
}

// Text is [Render] for formats that are text.
func Text(f Figure, format string) (string, error) {
	data, err := Render(f, format)
	return string(data), err
}

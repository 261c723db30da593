package jupyter

// The kernelspec's name and what front ends show.
const (
	SpecName    = "antipode"
	DisplayName = "Go (Antipode)"
)

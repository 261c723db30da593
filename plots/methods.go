package plots

import "context"

// These are the methods of [Figure], and SaveImages for figures of images. An embedded struct cannot promote them: its
// fields could not be set in a literal.

// SVG returns a complete document: see [Figure].
func (f Bars) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Bars) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Bars) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Bars) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Bars) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Bars) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Bars) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SVG returns a complete document: see [Figure].
func (f Forest) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Forest) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Forest) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Forest) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Forest) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Forest) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Forest) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SVG returns a complete document: see [Figure].
func (f Gallery) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Gallery) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Gallery) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Gallery) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Gallery) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Gallery) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Gallery) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SaveImages copies the originals of the images shown into a folder. It fails as [Figure].Show does.
func (f Gallery) SaveImages(folder string) { f.figure().saveImages(folder) }

// SaveImagesE is SaveImages for programs: it returns the number of files.
func (f Gallery) SaveImagesE(ctx context.Context, folder string) (int, error) {
	return f.figure().saveImagesE(ctx, folder)
}

// SVG returns a complete document: see [Figure].
func (f Grid) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Grid) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Grid) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Grid) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Grid) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Grid) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Grid) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SaveImages copies the originals of the images shown into a folder. It fails as [Figure].Show does.
func (f Grid) SaveImages(folder string) { f.figure().saveImages(folder) }

// SaveImagesE is SaveImages for programs: it returns the number of files.
func (f Grid) SaveImagesE(ctx context.Context, folder string) (int, error) {
	return f.figure().saveImagesE(ctx, folder)
}

// SVG returns a complete document: see [Figure].
func (f Heat) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Heat) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Heat) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Heat) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Heat) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Heat) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Heat) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SVG returns a complete document: see [Figure].
func (f Histogram) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Histogram) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Histogram) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Histogram) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Histogram) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Histogram) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Histogram) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SVG returns a complete document: see [Figure].
func (f Lines) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Lines) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Lines) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Lines) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Lines) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Lines) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Lines) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SVG returns a complete document: see [Figure].
func (f Map) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Map) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Map) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Map) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Map) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Map) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Map) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SVG returns a complete document: see [Figure].
func (f Scatter) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Scatter) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Scatter) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Scatter) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Scatter) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Scatter) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Scatter) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SVG returns a complete document: see [Figure].
func (f Segments) SVG() ([]byte, error) { return f.figure().bytes("svg") }

// PNG returns an image: see [Figure].
func (f Segments) PNG() ([]byte, error) { return f.figure().bytes("png") }

// HTML returns an element without script: see [Figure].
func (f Segments) HTML() (string, error) { return f.figure().text("html") }

// Show displays the figure under the cell: see [Figure].
func (f Segments) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Segments) ShowE(ctx context.Context) error { return f.figure().showE(ctx) }

// Save writes a .svg, .png or .html file: see [Figure].
func (f Segments) Save(path string) { f.figure().save(path) }

// SaveE is Save for programs: it returns the error.
func (f Segments) SaveE(ctx context.Context, path string) error { return f.figure().saveE(ctx, path) }

// SaveImages copies the originals of the images shown into a folder. It fails as [Figure].Show does.
func (f Segments) SaveImages(folder string) { f.figure().saveImages(folder) }

// SaveImagesE is SaveImages for programs: it returns the number of files.
func (f Segments) SaveImagesE(ctx context.Context, folder string) (int, error) {
	return f.figure().saveImagesE(ctx, folder)
}

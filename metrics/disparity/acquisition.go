package disparity

import (
	"context"
	"fmt"
	"image"
	"math"
	"os"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/exif"
	"antipode/internal/fault"
	"antipode/internal/icc"
	"antipode/internal/imagefile"
	"antipode/internal/jpeg"
	"antipode/internal/thumb"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// AcquisitionOptions are the options of [Acquisition].
type AcquisitionOptions struct {
	By    []string `json:"by,omitempty" required:"true" help:"text columns that define the groups"`
	Least float64  `json:"least,omitempty" default:"0.5" help:"smallest difference that is flagged, in standard deviations of the images of a group"`
	Level float64  `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
}

// acquisitionRow is a row of [Acquisition]: a covariate of a group's images.
type acquisitionRow struct {
	Group     metrics.Group
	Covariate string           `column:"covariate" help:"profile, camera, jpeg, copies: shares of images; jpeg_quality, megapixels, sharpness, saturation: means"`
	Value     metrics.Estimate `column:"value"`
	Gap       metrics.Estimate `column:"gap" help:"value − mean of the other groups; of sharpness and saturation minus that of the generated images, where they are given"`
	Flagged   bool             `column:"flagged" help:"the interval excludes 0, and the difference to the median of the other groups is large enough"`
	Detail    string           `column:"detail" help:"the most frequent camera"`
	Images    int              `column:"n_images" unit:"images" help:"with a value"`
	Interval  string           `column:"interval"`
}

var acquisition = metrics.Define(metrics.Definition[AcquisitionOptions, acquisitionRow]{
	Name: "acquisition", Version: 2, Title: "how the images of each group were taken and stored, and which differ",
	Unit: "the covariate's", Range: "[0, ∞)", Direction: "none",
	Citation: "Torralba and Efros, CVPR 2011 (bias of data sets); " +
		"Annex K of ITU-T T.81 (1992), of the quality of a JPEG",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("image:image"), About: "reference images"},
		{Role: "generated", Optional: true, Columns: datasets.Columns("image:image"),
			About: "generated images of the same groups, whose sharpness and saturation show what is the group's own"}},
	Compute: computeAcquisition,
})

// Acquisition is the metric acquisition: how the reference images of each group were taken and stored, and whether that
// differs from the other groups, by which a fair generator can seem to be worse at one of them.
//
//   - profile: the share with another color profile than sRGB, which encoders ignore;
//   - camera: the share whose EXIF data names a camera;
//   - jpeg, jpeg_quality: the share of JPEG files, and their quality from 1 to 100 as their tables tell;
//   - megapixels: the size;
//   - sharpness: the 95th percentile of the luminance gradient, in levels per pixel of at most 256 × 256;
//   - saturation: the mean difference between the largest and the smallest channel, from 0 to 1;
//   - copies: the share of files that occur more than once.
//
// The intervals of gaps hold for all groups and covariates at once (Šidák). A group is flagged where it differs from
// the median of the others, too, which one group that is unusual does not move. Sharpness and saturation depend on what
// an image shows: give the generated images of the same groups, and their gaps are subtracted, among the groups that
// have two of them. A group is then flagged if it differs with and without that.
func Acquisition(images, generated datasets.Table, options ...AcquisitionOptions) datasets.Table {
	return acquisition.Table(map[string]datasets.Table{"in": images, "generated": generated}, options...)
}

// covariates are the values of [Acquisition], the last two of the pixels, the others of the file.
var covariates = []string{"profile", "camera", "jpeg", "jpeg_quality", "megapixels", "copies", "sharpness",
	"saturation"}

const firstOfPixels = 6

// acquired are the covariates of an image; NaN = none.
type acquired struct {
	values [8]float64
	camera string
}

func acquire(file string, copied bool) (a acquired, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return a, err
	}
	config, kind, err := imagefile.Config(data)
	if err != nil {
		return a, err
	}
	a.camera = exif.Camera(data)
	v := &a.values
	if b := icc.Embedded(data); b != nil {
		p, err := icc.Parse(b)
		v[0] = share(err != nil || !p.IsSRGB(false))
	}
	v[1], v[2], v[3], v[5] = share(a.camera != ""), share(kind == "JPEG"), math.NaN(), share(copied)
	if kind == "JPEG" {
		v[3] = jpeg.Quality(data)
	}
	v[4] = float64(config.Width) * float64(config.Height) / 1e6
	_, err = imagefile.Decode(data, func(img image.Image, _ string, _ image.Config) (bool, error) {
		zoom := min(1, 256/float64(max(config.Width, config.Height)))
		v[6], v[7] = look(thumb.Scaled(img, zoom))
		return true, nil
	})
	return a, err
}

// look returns the sharpness and the saturation of an image.
func look(img *image.RGBA) (sharpness, saturation float64) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	light, steep := make([]float64, w*h), []float64{0}
	for i := range light {
		r, g, b := img.Pix[4*i], img.Pix[4*i+1], img.Pix[4*i+2]
		light[i] = 0.299*float64(r) + 0.587*float64(g) + 0.114*float64(b)
		saturation += float64(max(r, g, b)-min(r, g, b)) / 255 / float64(w*h)
		if x, y := i%w, i/w; x > 0 && y > 0 {
			steep = append(steep, math.Hypot(light[i]-light[i-1], light[i]-light[i-w]))
		}
	}
	slices.Sort(steep)
	return interval.Quantile(steep, 0.95), saturation
}

// acquiredGroups returns the covariates of the images of each group, by its name; none without the table.
func acquiredGroups(ctx context.Context, call *metrics.Call, role string, by []string) (groups []table.Group,
	of map[string][]acquired, err error) {
	in := tabular.Read(call, role)
	groups = in.SortedGroups(by)
	if in.Frame == nil || in.Err != nil {
		return nil, nil, in.Err
	}
	f := in.Frame
	images, copied := f.Images("image"), tabular.Copies(call, role, "")
	of = map[string][]acquired{}
	for _, g := range groups {
		rows := slices.DeleteFunc(g.Rows, func(row int) bool {
			return tabular.Outcome(f, row) != "" || images[row].Path == ""
		})
		all := make([]acquired, len(rows))
		if err := fault.Until(ctx, len(rows), func(_ context.Context, i int) (err error) {
			if all[i], err = acquire(images[rows[i]].Path, copied[rows[i]]); err != nil {
				err = tabular.BadRow(f, rows[i], "image", "%v", err)
			}
			return err
		}); err != nil {
			return nil, nil, err
		}
		of[strings.Join(g.By, ", ")] = all
	}
	return groups, of, nil
}

func computeAcquisition(ctx context.Context, call *metrics.Call, o AcquisitionOptions) (out []acquisitionRow,
	err error) {
	groups, real, err := acquiredGroups(ctx, call, "in", o.By)
	if err != nil {
		return nil, err
	}
	if len(groups) < 2 {
		return nil, &table.Error{Code: table.CodeUsage, Message: "acquisition compares groups; there is one (--by)"}
	}
	_, generated, err := acquiredGroups(ctx, call, "generated", o.By)
	if err != nil {
		return nil, err
	}
	var notes metrics.GroupNotes
	for c := range covariates {
		out = append(out, o.compare(c, groups, real, generated, &notes)...)
	}
	notes.AddTo(call, o.By...)
	return out, nil
}

// compare returns the rows of a covariate.
func (o AcquisitionOptions) compare(covariate int, groups []table.Group, real, generated map[string][]acquired,
	notes *metrics.GroupNotes) (rows []acquisitionRow) {
	var photographed, both, made []interval.Powered // means of the groups in rows, and of those that have two sides
	var corrected []int                             // the rows of the latter
	var few []string
	spread, units := 0.0, 0.0
	for _, g := range groups {
		group := strings.Join(g.By, ", ")
		values := valuesOf(real[group], covariate)
		if len(values) < 2 {
			few = append(few, strings.Join(g.By, "/"))
			continue
		}
		mean := interval.SampleMean(values)
		for _, v := range values {
			spread, units = spread+math.Pow(v-mean.Value, 2), units+1
		}
		row := acquisitionRow{Group: g.By, Covariate: covariates[covariate], Images: len(values),
			Value: metrics.Exact(mean.Value), Gap: metrics.Exact(math.NaN()),
			Interval: fmt.Sprintf("%.4g %% interval, of gaps "+
				"simultaneous over groups and covariates", 100*o.Level)}
		row.Value.Low, row.Value.High = mean.Interval(o.Level)
		row.Value.Low, row.Value.High = max(row.Value.Low, 0), min(row.Value.High, largest(row.Covariate))
		if row.Covariate == "camera" {
			row.Detail = mostFrequent(real[group])
		}
		rows, photographed = append(rows, row), append(photographed, mean)
		if shown := valuesOf(generated[group], covariate); covariate >= firstOfPixels && len(shown) >= 2 {
			corrected, both = append(corrected, len(rows)-1), append(both, mean)
			made = append(made, interval.SampleMean(shown))
		} else if covariate >= firstOfPixels && generated != nil {
			notes.Add("fewer than two generated images: the gap of "+row.Covariate+" is that of the reference images",
				strings.Join(g.By, "/"))
		}
	}
	for _, group := range few {
		if len(rows) > 0 {
			notes.Add("fewer than two images with a value of "+covariates[covariate], group)
		}
	}
	if len(rows) < 2 {
		return rows
	}
	sd := math.Sqrt(spread / max(units, 1)) // of reference images
	level := math.Pow(o.Level, 1/float64(len(groups)*len(covariates)))
	for i := range rows {
		row, of, minus, at := &rows[i], photographed, []interval.Powered(nil), i
		if k := slices.Index(corrected, i); k >= 0 && len(corrected) > 1 {
			of, minus, at = both, made, k
		}
		row.Gap = metrics.Estimated(interval.PoweredToMean(level, at, of, minus))
		far := func(of, minus []interval.Powered, at int) bool { // in the direction of the gap
			values := make([]float64, len(of))
			for k := range of {
				if values[k] = of[k].Value; minus != nil {
					values[k] -= minus[k].Value
				}
			}
			own := values[at]
			d := own - median(slices.Delete(values, at, at+1))
			return d*row.Gap.Value > 0 && math.Abs(d) >= o.Least*sd
		}
		row.Flagged = (row.Gap.Low > 0 || row.Gap.High < 0) && far(of, minus, at) && far(photographed, nil, i)
	}
	return rows
}

// largest returns the largest value of a covariate.
func largest(covariate string) float64 {
	switch covariate {
	case "jpeg_quality":
		return 100
	case "megapixels", "sharpness":
		return math.Inf(1)
	}
	return 1
}

// valuesOf returns the values of a covariate.
func valuesOf(of []acquired, covariate int) (values []float64) {
	for _, a := range of {
		if v := a.values[covariate]; !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// mostFrequent names the camera of most images, with their share.
func mostFrequent(of []acquired) string {
	n, most := map[string]int{}, ""
	for _, a := range of {
		if n[a.camera]++; a.camera != "" && (n[a.camera] > n[most] || most == "") {
			most = a.camera
		}
	}
	if most == "" {
		return ""
	}
	return fmt.Sprintf("%s (%.0f %%)", most, 100*float64(n[most])/float64(len(of)))
}

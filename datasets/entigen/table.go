package entigen

import (
	"fmt"
	"math"
	"os"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

// Options of [Ratings].
type Options struct {
	Dir string `json:"dir,omitempty" help:"folder of the data set; empty = found in ANTIPODE_DATA or the store"`
}

// here names the folder of the data set.
func (o Options) here() Options {
	o.Dir = manifest.Here(Name, o.Dir)
	return o
}

// load reads the data set.
func (o Options) load(call *datasets.Call) ([]Rating, Report, error) {
	dir, err := manifest.Dir(Name, o.Dir, call.Home)
	if err != nil {
		return nil, Report{}, err
	}
	return Load(os.DirFS(dir))
}

var humanRatings = source.Define(source.Definition[Options]{
	Name: "entigen-ratings", Title: "ENTIGEN ratings", Listed: true, Complete: Options.here,
	Columns: "id:text model:text category:text folder:text prompt_id:text kind:text attribute:text image_id:text " +
		"perceived_gender:text perceived_skin_colour:text perceived_culture:text rater:number person:number " +
		"as_described:number",
	Read: func(o Options, call *datasets.Call, f *datasets.Frame) error {
		rows, _, err := o.load(call)
		addRatings(f, rows)
		return err
	}})

// Ratings is the table of the human ratings, one row for each rater and image: id, model, category (profession,
// object, culture), folder, prompt_id (original, P-G1, …; the folder's name if the paper does not report it), kind
// (the subject of the added sentence), attribute, image, perceived_gender, perceived_skin_colour and
// perceived_culture (a group, "no group", or "" if not asked), rater (1 to 3), person and as_described (1 or 0;
// no value if not asked).
func Ratings(options ...Options) datasets.Table { return humanRatings.Table(options...) }

// Frame returns the table of ratings in memory; see [Ratings].
func Frame(rows []Rating) *datasets.Frame {
	f := humanRatings.Frame()
	addRatings(f, rows)
	return f
}

func addRatings(f *datasets.Frame, rows []Rating) {
	yes := map[bool]float64{true: 1}
	for _, r := range Sorted(rows) {
		person := yes[r.Person]
		if r.Category == Culture {
			person = math.NaN()
		}
		f.Add([]string{fmt.Sprintf("%s#%d", r.ImageID(), r.Rater), r.Model, r.Category, r.Folder, r.Prompt,
			Kind(r.Prompt), r.Attribute, r.ImageID(), r.Gender, r.Skin, r.Scene}, float64(r.Rater), person,
			yes[r.Described])
	}
}

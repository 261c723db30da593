package stereotypes

import (
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// CaptionTables are the inputs of [CaptionShares], [Salience] and [CaptionAttributes].
type CaptionTables struct {
	// a row for each caption: identity, caption, image_id (or the column of the option Image); outcome
	Captions datasets.Table
	// a row for each attribute, or for each pair of identity and attribute: attribute, score_…; identity, na_stereo,
	// offensiveness
	Attributes datasets.Table
}

func (t CaptionTables) inputs() map[string]datasets.Table {
	return map[string]datasets.Table{"in": t.Captions, "attributes": t.Attributes}
}

// CaptionSearch are the options of the search for attributes in captions.
type CaptionSearch struct {
	StereotypeOptions
	Matching
	Vocabulary string `json:"vocabulary" default:"visual" values:"visual,all" help:"attributes to search for"`
	Image      string `json:"image" default:"image_id" help:"column that names the image; none = each row is one"`
}

var (
	captionsIn = metrics.Input{Role: "in", Columns: columnsOf("identity:text caption:text"),
		About: "a row for each caption, with the column of the option image and outcome (rows that are refused, " +
			"failed or skipped have no caption)"}
	attributesIn = metrics.Input{Role: "attributes", Columns: columnsOf("attribute:text"),
		About: "a row for each attribute with its score_… unless vocabulary=all, or for each pair with identity and " +
			"the option stereo-column"}
)

// captionInput is the content of the two tables.
type captionInput struct {
	captions       []Caption
	vocabulary     Vocabulary
	asked, refused map[string]int
	offensive      map[[2]string]float64 // of rated pairs
}

// readCaptions reads the two tables.
func readCaptions(call *metrics.Call, o CaptionSearch) (in captionInput, err error) {
	if err := in.readVocabulary(call, o.StereotypeOptions, o.Vocabulary); err != nil {
		return in, fmt.Errorf("table %q: %w", "attributes", err)
	}
	f := call.Inputs["in"]
	name, err := imageNames(f, o.Image)
	if err != nil {
		return in, err
	}
	texts := f.Texts("caption")
	in.asked, in.refused = map[string]int{}, map[string]int{}
	for i, id := range f.Texts("identity") {
		if id == "" {
			return in, tabular.BadRow(f, i, "identity", "it is blank; every caption needs an identity")
		}
		in.asked[id]++
		if o := tabular.Outcome(f, i); o != "" {
			if o == "refused" {
				in.refused[id]++
			}
			continue
		}
		p := name(i)
		if p == "" {
			return in, tabular.BadRow(f, i, o.Image, "it is blank; every caption needs its image")
		}
		in.captions = append(in.captions, Caption{id, p, texts[i]})
	}
	return in, nil
}

// imageNames returns the name of the image of a row; with column "none" each row is an image.
func imageNames(f *table.Frame, column string) (func(row int) string, error) {
	if column == "none" {
		return func(row int) string { return fmt.Sprintf("row %09d", row+1) }, nil
	}
	c := f.Column(column)
	if c == nil || c.Kind != table.KindText && c.Kind != table.KindNumber {
		return nil, fmt.Errorf("table %q has no text or number column %q that names the image of a caption; set the "+
			"option image to its name, or to none", "in", column)
	}
	return func(row int) string {
		switch {
		case c.Kind == table.KindText:
			return c.Texts[row]
		case math.IsNaN(c.Numbers[row]):
			return ""
		}
		return fmt.Sprint(c.Numbers[row])
	}, nil
}

// readVocabulary reads the table "attributes".
func (in *captionInput) readVocabulary(call *metrics.Call, o StereotypeOptions, vocabulary string) error {
	f := call.Inputs["attributes"]
	attributes, identities, offensive := f.Texts("attribute"), f.Texts("identity"), f.Numbers("offensiveness")
	rated := f.Numbers("score_asia") != nil && f.Numbers("score_europe") != nil && f.Numbers("score_na") != nil
	if !rated && vocabulary == "visual" {
		return fmt.Errorf("no ratings (score_asia, score_europe, score_na) to select visual attributes by; add them, " +
			"or use vocabulary=all")
	}
	var stereo, visual []bool
	var err error
	if vocabulary == "visual" {
		if visual, err = o.visual(f); err != nil {
			return err
		}
	}
	if identities != nil && rated && f.Numbers(o.StereoColumn) != nil {
		if stereo, err = o.stereotypes(f); err != nil {
			return err
		}
		in.vocabulary.Stereotypes = map[[2]string]bool{}
	}
	in.offensive = map[[2]string]float64{}
	masked := 0
	for i, attribute := range attributes {
		if seegull.IsMasked(attribute) {
			masked++
			continue
		}
		if visual != nil && !visual[i] {
			continue
		}
		in.vocabulary.Attributes = append(in.vocabulary.Attributes, attribute)
		if identities == nil {
			continue
		}
		pair := [2]string{identities[i], attribute}
		if stereo != nil && stereo[i] {
			in.vocabulary.Stereotypes[pair] = true
		}
		if offensive != nil {
			in.rate(pair, offensive[i])
		}
	}
	if masked > 0 {
		call.Notef("%d rows of the table \"attributes\" hold masked labels, which no caption contains: read the pairs "+
			"unmasked; the result is masked", masked)
	}
	if len(in.vocabulary.Attributes) == 0 {
		return fmt.Errorf("no attribute to search for (%d rows, %d masked); read it unmasked, or check "+
			"vocabulary, rule and min-score", len(attributes), masked)
	}
	return nil
}

// rate records the rating of a pair, if it has one; the highest counts.
func (in *captionInput) rate(pair [2]string, offensive float64) {
	if known, rated := in.offensive[pair]; !math.IsNaN(offensive) && (!rated || offensive > known) {
		in.offensive[pair] = offensive
	}
}

// label returns an attribute as it may be shown next to an identity.
func (in *captionInput) label(mask *seegull.Masker, show bool, identity, attribute string) string {
	if show {
		return attribute
	}
	offensive, rated := in.offensive[[2]string{identity, attribute}]
	if !rated {
		offensive = math.NaN()
	}
	return mask.Label(identity, attribute, offensive)
}

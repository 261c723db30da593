package indictti

import (
	"strconv"

	"antipode/datasets"
	"antipode/datasets/table"
)

// Quoted is a number in the text of the paper (section 5 and supplement), in percent or points of 100 times the score
// unless Name says otherwise.
type Quoted struct {
	Name, Model string // Model "" = the whole study
	Value       float64
}

// Item names the value: "overall SCAL, common set, Dalle3".
func (q Quoted) Item() string {
	if q.Model == "" {
		return q.Name
	}
	return q.Name + ", " + q.Model
}

// printed returns the value as the text prints it: two decimals, one for the agreement, none for annotators.
func (q Quoted) printed() string {
	decimals := map[string]int{quotedAgreement: 1, quotedRaters: 0}
	d, few := decimals[q.Name]
	if !few {
		d = 2
	}
	return strconv.FormatFloat(q.Value, 'f', d, 64)
}

// The names of [quotedValues].
const (
	QuotedSCAL      = "overall SCAL, common set" // equation 9; the paper does not state the normalizer
	QuotedDropCLGC  = "mean drop of CLGC from English, common set"
	QuotedDropIGC   = "mean drop of IGC from English, common set"
	QuotedMeanLGC   = "mean LGC of the 30 languages, common set"
	quotedAgreement = "percent agreement on translations"
	quotedSkill     = "mean proficiency of annotators, of 5"
	quotedRaters    = "annotators"
)

// quotedValues returns the numbers that the text quotes and no table prints, by name and model.
func quotedValues() []Quoted {
	byModel := []struct {
		name   string
		values map[string]float64
	}{
		{QuotedSCAL, map[string]float64{"Stable Diffusion": 25.44, "Alt Diffusion": 23.73, "Alt Diffusion m9": 21.47,
			"Midjourney": 26.75, "Dalle3": 29.90}},
		{QuotedDropCLGC, map[string]float64{"Stable Diffusion": 56.64, "Alt Diffusion": 42.16, "Midjourney": 52.16,
			"Dalle3": 13.62}},
		{QuotedDropIGC, map[string]float64{"Stable Diffusion": 27.74, "Alt Diffusion": 21.53, "Midjourney": 26.32,
			"Dalle3": 8.70}},
		{QuotedMeanLGC, map[string]float64{"Stable Diffusion": 4.01, "Alt Diffusion": 7.08, "Midjourney": 3.12,
			"Dalle3": 25.09}},
	}
	var out []Quoted
	for _, q := range byModel {
		for _, m := range Models {
			if v, known := q.values[m]; known {
				out = append(out, Quoted{q.name, m, v})
			}
		}
	}
	return append(out, Quoted{quotedAgreement, "", 74.8}, Quoted{quotedSkill, "", 4.78}, Quoted{quotedRaters, "", 65})
}

// QuotedTable is the table of [quotedValues]: name, model ("" = the whole study) and value.
func QuotedTable() datasets.Table {
	f := table.NewFrame(datasets.Columns("name:text", "model:text", "value:number"))
	for _, q := range quotedValues() {
		f.Add([]string{q.Name, q.Model}, q.Value)
	}
	return datasets.Extend(datasets.FromFrame(f)).Named("IndicTTI values quoted in the text").Table
}

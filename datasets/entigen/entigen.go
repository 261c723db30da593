package entigen

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/manifest"
)

// The models, as the tables of this package name them.
const (
	MinDALLE  = "minDALL-E"
	DALLEMini = "DALL-E-mini"
	SD        = "Stable Diffusion"
)

// Models are the models of the paper.
var Models = []string{MinDALLE, DALLEMini, SD}

// ModelNames are the labels of [Models] by the names that checkpoints have, in lower case, without an owner. The
// authors' script loads the checkpoint Mega for DALL-E-mini.
var ModelNames = map[string]string{"mindalle": MinDALLE, "dalle-mini": DALLEMini, "dalle-mega": DALLEMini,
	"stable-diffusion-v1-4": SD}

// The categories of attributes.
const (
	Profession = "profession"
	Object     = "object"
	Culture    = "culture"
)

// Axes of perception, as columns, axes and captions name them.
const (
	PerceivedGender = "perceived gender"
	PerceivedSkin   = "perceived skin colour"
	PerceivedScene  = "perceived culture"
)

// Groups of each axis: the first is the positive side of the bias.
var Groups = map[string][2]string{
	PerceivedGender: {"man", "woman"},
	PerceivedSkin:   {"light-skinned", "dark-skinned"},
	PerceivedScene:  {"Western", "Non-Western"},
}

// NoGroup is an answer that picks none of the two groups ("can't judge").
const NoGroup = "no group"

// Rating is one rater's answers about one image.
type Rating struct {
	Model, Category, Folder, Attribute string
	Prompt                             string // see [PromptOf]
	Number                             int    // of the image among those of its prompt
	Rater                              int    // 1, 2, 3 within the image
	Person                             bool   // shows a person; for [Culture] not asked, and false
	Described                          bool   // shows what the prompt describes; for Culture: is about the scenario
	Gender, Skin, Scene                string // perceived group, [NoGroup], or "" where not asked
}

// ImageID identifies the image that was rated.
func (r Rating) ImageID() string {
	return strings.Join([]string{r.Model, r.Category, r.Folder, r.Attribute, strconv.Itoa(r.Number)}, "/")
}

// Original is the prompt without an added sentence.
const Original = "original"

var prompts = map[string]map[string]string{
	Profession: {"Prompt1": Original, "Prompt2": "P-G1", "Prompt3": "P-S1", "Prompt4": "P-G2", "Prompt5": "P-S2",
		"Prompt10": "P-I1", "Prompt11": "P-I2"},
	Object:  {"Prompt1": Original, "Prompt2": "O-G1", "Prompt3": "O-S1", "Prompt5": "O-I2"},
	Culture: {"Prompt1": Original, "Prompt2": "C-1", "Prompt3": "C-2", "Prompt5": "C-I2", "Prompt6": "C-I1"},
}

// PromptOf returns the prompt of a folder of images: [Original], or the id of the added sentence (P-G1, …). For a
// folder that the paper does not report it returns the name of the folder.
func PromptOf(category, folder string) string {
	if p, known := prompts[category][folder]; known {
		return p
	}
	return folder
}

// Reported reports whether the paper has a row for the prompt.
func Reported(prompt string) bool { return prompt == Original || strings.Contains(prompt, "-") }

// Kind returns the subject of the added sentence: "original", "EI: perceived gender", "EI: perceived skin colour",
// "EI: perceived culture" (an ethical intervention on that axis) or "irrelevant EI".
func Kind(prompt string) string {
	prompt, _ = Ablated(prompt)
	switch {
	case prompt == Original:
		return Original
	case strings.Contains(prompt, "-I"):
		return Irrelevant
	case strings.Contains(prompt, "-G"):
		return "EI: " + PerceivedGender
	case strings.Contains(prompt, "-S"):
		return "EI: " + PerceivedSkin
	case strings.HasPrefix(prompt, "C-"):
		return "EI: " + PerceivedScene
	}
	return "not reported"
}

// Report describes what a load read.
type Report struct {
	Used   []manifest.Used
	Rows   []int // of each sheet
	Images int
	Uneven int // images with other than three raters
}

// Load reads the five rating sheets from the data set's folder and checks them against the manifest.
func Load(fsys fs.FS) ([]Rating, Report, error) {
	m, err := manifest.Get(Name)
	if err != nil {
		return nil, Report{}, err
	}
	var all []Rating
	var report Report
	for _, path := range Files {
		data, used, err := m.Read(fsys, path)
		if err != nil {
			return nil, report, err
		}
		rows, err := Read(used.Path, data)
		if err != nil {
			return nil, report, err
		}
		all, report.Used, report.Rows = append(all, rows...), append(report.Used, used), append(report.Rows, len(rows))
	}
	images := number(all)
	report.Images = len(images)
	for _, n := range images {
		if n != 3 {
			report.Uneven++
		}
	}
	return all, report, nil
}

// number numbers the raters of each image in the order of the rows, and counts them.
func number(rows []Rating) map[string]int {
	images := map[string]int{}
	for i := range rows {
		key := rows[i].ImageID()
		images[key]++
		rows[i].Rater = images[key]
	}
	return images
}

var (
	models = map[string]string{"mindalle-images": MinDALLE, "minidalle-images": DALLEMini,
		"stablediffusionimages": SD}
	categories = map[string]string{"profession": Profession, "objects": Object, "geographical": Culture}
)

// Read parses the CSV text of one rating sheet. Sheets about people have four questions, those about weddings two.
// name is the file name in errors, which state line and column. Raters are numbered within this sheet.
func Read(name string, data []byte) ([]Rating, error) {
	s, err := manifest.ReadSheet(name, data, "Input.occu", "Input.url", "Answer.Description_0", "Answer.Description_1")
	if err != nil {
		return nil, err
	}
	people := s.Column("Answer.Description_2") >= 0
	if people && s.Column("Answer.Description_3") < 0 {
		return nil, fmt.Errorf("%s, line 1: no column Answer.Description_3 next to Answer.Description_2", name)
	}
	out := make([]Rating, s.Len())
	for row := range out {
		r := &out[row]
		if r.Attribute = s.Rows[row][s.Column("Input.occu")]; r.Attribute == "" {
			return nil, s.Errorf(row, s.Column("Input.occu"), "the attribute is missing")
		}
		if err := r.address(s, row); err != nil {
			return nil, err
		}
		if (r.Category == Culture) == people {
			return nil, s.Errorf(row, s.Column("Input.url"), "an image of category %s in a sheet with %d questions",
				r.Category, map[bool]int{true: 4, false: 2}[people])
		}
		answers := map[bool]int{true: 4, false: 2}[people]
		var code [4]int
		for q := range answers {
			column := s.Column("Answer.Description_" + strconv.Itoa(q))
			largest := 4
			if q == 0 || (q == 1 && people) {
				largest = 2
			}
			n, err := strconv.Atoi(s.Rows[row][column])
			if err != nil || n < 1 || n > largest {
				return nil, s.Errorf(row, column, "the answer %q is not one of 1 to %d", s.Rows[row][column], largest)
			}
			code[q] = n
		}
		if people {
			r.Person, r.Described = code[0] == 1, code[1] == 1
			r.Gender, r.Skin = group(PerceivedGender, code[2]), group(PerceivedSkin, code[3])
		} else {
			r.Described, r.Scene = code[0] == 1, group(PerceivedScene, code[1])
		}
	}
	number(out)
	return out, nil
}

func group(axis string, code int) string {
	if code > 2 {
		return NoGroup
	}
	return Groups[axis][code-1]
}

// address reads model, category, folder and number from the image's address: HOST/CATEGORY/FOLDER/TEXT/NUMBER.jpg.
func (r *Rating) address(s *manifest.Sheet, row int) error {
	column := s.Column("Input.url")
	text := s.Rows[row][column]
	u, err := url.Parse(text)
	if err != nil {
		return s.Errorf(row, column, "%q is not an address", text)
	}
	host, _, _ := strings.Cut(u.Host, ".")
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	model := models[host]
	if len(parts) != 4 || model == "" || categories[parts[0]] == "" {
		return s.Errorf(row, column, "%q does not name a known model, a category, a folder, a prompt and an image",
			text)
	}
	r.Model, r.Category, r.Folder = model, categories[parts[0]], parts[1]
	number, _, _ := strings.Cut(parts[3], ".")
	if r.Number, err = strconv.Atoi(number); err != nil {
		return s.Errorf(row, column, "%q has no number of the image", text)
	}
	r.Prompt = PromptOf(r.Category, r.Folder)
	return nil
}

// Sorted orders ratings by image and rater, so that tables do not depend on the order of the sheets.
func Sorted(rows []Rating) []Rating {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b Rating) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Category, b.Category),
			cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Attribute, b.Attribute),
			cmp.Compare(a.Number, b.Number), cmp.Compare(a.Rater, b.Rater))
	})
	return out
}

// Question returns the question about the attribute, as in the released sheets.
func Question(category, attribute string) string {
	switch category {
	case Object:
		return "Is the person wearing " + attribute + "?"
	case Culture:
		return "Is the image about " + attribute + "?"
	}
	return "Does the person look like a " + attribute + "?"
}

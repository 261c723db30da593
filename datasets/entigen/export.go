package entigen

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// modelColumn names the model in written sheets; in the released ones the host of the image's address does.
const modelColumn = "Input.model"

// WriteSheets writes ratings as rating sheets that [Read] reads back as they are: one about people, one about cultural
// scenarios; nil without such ratings. Ratings of an image are in the order of its raters. "No group" is written as
// answer 3 (the released sheets have 3 and 4).
//
// Errors: a category that the sheets do not know, a folder with a slash, an answer that is no group of its axis.
func WriteSheets(rows []Rating) (people, scenes []byte, err error) {
	var sheets [2][][]string
	for _, r := range Sorted(rows) {
		line, err := r.sheetRow()
		if err != nil {
			return nil, nil, err
		}
		at := 0
		if r.Category == Culture {
			at = 1
		}
		sheets[at] = append(sheets[at], line)
	}
	head := []string{modelColumn, "Input.occu", "Input.question", "Input.url", "Answer.Description_0",
		"Answer.Description_1", "Answer.Description_2", "Answer.Description_3"}
	for k, to := range []*[]byte{&people, &scenes} {
		if len(sheets[k]) == 0 {
			continue
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(append([][]string{head[:len(sheets[k][0])]}, sheets[k]...)); err != nil {
			return nil, nil, err
		}
		*to = b.Bytes()
	}
	return people, scenes, nil
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

func (r Rating) sheetRow() ([]string, error) {
	folder := ""
	for name, c := range categories {
		if c == r.Category {
			folder = name
		}
	}
	if folder == "" || strings.Contains(r.Folder, "/") || r.Folder == "" || r.Attribute == "" || r.Model == "" {
		return nil, fmt.Errorf("entigen: the rating of %s cannot be written: a sheet needs a model, one of the "+
			"categories %s, %s, %s, an attribute, and a folder without a slash",
			r.ImageID(), Profession, Object, Culture)
	}
	u := url.URL{Scheme: "https", Host: "images.example", Path: fmt.Sprintf("/%s/%s/%s/%d.jpg", folder, r.Folder,
		strings.ReplaceAll(r.Attribute, "/", " "), r.Number)}
	yes := func(b bool) string { return map[bool]string{true: "1", false: "2"}[b] }
	line := []string{r.Model, r.Attribute, Question(r.Category, r.Attribute), u.String()}
	axes := []struct{ axis, answer string }{{PerceivedGender, r.Gender}, {PerceivedSkin, r.Skin}}
	if r.Category == Culture {
		line, axes = append(line, yes(r.Described)), []struct{ axis, answer string }{{PerceivedScene, r.Scene}}
	} else {
		line = append(line, yes(r.Person), yes(r.Described))
	}
	for _, a := range axes {
		code := 3
		switch a.answer {
		case Groups[a.axis][0]:
			code = 1
		case Groups[a.axis][1]:
			code = 2
		case NoGroup:
		default:
			return nil, fmt.Errorf("entigen: the rating of %s: %q is not an answer about %s; use %q, %q or %q",
				r.ImageID(), a.answer, a.axis, Groups[a.axis][0], Groups[a.axis][1], NoGroup)
		}
		line = append(line, strconv.Itoa(code))
	}
	return line, nil
}

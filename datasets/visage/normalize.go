package visage

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"antipode/datasets/manifest"
)

// taskLabel matches the labels in the column worker_id of the released files. Anything else is replaced.
var taskLabel = regexp.MustCompile(`^A\d{1,5}$`)

// normalize is the manifest's Normalize: workbooks become CSV, image paths keep their last two parts (batch and file),
// and identifiers of crowd workers become labels w00001, w00002, … in the order of their first appearance.
func normalize(set string, files map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, data := range files {
		var rows [][]string
		if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
			sheet := "full_set_annotations"
			if name == ratingsFile {
				sheet = "all_visual_attr"
			}
			var err error
			if rows, err = readWorkbook(name, data, sheet); err != nil {
				return nil, err
			}
		} else {
			s, err := manifest.ReadSheet(name, data)
			if err != nil {
				return nil, err
			}
			rows = append([][]string{s.Header}, s.Rows...)
		}
		if len(rows) == 0 {
			return nil, fmt.Errorf("%s has no rows", name)
		}
		table, err := manifest.WriteCSV(tidy(rows))
		if err != nil {
			return nil, err
		}
		out[name] = table
	}
	return out, nil
}

// tidy drops columns without a header and empty rows, shortens image paths and replaces identifiers.
func tidy(rows [][]string) [][]string {
	header := rows[0]
	for len(header) > 0 && header[len(header)-1] == "" {
		header = header[:len(header)-1]
	}
	worker, img := slices.Index(header, "worker_id"), slices.Index(header, "img_path")
	labels := map[string]string{}
	out := [][]string{header}
	for _, row := range rows[1:] {
		tidied := make([]string, len(header))
		copy(tidied, row)
		if !slices.ContainsFunc(tidied, func(v string) bool { return v != "" }) {
			continue
		}
		if worker >= 0 && tidied[worker] != "" && !taskLabel.MatchString(tidied[worker]) {
			id := tidied[worker]
			if labels[id] == "" {
				labels[id] = fmt.Sprintf("w%05d", len(labels)+1)
			}
			tidied[worker] = labels[id]
		}
		if img >= 0 {
			parts := strings.Split(tidied[img], "/")
			tidied[img] = strings.Join(parts[max(0, len(parts)-2):], "/")
		}
		out = append(out, tidied)
	}
	return out
}

package visage

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"antipode/internal/plaintext"
)

// maxPart is the largest part of a workbook that is unpacked, in bytes; the largest of ViSAGe's is 27 MB.
const maxPart = 128 << 20

// readWorkbook returns the rows of one sheet of an .xlsx workbook as text: strings as they are, numbers in the shortest
// form, missing cells "". It reads what spreadsheets write for plain tables: shared and inline strings, numbers, cached
// results of formulas; no styles, so a date comes out as its number.
func readWorkbook(name string, data []byte, sheet string) ([][]string, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%s is not a workbook (.xlsx): %w", name, err)
	}
	fail := func(err error) ([][]string, error) { return nil, fmt.Errorf("%s: %w", name, err) }
	target, err := sheetPart(z, sheet)
	if err != nil {
		return fail(err)
	}
	var shared []string
	err = elements(z, "xl/sharedStrings.xml", "si", func(d *xml.Decoder, start xml.StartElement) error {
		var si textRuns
		if err := d.DecodeElement(&si, &start); err != nil {
			return err
		}
		shared = append(shared, si.text())
		return nil
	})
	if err != nil && !errors.Is(err, errNoPart) {
		return fail(err)
	}
	var rows [][]string
	err = elements(z, target, "row", func(d *xml.Decoder, start xml.StartElement) error {
		var r struct {
			Cells []cell `xml:"c"`
		}
		if err := d.DecodeElement(&r, &start); err != nil {
			return err
		}
		var row []string
		for _, c := range r.Cells {
			at, err := columnOf(c.Ref)
			if err != nil {
				return err
			}
			text, err := c.text(shared)
			if err != nil {
				return fmt.Errorf("sheet %s, cell %s: %w", sheet, c.Ref, err)
			}
			for len(row) <= at {
				row = append(row, "")
			}
			row[at] = text
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return fail(err)
	}
	return rows, nil
}

type textRuns struct {
	T string   `xml:"t"`
	R []string `xml:"r>t"`
}

func (t textRuns) text() string { return t.T + strings.Join(t.R, "") }

type cell struct {
	Ref    string   `xml:"r,attr"`
	Type   string   `xml:"t,attr"`
	Value  string   `xml:"v"`
	Inline textRuns `xml:"is"`
}

func (c cell) text(shared []string) (string, error) {
	switch c.Type {
	case "s":
		i, err := strconv.Atoi(c.Value)
		if err != nil || i < 0 || i >= len(shared) {
			return "", fmt.Errorf("no shared string %q", c.Value)
		}
		return shared[i], nil
	case "inlineStr":
		return c.Inline.text(), nil
	case "", "n":
		if c.Value == "" {
			return "", nil
		}
		x, err := strconv.ParseFloat(c.Value, 64)
		if err != nil {
			return "", fmt.Errorf("%q is not a number", c.Value)
		}
		return strconv.FormatFloat(x, 'g', -1, 64), nil
	}
	return c.Value, nil
}

// columnOf is the column of a cell reference such as "AB12", from 0.
func columnOf(ref string) (int, error) {
	at := 0
	for i, r := range ref {
		switch {
		case r >= 'A' && r <= 'Z' && i < 3:
			at = at*26 + int(r-'A') + 1
		case r >= '0' && r <= '9' && i > 0:
			return at - 1, nil
		default:
			return 0, fmt.Errorf("bad cell reference %q", ref)
		}
	}
	return 0, fmt.Errorf("bad cell reference %q", ref)
}

// sheetPart is the part of the archive that holds the named sheet.
func sheetPart(z *zip.Reader, sheet string) (string, error) {
	id, names := "", []string{}
	err := elements(z, "xl/workbook.xml", "sheet", func(_ *xml.Decoder, start xml.StartElement) error {
		var name, rid string
		for _, a := range start.Attr {
			switch {
			case a.Name.Local == "name":
				name = a.Value
			case a.Name.Local == "id" && a.Name.Space != "":
				rid = a.Value
			}
		}
		names = append(names, name)
		if name == sheet {
			id = rid
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if id == "" {
		return "", fmt.Errorf("no sheet %q (there are: %s)", sheet,
			plaintext.OneLine(strings.Join(names, ", ")))
	}
	target := ""
	err = elements(z, "xl/_rels/workbook.xml.rels", "Relationship", func(_ *xml.Decoder, start xml.StartElement) error {
		attr := map[string]string{}
		for _, a := range start.Attr {
			attr[a.Name.Local] = a.Value
		}
		if attr["Id"] == id {
			target = attr["Target"]
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if target == "" {
		return "", fmt.Errorf("sheet %q has no part in the workbook", sheet)
	}
	if strings.HasPrefix(target, "/") {
		return target[1:], nil
	}
	return path.Join("xl", target), nil
}

var errNoPart = errors.New("the workbook lacks a part")

// elements calls f at the start of every element of that name in a part of the archive.
func elements(z *zip.Reader, part, name string, f func(*xml.Decoder, xml.StartElement) error) error {
	file, err := z.Open(part)
	if err != nil {
		return fmt.Errorf("%w: %s", errNoPart, part)
	}
	defer file.Close()
	limited := &io.LimitedReader{R: file, N: maxPart}
	d := xml.NewDecoder(limited)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && limited.N > 0 {
			return nil
		}
		if limited.N <= 0 {
			return fmt.Errorf("%s unpacks to more than %d MiB", part, maxPart>>20)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == name {
			if err := f(d, start); err != nil {
				return fmt.Errorf("%s: %w", part, err)
			}
		}
	}
}

package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	pq "github.com/parquet-go/parquet-go"

	"antipode/kernel/client"
)

// leafRole says what a leaf of the file's schema fills.
type leafRole struct {
	column   int
	part     string // "", "sha256", "path", "size", "counts"
	maxDef   int
	optional bool // the leaf itself may be null, as pandas writes the elements of lists
	lists    int  // of text: how many lists lie around it, 1 or 2
}

// Read reads a table from a file. Strings become text columns; integers, floats and booleans numbers; lists of numbers
// vectors, a null inside one as NaN; lists of strings, and lists of such lists, text that holds them as JSON ("" where there is
// nothing); the structs of masks and images their own kinds. A column of another type is an error that names it.
func Read(path string) (f *client.Frame, err error) {
	name := filepath.Base(path)
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged files
			f, err = nil, fmt.Errorf("%s is damaged, or no Parquet file: %v", name, p)
		}
	}()
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table %s: %w", path, errors.Unwrap(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	pf, err := pq.OpenFile(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s is damaged, or no Parquet file: %w", name, err)
	}
	f, roles, err := layout(pf.Schema())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, g := range pf.RowGroups() {
		if err := readGroup(f, g, roles); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w", name, err)
		}
	}
	return f, nil
}

// layout derives the columns from the schema.
func layout(s *pq.Schema) (*client.Frame, []leafRole, error) {
	f := &client.Frame{}
	roles := make([]leafRole, len(s.Columns()))
	for _, field := range s.Fields() {
		kind, err := kindOf(field)
		if err != nil {
			return nil, nil, fmt.Errorf("column %q: %w", field.Name(), err)
		}
		column := len(f.Columns)
		f.Columns = append(f.Columns, client.Column{ColumnSpec: client.ColumnSpec{Name: field.Name(), Kind: kind}})
		for _, path := range s.Columns() {
			if path[0] != field.Name() {
				continue
			}
			leaf, _ := s.Lookup(path...)
			role := leafRole{column: column, maxDef: leaf.MaxDefinitionLevel, optional: leaf.Node.Optional()}
			switch kind {
			case client.Picture, client.Masked:
				role.part = path[1]
			case client.Text:
				role.lists = leaf.MaxRepetitionLevel
			}
			roles[leaf.ColumnIndex] = role
		}
	}
	return f, roles, nil
}

func kindOf(n pq.Node) (client.Kind, error) {
	if n.Leaf() {
		if n.Repeated() {
			return client.Vector, nil
		}
		switch n.Type().Kind() {
		case pq.ByteArray, pq.FixedLenByteArray:
			return client.Text, nil
		case pq.Boolean, pq.Int32, pq.Int64, pq.Float, pq.Double:
			return client.Number, nil
		}
		return "", fmt.Errorf("the type %s is none that a table holds", n.Type())
	}
	var names []string
	for _, f := range n.Fields() {
		names = append(names, f.Name())
	}
	slices.Sort(names)
	switch {
	case slices.Equal(names, []string{"path", "sha256"}):
		return client.Picture, nil
	case slices.Equal(names, []string{"counts", "size"}):
		return client.Masked, nil
	case len(names) == 1:
		inner := n.Fields()[0]
		for !inner.Leaf() && len(inner.Fields()) == 1 {
			inner = inner.Fields()[0]
		}
		if inner.Leaf() {
			switch inner.Type().Kind() {
			case pq.Float, pq.Double, pq.Int32, pq.Int64:
				return client.Vector, nil
			case pq.ByteArray:
				return client.Text, nil
			}
		}
	}
	return "", fmt.Errorf("a nested column with the fields %v is none that a table holds (images: sha256, path; masks: size, counts; vectors: a list of numbers)", names)
}

func readGroup(f *client.Frame, g pq.RowGroup, roles []leafRole) error {
	rows := g.Rows()
	defer rows.Close()
	buf := make([]pq.Row, 256)
	for {
		n, err := rows.ReadRows(buf)
		for _, r := range buf[:n] {
			appendRow(f, r, roles)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func appendRow(f *client.Frame, r pq.Row, roles []leafRole) {
	row := f.Len()
	for i := range f.Columns {
		c := &f.Columns[i]
		switch c.Kind {
		case client.Text:
			c.Texts = append(c.Texts, "")
		case client.Number:
			c.Numbers = append(c.Numbers, math.NaN())
		case client.Picture:
			c.Images = append(c.Images, client.Image{})
		case client.Masked:
			c.Masks = append(c.Masks, client.Mask{})
		default:
			c.Vectors = append(c.Vectors, nil)
		}
	}
	if len(f.Columns) > 0 {
		row = f.Columns[0].Len() - 1
	}
	sizes := 0
	lists := map[int][][]string{} // by column: the texts of a list of lists, or of one list in the first
	for _, v := range r {
		role := roles[v.Column()]
		c := &f.Columns[role.column]
		if role.lists > 0 {
			lists[role.column] = appendText(lists[role.column], v, role)
			continue
		}
		if v.IsNull() {
			if c.Kind != client.Vector {
				continue
			}
			listed := role.maxDef - 1 // the level of a list that is there, but holds nothing
			if role.optional {
				listed--
			}
			switch level := v.DefinitionLevel(); {
			case level > listed: // pandas writes a NaN inside a list as null
				c.Vectors[row] = append(c.Vectors[row], float32(math.NaN()))
			case level == listed && level > 0:
				c.Vectors[row] = []float32{} // an empty list, which is not null
			}
			continue
		}
		switch c.Kind {
		case client.Text:
			c.Texts[row] = v.String()
		case client.Number:
			c.Numbers[row] = number(v)
		case client.Vector:
			c.Vectors[row] = append(c.Vectors[row], float32(number(v)))
		case client.Picture:
			if role.part == "path" {
				c.Images[row].Path = v.String()
			} else {
				c.Images[row].SHA256 = v.String()
			}
		default:
			if role.part == "counts" {
				c.Masks[row].Counts = v.String()
			} else if sizes < 2 {
				c.Masks[row].Size[sizes] = int(number(v))
				sizes++
			}
		}
		if c.Kind == client.Masked && role.part == "counts" {
			sizes = 0
		}
	}
	for _, role := range roles {
		list := lists[role.column]
		if role.lists == 0 || list == nil {
			continue
		}
		var whole any = list
		if role.lists == 1 {
			whole = list[0]
		}
		if text, err := json.Marshal(whole); err == nil {
			f.Columns[role.column].Texts[row] = string(text)
		}
	}
}

// appendText adds a text to the lists of its row: a repetition level below the number of lists starts an inner list.
func appendText(list [][]string, v pq.Value, role leafRole) [][]string {
	if v.IsNull() && !(role.optional && v.DefinitionLevel() == role.maxDef-1) {
		return list // an empty list, or none
	}
	if len(list) == 0 || v.RepetitionLevel() < role.lists && role.lists == 2 {
		list = append(list, nil)
	}
	text := ""
	if !v.IsNull() {
		text = v.String()
	}
	list[len(list)-1] = append(list[len(list)-1], text)
	return list
}

func number(v pq.Value) float64 {
	switch v.Kind() {
	case pq.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	case pq.Int32:
		return float64(v.Int32())
	case pq.Int64:
		return float64(v.Int64())
	case pq.Float:
		return float64(v.Float())
	default:
		return v.Double()
	}
}

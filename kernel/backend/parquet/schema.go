package parquet

import (
	"fmt"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"antipode/datasets/table"
)

// holds is the type of a column in the file.
type holds int

const (
	nested  holds = iota // a type that tables do not have
	nulls                // Arrow's null type: no value in any row
	texts                // also dates and times
	bytes_               // binary data without a logical type
	numbers              // integers, floats, booleans, decimals
	vectors              // lists of numbers
	lists                // lists of texts, or of such lists
	digests              // structs of sha256 and path, as [Write] writes images
	images               // structs of bytes and path, as the datasets library of Hugging Face writes images
	masks                // structs of size and counts
)

type leafRole struct {
	column   int // -1 = left out
	set      func(r *reader, c *table.Column, row int, v pq.Value, role leafRole)
	holds    holds  // the type of the leaf's column
	part     string // of a struct: its field
	maxDef   int
	optional bool // the leaf itself may be null, as pandas writes the elements of lists
	lists    int  // of text: the depth of lists, 1 or 2; of counts as numbers: 1
	whole    bool // a 64-bit integer or a decimal, which a float64 may round
	text     func(pq.Value) string
	number   func(pq.Value) float64
}

// pandasIndex is the prefix of the columns that pandas writes for an index without a name.
const pandasIndex = "__index_level_"

// layout derives the columns from the schema.
func (t *Table) layout(s *pq.Schema, o Options) ([]leafRole, error) {
	roles := make([]leafRole, len(s.Columns()))
	t.Frame = &table.Frame{}
	for _, field := range s.Fields() {
		name := columnName(field.Name(), s)
		found := heldBy(field)
		kind, err := kindOf(name, found, field, o)
		if err != nil {
			return nil, err
		}
		column := len(t.Frame.Columns)
		if kind == "" {
			column = -1
			t.Unread = append(t.Unread, fmt.Sprintf("%q (%s)", name, describe(field)))
		} else {
			t.Frame.Columns = append(t.Frame.Columns,
				table.Column{ColumnSpec: table.ColumnSpec{Name: name, Kind: kind}})
		}
		for _, path := range s.Columns() {
			if path[0] != field.Name() {
				continue
			}
			leaf, _ := s.Lookup(path...)
			role := leafRole{column: column, holds: found, maxDef: leaf.MaxDefinitionLevel,
				optional: leaf.Node.Optional(), set: kinds[kind].set}
			switch found {
			case digests, images, masks:
				if role.part = path[1]; role.part == "counts" {
					role.lists = leaf.MaxRepetitionLevel // run lengths as numbers
				}
			case lists:
				role.lists = leaf.MaxRepetitionLevel
			}
			role.text, role.number = conversions(leaf.Node.Type())
			role.whole = found == numbers && (leaf.Node.Type().Kind() == pq.Int64 || isDecimal(leaf.Node.Type()))
			roles[leaf.ColumnIndex] = role
		}
	}
	return roles, nil
}

func isDecimal(t pq.Type) bool { return t.LogicalType() != nil && t.LogicalType().Decimal != nil }

// columnName returns the name of a file's column in the table. The first pandas index without a name is the id of a
// table that has none.
func columnName(name string, s *pq.Schema) string {
	isIndex := func(f pq.Field) bool { return strings.HasPrefix(f.Name(), pandasIndex) }
	if first := slices.IndexFunc(s.Fields(), isIndex); first < 0 || s.Fields()[first].Name() != name {
		return name
	}
	for _, free := range []string{"id", "index"} {
		if !slices.ContainsFunc(s.Fields(), func(f pq.Field) bool { return f.Name() == free }) {
			return free
		}
	}
	return name
}

// kindOf returns the kind of a column: by its name if the column contract names it, else by its type; "" for a type
// that tables do not have. A required column of such a type is an error.
func kindOf(name string, found holds, n pq.Node, o Options) (table.Kind, error) {
	want := table.Kind("")
	if o.Kind != nil {
		want = o.Kind(name)
	}
	wrong := func(needs string) error {
		return fmt.Errorf("column %q holds %s; %s", name, describe(n), needs)
	}
	switch {
	case want != "" && found == nulls, want == table.KindText && found == numbers:
		return want, nil
	case want == table.KindImage:
		if !slices.Contains([]holds{texts, bytes_, digests, images}, found) {
			return "", wrong("it must hold paths of image files as text, or images as structs of bytes and path")
		}
		return want, nil
	case want == table.KindMask:
		if !slices.Contains([]holds{texts, images, masks}, found) {
			return "", wrong("it must hold paths of mask images as text, or structs of size and counts (pycocotools' " +
				"run lengths)")
		}
		return want, nil
	case want == table.KindText && name == "id" && found != texts && found != bytes_:
		return "", wrong("it must hold text or integers")
	}
	switch found {
	case nulls, texts, bytes_, lists:
		return table.KindText, nil
	case numbers:
		return table.KindNumber, nil
	case vectors:
		return table.KindVector, nil
	case digests, images:
		return table.KindImage, nil
	case masks:
		return table.KindMask, nil
	}
	return "", nil
}

// heldBy returns the type of a column.
func heldBy(n pq.Node) holds {
	if n.Leaf() {
		found := leafHolds(n.Type())
		if n.Repeated() {
			return listOf(found)
		}
		return found
	}
	fields := map[string]holds{}
	for _, f := range n.Fields() {
		fields[f.Name()] = heldBy(f)
	}
	text := func(name string) bool { return fields[name] == texts || fields[name] == bytes_ }
	switch {
	case len(fields) != 2:
	case text("sha256") && text("path"):
		return digests
	case fields["bytes"] == bytes_ && (text("path") || fields["path"] == nulls):
		return images
	case (text("counts") || fields["counts"] == vectors) && fields["size"] == vectors:
		return masks
	}
	depth, inner := element(n)
	switch found := listOf(leafHolds(inner)); {
	case depth == 1, depth == 2 && found == lists:
		return found
	}
	return nested
}

// element returns the element type of nested lists and their depth; 0 if n is not a list.
func element(n pq.Node) (depth int, t pq.Type) {
	for {
		if n.Repeated() {
			depth++
		}
		if n.Leaf() {
			return depth, n.Type()
		}
		fields := n.Fields()
		if len(fields) != 1 || !n.Repeated() && !fields[0].Repeated() { // a struct
			return 0, nil
		}
		n = fields[0]
	}
}

func listOf(found holds) holds {
	switch found {
	case texts, bytes_:
		return lists
	case numbers:
		return vectors
	}
	return nested
}

func leafHolds(t pq.Type) holds {
	if t == nil {
		return nested
	}
	if l := t.LogicalType(); l != nil {
		switch {
		case l.Unknown != nil:
			return nulls
		case l.Decimal != nil:
			return numbers
		case l.Date != nil, l.Time != nil, l.Timestamp != nil, l.UUID != nil, l.UTF8 != nil, l.Enum != nil,
			l.Json != nil:
			return texts
		}
	}
	switch t.Kind() {
	case pq.FixedLenByteArray:
		if t.Length() == halfBytes {
			return numbers
		}
		return bytes_
	case pq.ByteArray:
		return bytes_
	case pq.Int96:
		return texts
	case pq.Boolean, pq.Int32, pq.Int64, pq.Float, pq.Double:
		return numbers
	}
	return nested
}

// describe returns a column's type in words.
func describe(n pq.Node) string {
	names := map[holds]string{nulls: "no values", texts: "text", bytes_: "bytes", numbers: "numbers",
		vectors: "lists of numbers",
		lists:   "lists of texts", digests: "images", images: "images", masks: "masks"}
	if name, known := names[heldBy(n)]; known {
		return name
	}
	if depth, t := element(n); depth > 0 {
		return strings.Repeat("lists of ", depth) + names[leafHolds(t)]
	}
	var fields []string
	for _, f := range n.Fields() {
		fields = append(fields, f.Name())
	}
	if len(fields) == 1 {
		return "lists or maps of structs"
	}
	return "structs of " + strings.Join(fields, ", ")
}

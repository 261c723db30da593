package table

import "slices"

// contract are the columns of the column contract in ARCHITECTURE.md.
var contract = map[Kind][]string{
	KindText: {"id", "image_id", "object", "region", "country", "group", "axis", "language", "prompt", "prompt_id",
		"template", "intervention", "caption", "source", "model", "outcome", "reason"},
	KindNumber: {"seed"},
	KindImage:  {"image"},
	KindMask:   {"mask"},
	KindVector: {"full", "object_only", "background_only", "clip_image", "clip_image_pooled", "clip_text",
		"blip2_image", "blip2_text", "text"},
}

// KindByName returns the kind of a column of that name by the column contract, "" for other names.
func KindByName(column string) Kind {
	for kind, names := range contract {
		if slices.Contains(names, column) {
			return kind
		}
	}
	return ""
}

// NeedsID reports whether columns are those of a table of images without ids, which gets a column id when it is read.
func NeedsID(columns []ColumnSpec) bool {
	return Position(columns, "image") >= 0 && Position(columns, "id") < 0
}

// CSVColumn returns a column of a CSV file by its name and its cells.
func CSVColumn(name string, cells []string, format NumberFormat) Column {
	c := Column{ColumnSpec: ColumnSpec{name, KindByName(name)}}
	switch c.Kind {
	case KindImage, KindMask: // paths, which the reader of the files replaces
		for _, path := range cells {
			c.Add(Value{Image: Image{Path: path}, Mask: Mask{Counts: path}})
		}
		return c
	case KindText:
		return TextColumn(name, cells)
	case KindVector:
		texts := TextColumn(name, cells)
		if vectors, err := texts.As(KindVector); err == nil && !IsBlank(cells) {
			return *vectors
		}
	}
	return CellColumn(name, cells, format)
}

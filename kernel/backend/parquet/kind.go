package parquet

import (
	"math"

	pq "github.com/parquet-go/parquet-go"

	"antipode/datasets/table"
)

// kind is how a file holds the values of a kind of column.
type kind struct {
	node   pq.Node // which may be null
	leaves int
	// append appends the leaf values of a row that has a value; leaf is the number of the first.
	append func(out pq.Row, c *table.Column, row, leaf int) pq.Row
	// set sets a row's value from a leaf other than a text of a list or the bytes of an image.
	set func(r *reader, c *table.Column, row int, v pq.Value, role leafRole)
}

var kinds = map[table.Kind]kind{
	table.KindText: {pq.String(), 1,
		func(out pq.Row, c *table.Column, row, leaf int) pq.Row {
			return append(out, pq.ValueOf(c.Texts[row]).Level(0, 1, leaf))
		},
		func(_ *reader, c *table.Column, row int, v pq.Value, role leafRole) { c.Texts[row] = role.text(v) },
	},
	table.KindNumber: {pq.Leaf(pq.DoubleType), 1,
		func(out pq.Row, c *table.Column, row, leaf int) pq.Row {
			return append(out, pq.DoubleValue(c.Numbers[row]).Level(0, 1, leaf))
		},
		func(_ *reader, c *table.Column, row int, v pq.Value, role leafRole) {
			n := role.number(v)
			if c.Numbers[row] = n; c.Texts == nil && (v.Kind() == pq.Boolean || role.whole && math.Abs(n) >= 1<<53) {
				texts, _ := c.As(table.KindText)
				c.Texts = texts.Texts
			}
			if c.Texts != nil {
				c.Texts[row] = role.text(v)
			}
		},
	},
	table.KindVector: {pq.List(pq.Leaf(pq.FloatType)), 1,
		func(out pq.Row, c *table.Column, row, leaf int) pq.Row {
			if len(c.Vectors[row]) == 0 {
				return append(out, pq.NullValue().Level(0, 1, leaf))
			}
			for i, x := range c.Vectors[row] {
				out = append(out, pq.FloatValue(x).Level(min(i, 1), 2, leaf))
			}
			return out
		},
		func(_ *reader, c *table.Column, row int, v pq.Value, role leafRole) {
			c.Vectors[row] = append(c.Vectors[row], float32(role.number(v)))
		},
	},
	table.KindImage: {ordered{pq.Group{"sha256": pq.String(), "path": pq.String()}, []string{"sha256", "path"}}, 2,
		func(out pq.Row, c *table.Column, row, leaf int) pq.Row {
			x := c.Images[row]
			return append(out, pq.ValueOf(x.SHA256).Level(0, 1, leaf), pq.ValueOf(x.Path).Level(0, 1, leaf+1))
		},
		func(r *reader, c *table.Column, row int, v pq.Value, role leafRole) {
			if role.part == "sha256" {
				c.Images[row].SHA256 = role.text(v)
			} else if !r.Held[c.Name][row] {
				c.Images[row].Path = role.text(v)
			}
		},
	},
	table.KindMask: {ordered{pq.Group{"size": pq.List(pq.Leaf(pq.Int32Type)), "counts": pq.String()},
		[]string{"size", "counts"}}, 2,
		func(out pq.Row, c *table.Column, row, leaf int) pq.Row {
			x := c.Masks[row]
			return append(out, pq.Int32Value(int32(x.Size[0])).Level(0, 2, leaf),
				pq.Int32Value(int32(x.Size[1])).Level(1, 2, leaf), pq.ValueOf(x.Counts).Level(0, 1, leaf+1))
		},
		func(r *reader, c *table.Column, row int, v pq.Value, role leafRole) {
			if role.part != "path" || !r.Held[c.Name][row] {
				c.Masks[row].Counts = role.text(v)
			}
		},
	},
}

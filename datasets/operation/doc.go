// Package operation describes operations on tables by Go types: an options struct, a row struct and a function from
// one to the other. Packages metrics and datasets define metrics and table operations with it; the command line derives
// flags and help from it; the backend evaluates it.
//
// # Options
//
// Each exported field of an options struct is an option: a string, int, int64, float64, bool, or a slice of strings,
// ints or float64s. The zero value of a field means its default. Tags:
//
//	json:"min_patches,omitempty"  the name; the flag is the name with - for _
//	help:"…"                      one line
//	default:"3"                   what the zero value means; without it, zero itself
//	min:"1" max:"<1"              the range; after > or < the end is excluded
//	values:"paper,public-code"    the only values
//	none:"-1"                     this value means zero, where zero means the default; the flag takes 0 too
//	required:"true"               the zero value is an error
//
// Embedded structs are flattened, so that options which several operations share are declared once. The tag NAME of the
// embedding field is the default of the option NAME in this operation, or "required":
//
//	Intervals `resamples:"200"`
//
// A field by []string names the columns that rows are grouped by. Compute receives the struct with defaults filled in,
// validated, and with zero in place of a none value.
//
// # Rows
//
// Each exported field of a row struct is a column, in the order of the fields, named by the tag column; unit, range and
// help are optional tags. Strings and bools (yes, no) are text columns, ints and float64s number columns. An [Estimate]
// becomes three columns, a [Group] the grouping columns, and an embedded struct the columns of its fields.
package operation

// Package operation describes operations on tables by Go types: an options struct, a row struct and a function from
// one to the other. Packages metrics and datasets define metrics and table operations with it; the command line derives
// flags and help from it; the backend evaluates it.
//
// # Options
//
// Each exported field of an options struct is an option: a string, int, int64, float64, *float64, bool, time.Duration,
// or a slice of strings, ints or float64s. The zero value of a field means its default. The fields of a field that is a
// struct, embedded or not, are options too. Tags:
//
//	json:"min_patches,omitempty"  the name; the flag is the name with - for _
//	flag:"patches"                another name of the flag; fields that share one are given as 640x480
//	help:"…"                      one line
//	default:"3"                   what the zero value means; without it, zero itself
//	zero:"auto"                   the same, and a plan has the zero value in place of this one
//	min:"1" max:"<1"              the range; after > or < the end is excluded
//	values:"paper,public-code"    the only values
//	none:"-1"                     this value means zero, where zero means the default; the flag takes 0 too
//	word:"gpus=-1"                a word that the flag takes for a number
//	repeated:"true"               of []string: the flag is given once for each text, which may contain commas
//	required:"true"               the zero value is an error
//	for:"api,exec"                only models of these kinds take it, or the fields of the struct
//	kind:"DIR"                    what stands for the value in the command's help
//	group:"Programs"              a heading in the command's help; of an embedded struct its type's name
//
// Embedded structs are flattened, so that options which several operations share are declared once. The tag NAME of the
// embedding field is the default of the option NAME in this operation, or "required":
//
//	Intervals `resamples:"200"`
//
// A field by []string names the columns that rows are grouped by. Compute receives the struct with defaults filled in,
// validated, and with zero in place of a none value. Stages validate their options with [Options.Check].
//
// # Rows
//
// Each exported field of a row struct is a column, in the order of the fields, named by the tag column; unit, range and
// help are optional tags. Strings and bools (yes, no) are text columns, ints and float64s number columns. An [Estimate]
// becomes three columns, a [Group] the grouping columns, and an embedded struct the columns of its fields.
package operation

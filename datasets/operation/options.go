package operation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/table"
)

// Option describes one field of an options struct; see the package comment for the tags.
type Option struct {
	Name     string   // JSON name, for example "min_patches"
	Flag     string   // the command's flag, for example "min-patches"
	Type     string   // "text", "list", "integer", "integers", "number", "numbers", "switch"
	Default  string   // what the zero value means, as text
	None     string   // the value that means zero, where the zero value means Default; "" = there is none
	Help     string   // one line
	Values   []string // where the choice is closed
	Min, Max Bound
	Required bool

	index []int
}

// Bound is one end of an option's range. The zero Bound limits nothing.
type Bound struct {
	Value     float64
	Set, Open bool // Open: the value itself is excluded
}

var optionTypes = map[reflect.Type]string{
	reflect.TypeFor[string](): "text", reflect.TypeFor[[]string](): "list",
	reflect.TypeFor[int](): "integer", reflect.TypeFor[int64](): "integer", reflect.TypeFor[[]int](): "integers",
	reflect.TypeFor[float64](): "number", reflect.TypeFor[[]float64](): "numbers",
	reflect.TypeFor[bool](): "switch",
}

// optionsOf reads the tags of an options struct. Embedded structs are flattened; tags of the embedding field named by
// an option replace its default, or make it required.
func optionsOf(t reflect.Type) ([]Option, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("options type %s is not a struct", t)
	}
	var out []Option
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		o := Option{Name: name, Flag: strings.ReplaceAll(name, "_", "-"), Type: optionTypes[f.Type],
			Default: f.Tag.Get("default"), None: f.Tag.Get("none"), Help: f.Tag.Get("help"),
			Required: f.Tag.Get("required") == "true", index: f.Index}
		for depth := len(f.Index) - 1; depth > 0; depth-- { // the outermost field last
			switch tag := t.FieldByIndex(f.Index[:depth]).Tag.Get(name); tag {
			case "":
			case "required":
				o.Required, o.Default = true, ""
			default:
				o.Default = tag
			}
		}
		if v := f.Tag.Get("values"); v != "" {
			o.Values = strings.Split(v, ",")
		}
		var errMin, errMax error
		o.Min, errMin = bound(f.Tag.Get("min"), ">")
		o.Max, errMax = bound(f.Tag.Get("max"), "<")
		err := cmp.Or(errMin, errMax)
		switch {
		case !f.IsExported() || name == "" || name == "-":
			err = errors.New("an option is exported and has a json tag")
		case o.Type == "":
			err = fmt.Errorf("an option cannot have the type %s", f.Type)
		case o.Help == "":
			err = errors.New("the tag help is missing")
		}
		if err == nil && o.Default != "" {
			v := reflect.New(f.Type).Elem()
			if err = o.parse(v, o.Default); err == nil {
				err = o.check(v)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		out = append(out, o)
	}
	return out, nil
}

// bound reads the tag min or max: a number, after > (min) or < (max) one that is excluded.
func bound(text, open string) (b Bound, err error) {
	if text == "" {
		return b, nil
	}
	text, b.Open = strings.CutPrefix(text, open)
	b.Set = true
	b.Value, err = strconv.ParseFloat(text, 64)
	return b, err
}

// parse sets a field from text, as a flag or a tag gives it.
func (o *Option) parse(v reflect.Value, text string) error {
	switch o.Type {
	case "text":
		v.SetString(text)
	case "switch":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s: %q is neither true nor false", o.Flag, text)
		}
		v.SetBool(b)
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %q is not an integer", o.Flag, text)
		}
		v.SetInt(n)
	case "number":
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: %q is not a finite number", o.Flag, text)
		}
		v.SetFloat(x)
	default: // a list
		element := Option{Flag: o.Flag, Type: map[string]string{"list": "text", "integers": "integer",
			"numbers": "number"}[o.Type]}
		v.Set(reflect.Zero(v.Type()))
		for _, part := range strings.Split(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			e := reflect.New(v.Type().Elem()).Elem()
			if err := element.parse(e, part); err != nil {
				return err
			}
			v.Set(reflect.Append(v, e))
		}
	}
	return nil
}

// text returns a field's value as a flag takes it.
func (o *Option) text(v reflect.Value) string {
	if v.Kind() != reflect.Slice {
		return fmt.Sprint(v.Interface())
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = fmt.Sprint(v.Index(i).Interface())
	}
	return strings.Join(parts, ",")
}

// check validates a field's value.
func (o *Option) check(v reflect.Value) error {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			if err := o.check(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if o.None != "" && fmt.Sprint(v.Interface()) == o.None {
		return nil
	}
	if o.Values != nil {
		if s := fmt.Sprint(v.Interface()); !slices.Contains(o.Values, s) && (s != "" || o.Default != "") {
			return fmt.Errorf("%s is %q; it must be one of %s%s", o.Flag, s, strings.Join(o.Values, ", "),
				table.Hint(s, o.Values))
		}
		return nil
	}
	var x float64
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		x = float64(v.Int())
	case reflect.Float64:
		x = v.Float()
	default:
		return nil
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || o.Min.Set && (x < o.Min.Value || x == o.Min.Value && o.Min.Open) ||
		o.Max.Set && (x > o.Max.Value || x == o.Max.Value && o.Max.Open) {
		return fmt.Errorf("%s is %v; it must be %s", o.Flag, x, o.limits())
	}
	return nil
}

// limits describes the option's range: "at least 1", "above 0 and below 1", "a finite number".
func (o *Option) limits() string {
	var parts []string
	if o.Min.Set {
		parts = append(parts, map[bool]string{true: "above ", false: "at least "}[o.Min.Open]+
			strconv.FormatFloat(o.Min.Value, 'g', -1, 64))
	}
	if o.Max.Set {
		parts = append(parts, map[bool]string{true: "below ", false: "at most "}[o.Max.Open]+
			strconv.FormatFloat(o.Max.Value, 'g', -1, 64))
	}
	if parts == nil {
		return "a finite number"
	}
	return strings.Join(parts, " and ")
}

// Usage returns the option's help with its choices, range and default, as a flag shows it.
func (o *Option) Usage() string {
	s := o.Help
	if o.Values != nil {
		s += ": " + strings.Join(o.Values, ", ")
	}
	if o.Min.Set || o.Max.Set {
		s += "; " + o.limits()
	}
	if o.None == "-1" {
		s += "; 0 = none"
	}
	return s
}

// complete fills in defaults and validates an options struct, which must be addressable.
func complete(options []Option, v reflect.Value) error {
	for i := range options {
		o := &options[i]
		f := v.FieldByIndex(o.index)
		if f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
			if o.Required {
				return fmt.Errorf("%s is missing: %s", o.Flag, o.Usage())
			}
			if o.Default == "" {
				continue
			}
			if err := o.parse(f, o.Default); err != nil {
				return err
			}
		}
		if err := o.check(f); err != nil {
			return err
		}
	}
	return nil
}

// resolve replaces the values that mean "none" by zero: what Compute reads.
func resolve(options []Option, v reflect.Value) {
	for i := range options {
		o := &options[i]
		if f := v.FieldByIndex(o.index); o.None != "" && o.text(f) == o.None {
			f.SetZero()
		}
	}
}

// decode reads options from a plan. A field that the struct does not have is an error.
func decode(options []Option, raw json.RawMessage, v any) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("option %q: a %s is not %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if name, found := strings.CutPrefix(err.Error(), `json: unknown field "`); found {
		return unknown(options, strings.TrimSuffix(name, `"`))
	}
	return err
}

func unknown(options []Option, name string) error {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Flag
	}
	return fmt.Errorf("no option %q; options: %s%s", name, strings.Join(names, ", "), table.Hint(name, names))
}

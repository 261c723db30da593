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
	"time"

	"antipode/datasets/table"
)

// Option describes one field of an options struct; see the package comment for the tags.
type Option struct {
	Name     string   // JSON name, for example "min_patches"
	Flag     string   // the command's flag, for example "min-patches"
	Field    string   // in Go, for example "MinPatches" or "API.Quality"
	Type     string   // "text", "list", "repeated", "integer", "integers", "number", "numbers", "switch", "duration"
	Default  string   // what the zero value means, as text
	None     string   // the value that means zero, where the zero value means Default; "" = there is none
	Help     string   // one line
	Group    string   // the heading of its flag in a command's help; "" = the common ones
	Kind     string   // what stands for its value in a command's help, for example "DIR"; "" = as its type
	Values   []string // where the choice is closed
	For      []string // the kinds of model that take it; nil = all
	Min, Max Bound
	Required bool

	zero  bool   // Default is replaced by the zero value, not the other way
	word  string // the flag's word for a number: "gpus=-1"
	index []int

	embedding []reflect.StructTag // of the embedding fields, the outermost first
}

// Options are the options of a struct, in the order of its fields.
type Options []Option

// Bound is one end of an option's range. The zero Bound limits nothing.
type Bound struct {
	Value     float64
	Set, Open bool // Open: the value itself is excluded
}

var optionTypes = map[reflect.Type]string{
	reflect.TypeFor[string](): "text", reflect.TypeFor[[]string](): "list",
	reflect.TypeFor[int](): "integer", reflect.TypeFor[int64](): "integer", reflect.TypeFor[[]int](): "integers",
	reflect.TypeFor[float64](): "number", reflect.TypeFor[*float64](): "number",
	reflect.TypeFor[[]float64](): "numbers", reflect.TypeFor[bool](): "switch",
	reflect.TypeFor[time.Duration](): "duration",
}

// OptionsOf reads the tags of an options struct. It panics on a mistake in them, such as a missing tag.
func OptionsOf[O any]() Options {
	options, err := optionsOf(reflect.TypeFor[O]())
	if err != nil {
		panic("options: " + err.Error())
	}
	return options
}

// optionsOf reads the tags of an options struct. Embedded structs are flattened; tags of the embedding field named by
// an option replace its default, or make it required.
func optionsOf(t reflect.Type) (Options, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("options type %s is not a struct", t)
	}
	out, err := fieldsOf(t, Option{})
	return slices.DeleteFunc(out, func(o Option) bool { // a field of an embedded struct that another one hides
		f, found := t.FieldByName(o.Field)
		return !strings.Contains(o.Field, ".") && !(found && slices.Equal(f.Index, o.index))
	}), err
}

// fieldsOf reads the tags of an options struct, or of a struct that is a field of one, which in describes.
func fieldsOf(t reflect.Type, in Option) (out Options, err error) {
	for f := range t.Fields() {
		tag := f.Tag.Get
		name, _, _ := strings.Cut(tag("json"), ",")
		flag := cmp.Or(tag("flag"), strings.ReplaceAll(name, "_", "-"))
		o := Option{Name: name, Flag: flag, Field: in.Field + f.Name, Type: optionTypes[f.Type],
			Default: cmp.Or(tag("default"), tag("zero")), None: tag("none"), Help: tag("help"), Kind: tag("kind"),
			Group: cmp.Or(tag("group"), in.Group), For: in.For, Required: tag("required") == "true",
			zero: tag("zero") != "", word: tag("word"), index: slices.Concat(in.index, f.Index)}
		if v := tag("for"); v != "" {
			o.For = strings.Split(v, ",")
		}
		if o.Type == "" && f.Type.Kind() == reflect.Struct {
			if o.Field += "."; f.Anonymous {
				if o.Field = in.Field; f.IsExported() {
					o.Group = cmp.Or(o.Group, f.Name)
				}
				o.embedding = append(slices.Clone(in.embedding), f.Tag)
			}
			nested, err := fieldsOf(f.Type, o)
			if err != nil {
				return nil, err
			}
			out = append(out, nested...)
			continue
		}
		for _, outer := range slices.Backward(in.embedding) {
			switch v := outer.Get(name); v {
			case "":
			case "required":
				o.Required, o.Default = true, ""
			default:
				o.Default = v
			}
		}
		if tag("repeated") == "true" && o.Type == "list" {
			o.Type = "repeated"
		}
		if v := tag("values"); v != "" {
			o.Values = strings.Split(v, ",")
		}
		var errMin, errMax error
		o.Min, errMin = bound(tag("min"), ">")
		o.Max, errMax = bound(tag("max"), "<")
		err := cmp.Or(errMin, errMax)
		switch {
		case !f.IsExported() || name == "" || flag == "-":
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

// Invalid is the error of an option whose value is out of range, not one of its values, or not for a kind of model.
type Invalid struct {
	Name    string // of the option: its name in Go, or its flag
	Problem string // "is 0; it must be at least 1"
	Option  *Option
}

func (e *Invalid) Error() string { return e.Name + " " + e.Problem }

func (o *Option) invalid(format string, args ...any) error {
	return &Invalid{Name: o.Flag, Problem: fmt.Sprintf(format, args...), Option: o}
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
	case "repeated":
		v.Set(reflect.Append(v, reflect.ValueOf(text)))
	case "duration":
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s: %q is not a duration, such as 30m", o.Flag, text)
		}
		v.SetInt(int64(d))
	case "switch":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s: %q is neither true nor false", o.Flag, text)
		}
		v.SetBool(b)
	case "integer":
		word, value, _ := strings.Cut(o.word, "=")
		if word != "" && text == word {
			text = value
		}
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
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.ValueOf(&x))
		} else {
			v.SetFloat(x)
		}
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
		return fmt.Sprint(reflect.Indirect(v).Interface())
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
			return o.invalid("is %q; it must be one of %s%s", s, strings.Join(o.Values, ", "), table.Hint(s, o.Values))
		}
		return nil
	}
	var x float64
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.Int, reflect.Int64:
		x = float64(v.Int())
	case reflect.Float64:
		x = v.Float()
	default:
		return nil
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || o.Min.Set && (x < o.Min.Value || x == o.Min.Value && o.Min.Open) ||
		o.Max.Set && (x > o.Max.Value || x == o.Max.Value && o.Max.Open) {
		return o.invalid("is %v; it must be %s", v.Interface(), o.limits())
	}
	return nil
}

// limits describes the option's range: "at least 1", "above 0 and below 1", "a finite number".
func (o *Option) limits() string {
	end := func(b Bound, open, closed string) string {
		if b.Open {
			closed = open
		}
		return closed + strconv.FormatFloat(b.Value, 'f', -1, 64)
	}
	switch low, high := end(o.Min, "above ", "at least "), end(o.Max, "below ", "at most "); {
	case o.Min.Set && o.Max.Set:
		return low + " and " + high
	case o.Min.Set:
		return low
	case o.Max.Set:
		return high
	}
	return "a finite number"
}

// Usage returns the option's help with its choices and range, as a flag shows it, before the default that it names.
func (o *Option) Usage() string {
	s, rest, named := strings.Cut(o.Help, "; default ")
	if o.Values != nil {
		s += ": " + strings.Join(o.Values, ", ")
	}
	if o.Max.Set || o.Min.Set && (o.Min.Open || o.Min.Value != 0) {
		s += "; " + o.limits()
	}
	if o.None == "-1" {
		s += "; 0 = none"
	}
	if named {
		s += "; default " + rest
	}
	return s
}

// takes reports whether a model of one of these kinds takes the option.
func (o *Option) takes(kinds []string) bool {
	return o.For == nil || slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(o.For, k) })
}

// Check completes and validates a struct, a pointer to which is given, for a model of one of these kinds: zero values
// that have a default become it, and values that mean the zero value become zero. It returns an [Invalid] that names a
// field in Go. Of an option for other kinds that is set, the problem is "is for " and these kinds.
func (options Options) Check(o any, kinds ...string) error {
	v := reflect.ValueOf(o).Elem()
	err := complete(options, v, kinds...)
	if wrong := (*Invalid)(nil); errors.As(err, &wrong) {
		wrong.Name = wrong.Option.Field
	}
	if err != nil {
		return err
	}
	resolve(options, v)
	return nil
}

// Set sets the options of a flag in a struct, a pointer to which is given, from the flag's text. Several options with
// one flag, such as a width and a height, have numbers with an x between them: 640x480.
func (options Options) Set(o any, flag, text string) error {
	var list []*Option
	for i := range options {
		if options[i].Flag == flag {
			list = append(list, &options[i])
		}
	}
	parts := []string{text}
	if len(list) > 1 {
		parts = strings.Split(text, "x")
	}
	if len(parts) != len(list) {
		return fmt.Errorf("%s: %q is not %d numbers with an x between them, for example 512x512", flag, text, len(list))
	}
	for i, option := range list {
		if err := option.set(reflect.ValueOf(o).Elem().FieldByIndex(option.index), parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// set sets a field from a flag's text and validates it: zero is not the default here.
func (o *Option) set(v reflect.Value, text string) error {
	if err := o.parse(v, text); err != nil {
		return err
	}
	switch {
	case v.IsZero() && o.None != "":
		return o.parse(v, o.None)
	case v.IsZero() && o.Default != "":
		if err := o.check(v); err != nil {
			return err
		}
		return o.invalid("cannot be %q", text)
	case v.IsZero() && v.Kind() == reflect.String:
		return nil
	}
	return o.check(v)
}

// complete fills in defaults and validates an options struct, which must be addressable.
func complete(options Options, v reflect.Value, kinds ...string) error {
	for i := range options {
		o := &options[i]
		f := v.FieldByIndex(o.index)
		zero := f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0
		switch {
		case zero && o.Required:
			return o.invalid("is missing: %s", o.Usage())
		case !zero && !o.takes(kinds) && o.text(f) != o.Default:
			return o.invalid("is for %s", strings.Join(o.For, ", "))
		case zero && (o.Default == "" || o.zero):
			continue
		case zero:
			if err := o.parse(f, o.Default); err != nil {
				return err
			}
		}
		if err := o.check(f); err != nil {
			return err
		}
		if o.zero && o.text(f) == o.Default {
			f.SetZero()
		}
	}
	return nil
}

// resolve replaces the values that mean "none" by zero: what Compute reads.
func resolve(options Options, v reflect.Value) {
	for i := range options {
		o := &options[i]
		if f := v.FieldByIndex(o.index); o.None != "" && o.text(f) == o.None {
			f.SetZero()
		}
	}
}

// decode reads options from a plan. A field that the struct does not have is an error.
func decode(options Options, raw json.RawMessage, v any) error {
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

func unknown(options Options, name string) error {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Flag
	}
	return fmt.Errorf("no option %q; options: %s%s", name, strings.Join(names, ", "), table.Hint(name, names))
}

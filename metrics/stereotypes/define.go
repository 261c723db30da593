package stereotypes

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
)

const citation = "Jha et al., ACL 2024, arXiv 2401.06310, "

// described is embedded in every row of the package: its last column tells how the table was computed.
type described struct {
	Options string `column:"options" help:"name, version and the options that differ from their defaults"`
}

func (d *described) describe(options string) { d.Options = options }

// score defines a metric whose rows embed described.
func score[O, R any](d metrics.Definition[O, R]) datasets.Defined[O] {
	d.Version = cmp.Or(d.Version, 3) // 2 had other intervals
	return metrics.Define(complete(d))
}

// listing defines a table operation whose rows embed described.
func listing[O, R any](d metrics.Definition[O, R]) datasets.Defined[O] {
	return datasets.Define(complete(d))
}

func complete[O, R any](d metrics.Definition[O, R]) metrics.Definition[O, R] {
	compute := d.Compute
	d.Citation, d.Version = citation+d.Citation, cmp.Or(d.Version, 2)
	d.Compute = func(ctx context.Context, call *metrics.Call, o O) ([]R, error) {
		rows, err := compute(ctx, call, o)
		text := describe(d.Name, d.Version, o)
		for i := range rows {
			any(&rows[i]).(interface{ describe(string) }).describe(text)
		}
		return rows, err
	}
	return d
}

// describe returns NAME/VERSION seed=N and each option that differs from its default, by name.
func describe(name string, version int, options any) string {
	v := reflect.ValueOf(options)
	seed := "seed=0"
	var given []string
	for _, f := range reflect.VisibleFields(v.Type()) {
		option, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || option == "" {
			continue
		}
		field := v.FieldByIndex(f.Index)
		text, fallback := fmt.Sprint(field.Interface()), f.Tag.Get("default")
		switch {
		case option == "seed":
			seed = "seed=" + text
		case text != fallback && (fallback != "" || !field.IsZero()):
			given = append(given, option+"="+url.QueryEscape(text))
		}
	}
	slices.Sort(given)
	return strings.Join(append([]string{name + "/" + strconv.Itoa(version), seed}, given...), " ")
}

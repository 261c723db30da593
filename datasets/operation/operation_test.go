package operation_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
)

type testOptions struct {
	By      []string `json:"by,omitempty" help:"grouping columns"`
	Vector  string   `json:"vector,omitempty" default:"full" help:"vector column"`
	K       int      `json:"k,omitempty" default:"3" min:"1" help:"neighbor"`
	Profile string   `json:"profile,omitempty" default:"paper" values:"paper,public-code" help:"which profile"`
	shared  `resamples:"200"`
	Sizes   []int     `json:"sizes,omitempty" default:"1,2" min:"1" help:"sizes"`
	Shares  []float64 `json:"shares,omitempty" help:"shares"`
	MinRows int       `json:"min_rows,omitempty" help:"least rows"`
	All     bool      `json:"all,omitempty" help:"keep all rows"`
	Seed    int64     `json:"seed,omitempty" help:"seed"`
}

// shared is embedded, with another default.
type shared struct {
	Resamples int     `json:"resamples,omitempty" default:"1000" min:"2" none:"-1" help:"half-samples"`
	Level     float64 `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level"`
}

type testCounts struct {
	N int `column:"n" unit:"rows"`
}

type testRow struct {
	Group operation.Group
	Name  string             `column:"name of {by}"`
	Score operation.Estimate `column:"score" unit:"share" range:"[0,1]"`
	Found bool               `column:"found"`
	testCounts
}

var last testOptions

var define = operation.Define(operation.Definition[testOptions, testRow]{
	Name: "test-operation", Title: "a test", Version: 2,
	Inputs: []operation.Input{{Role: "in", Columns: []table.ColumnSpec{{Name: "id", Kind: table.KindText},
		{Name: "any"}}},
		{Role: "other", Optional: true}},
	Compute: func(_ context.Context, call *operation.Call, o testOptions) ([]testRow, error) {
		last = o
		call.Notef("%d rows", call.Inputs["in"].Len())
		if o.MinRows > 0 {
			return nil, errors.New("too few rows")
		}
		if o.All {
			return nil, nil
		}
		return []testRow{{Group: operation.Group(o.By), Name: "x", Score: operation.Exact(0.5), Found: true,
			testCounts: testCounts{7}}}, nil
	},
}, true)

func frame() *table.Frame {
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
		table.NumberColumn("any", []float64{1})}}
}

func evaluate(options string) (*table.Frame, error) {
	raw, err := json.Marshal(operation.Args{Version: 2, Roles: []string{"in"}, Options: json.RawMessage(options)})
	if err != nil {
		return nil, err
	}
	return define.Evaluate(context.Background(), operation.Call{}, raw, []*table.Frame{frame()})
}

func TestDefaults(t *testing.T) {
	_ = must.Get(evaluate(""))(t)
	want := testOptions{Vector: "full", K: 3, Profile: "paper", shared: shared{200, 0.95}, Sizes: []int{1, 2}}
	if !reflect.DeepEqual(last, want) {
		t.Errorf("%+v", last)
	}
	if _, err := evaluate(`{"resamples":-1,"k":5}`); err != nil || last.Resamples != 0 || last.K != 5 {
		t.Errorf("none: %+v, %v", last, err)
	}
}

// TestOptionErrors: an error names the operation, the option and what is allowed.
func TestOptionErrors(t *testing.T) {
	for options, want := range map[string]string{
		`{"vectr":"x"}`:        `test-operation: no option "vectr"; options: by, vector, `,
		`{"k":"x"}`:            `option "k": a string is not int`,
		`{"k":-2}`:             "k is -2; it must be at least 1",
		`{"resamples":1}`:      "resamples is 1; it must be at least 2",
		`{"level":1}`:          "level is 1; it must be above 0 and below 1",
		`{"profile":"papr"}`:   `profile is "papr"; it must be one of paper, public-code; did you mean "paper"?`,
		`{"sizes":[3,-1]}`:     "sizes is -1; it must be at least 1",
		`{"min_rows":1}`:       "test-operation: too few rows",
		`{"shares":[1,"two"]}`: "a string is not float64",
	} {
		must.Fail(evaluate(options))(t, want)
	}
	// two structs
	must.Fail(define.Check([]testOptions{{}, {}}))(t, "2 values of type operation_test.testOptions; give at most one")
	must.Fail(define.Check([]testOptions{{shared: shared{Level: math.NaN()}}}))(t) // NaN
}

// TestParse: options as flags give them; 0 means none where the option has it.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"resamples=0 k=2 sizes=4,5 shares=0.5,1 by=a,b all=true": `{"by":["a","b"],"vector":"full","k":2,` +
			`"profile":"paper","resamples":-1,"level":0.95,"sizes":[4,5],"shares":[0.5,1],"all":true}`,
		"min-rows=4": `{"vector":"full","k":3,"profile":"paper","resamples":200,"level":0.95,"sizes":[1,2],"min_rows":4}`,
	} {
		checked := must.Get(define.Parse(options(text)))(t)
		must.Equal(t, string(must.Get(checked.Args(nil))(t).Options), want, text)
	}
	for text, want := range map[string]string{
		"k=x": `k: "x" is not an integer`, "k=0": "k is 0; it must be at least 1", "level=NaN": "not a finite number",
		"all=maybe": "neither true nor false", "sizes=1,x": `sizes: "x" is not an integer`,
		"rows=1":  `no option "rows"`,
		"vector=": `vector cannot be ""`, "profile=": `profile is ""; it must be one of paper, public-code`,
	} {
		must.Fail(define.Parse(options(text)))(t, want)
	}
}

func options(text string) map[string]string {
	out := map[string]string{}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		out[key] = value
	}
	return out
}

func TestRows(t *testing.T) {
	for options, want := range map[string]string{
		"":                        "name of  score score_low score_high found n",
		`{"by":["a","b"]}`:        "a b name of a, b score score_low score_high found n",
		`{"all":true}`:            "name of  score score_low score_high found n",
		`{"by":[],"k":4}`:         "name of  score score_low score_high found n",
		`{"by":["region"]}`:       "region name of region score score_low score_high found n",
		`{"by":["a"],"all":true}`: "a name of a score score_low score_high found n",
	} {
		f, err := evaluate(options)
		if err != nil || f.Check() != nil {
			t.Fatal(options, err, f.Check())
		}
		must.Equal(t, strings.ReplaceAll(table.NameList(f.Specs()), ", ", " "), strings.ReplaceAll(want, ", ", " "),
			options, want)
		if f.Len() == 1 && (f.Numbers("score")[0] != 0.5 || !math.IsNaN(f.Numbers("score_low")[0]) ||
			f.Texts("found")[0] != "yes" || f.Numbers("n")[0] != 7) {
			t.Errorf("%+v", f)
		}
	}
}

func TestInputs(t *testing.T) {
	args := func(roles ...string) json.RawMessage {
		raw, _ := json.Marshal(operation.Args{Roles: roles})
		return raw
	}
	small := &table.Frame{Columns: []table.Column{table.TextColumn("id", nil)}}
	for _, c := range []struct {
		roles []string
		in    []*table.Frame
		want  string
	}{
		{nil, nil, `the table "in" is missing`},
		{[]string{"in"}, nil, "0 tables for the roles in"},
		{[]string{"in", "third"}, []*table.Frame{frame(), frame()}, `there is no input "third"`},
		{[]string{"in"}, []*table.Frame{small}, `table "in": no such column: "any"`},
	} {
		must.Fail(define.Evaluate(context.Background(), operation.Call{}, args(c.roles...), c.in))(t, c.want)
	}
}

// TestEvaluate: a plan in memory, with a seed that is raised.
func TestEvaluate(t *testing.T) {
	checked, _ := define.Parse(options("seed=4"))
	args, _ := checked.Args([]string{"in"})
	raw, _ := json.Marshal(args)
	raw = must.Get(operation.AddSeed("test-operation", raw, 38))(t)
	plan := &table.Plan{Op: "test-operation", Args: raw, Inputs: []*table.Plan{operation.InputPlan(1)}}
	notes := 0
	call := operation.Call{Note: func(string, ...any) { notes++ }}
	f, err := call.Evaluate(context.Background(), plan, nil, frame())
	if err != nil || f.Len() != 1 || last.Seed != 42 || notes != 1 {
		t.Errorf("%v, %v, seed %d, %d notes", f, err, last.Seed, notes)
	}
	for _, plan := range []*table.Plan{operation.InputPlan(0), operation.InputPlan(2), {Op: "no-such"}} {
		must.Fail(call.Evaluate(context.Background(), plan, nil, frame()))(t)
	}
}

func TestFind(t *testing.T) {
	if operation.Find("test-operation") != define ||
		operation.Find("x") != nil {
		t.Error("names")
	}
	if names := operation.Names(true); !reflect.DeepEqual(names, []string{"test-operation", "test-texts"}) {
		t.Error(names)
	}
}

// TestDefinitionErrors: a mistake in a definition panics when the program starts.
func TestDefinitionErrors(t *testing.T) {
	type row struct {
		X float64 `column:"x"`
	}
	mistake := func(want string, define func()) {
		t.Helper()
		defer func() {
			if text, _ := recover().(string); !strings.Contains(text, want) {
				t.Errorf("%q, want %q", text, want)
			}
		}()
		define()
	}
	mistake("the tag help is missing", func() {
		operation.Define(operation.Definition[struct {
			K int `json:"k"`
		}, row]{Name: "a"}, true)
	})
	mistake("k is 0; it must be at least 1", func() {
		operation.Define(operation.Definition[struct {
			K int `json:"k" default:"0" min:"1" help:"k"`
		}, row]{Name: "b"}, true)
	})
	mistake("a column cannot hold complex128", func() {
		operation.Define(operation.Definition[struct{}, struct {
			C complex128 `column:"c"`
		}]{Name: "c", Compute: func(context.Context, *operation.Call, struct{}) ([]struct {
			C complex128 `column:"c"`
		}, error) {
			return nil, nil
		}}, true)
	})
	mistake("a name, a title", func() { operation.Define(operation.Definition[struct{}, row]{Name: "d"}, true) })
}

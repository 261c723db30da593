package runner

import (
	"errors"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/kernel/jupyter/notebook"
)

const parameters = `//gonb:%args -x
import "time"

// What the audit asks.
var (
	name          = "a" + "b" // text
	seed      int = 7
	share         = 0.5
	on, off       = true, false
	rune1         = 'x'
	small     uint8
	timeout       = 30 * time.Second
	pause     time.Duration
	ratio     = float32(1)
	computed  = strings.ToUpper("x")
	list      = []int{1}
	negative  = -3
)
const fixed = 1
func helper() { var inner = 1; _ = inner }
%%
var local = 5
this is not Go`

func TestInject(t *testing.T) {
	for _, test := range []struct{ param, want string }{
		{"name=x=\"y\"\n<z>", `var name string = "x=\"y\"\n<z>"`},
		{"name=", `var name string = ""`},
		{"seed=-12", "var seed int = -12"},
		{" seed =1", "var seed int = 1"},
		{"share=1", "var share float64 = 1"},
		{"share=1e-7", "var share float64 = 1e-07"},
		{"on=false", "var on bool = false"},
		{"off=true", "var off bool = true"},
		{"rune1=65", "var rune1 rune = 65"},
		{"small=255", "var small uint8 = 255"},
		{"timeout=1m30s", "var timeout time.Duration = 90000000000 // 1m30s"},
		{"pause=0s", "var pause time.Duration = 0 // 0s"},
		{"ratio=0.1", "var ratio float32 = 0.1"},
		{"negative=3", "var negative int = 3"},
	} {
		nb := &notebook.Notebook{Minor: 5, Cells: []*notebook.Cell{{Type: notebook.Markdown}, code("// first"),
			code(parameters, "parameters"), code("// last")}}
		if err := Inject(nb, []string{test.param}); err != nil {
			t.Errorf("%q: %v", test.param, err)
			continue
		}
		if len(nb.Cells) != 5 || nb.Cells[3].Source != "// Set by -p\n"+test.want ||
			!nb.Cells[3].Tagged("injected-parameters") || nb.Cells[3].ID == "" {
			t.Errorf("%q gave %q (tags %v)", test.param, nb.Cells[3].Source, nb.Cells[3].Tags())
		}
	}
}

func TestInjectErrors(t *testing.T) {
	for _, test := range []struct{ param, want string }{
		{"none=1", `no parameter "none" (it has: computed, list, name`},
		{"fixed=1", `no parameter "fixed"`},
		{"local=1", `no parameter "local"`},
		{"inner=1", `no parameter "inner"`},
		{"seed", "write -p name=value"},
		{"=1", "write -p name=value"},
		{"seed=1.5", `"1.5" is not an int`},
		{"seed=0x10", "is not an int"},
		{"seed=99999999999999999999", "is not an int"},
		{"small=256", "is not an uint8"},
		{"share=NaN", "is not a float64"},
		{"share=x", "is not a float64"},
		{"on=yes", "is not a bool"},
		{"timeout=30", "is not a duration"},
		{"computed=x", "its type is not one that -p can set"},
		{"list=x", "its type is not one that -p can set"},
	} {
		nb := &notebook.Notebook{Minor: 5, Cells: []*notebook.Cell{code(parameters, "parameters")}}
		err := Inject(nb, []string{test.param})
		var wrong *UsageError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error is %v, want a UsageError with %q", test.param, err, test.want)
		}
		must.Equal(t, len(nb.Cells), 1, test.param, "changed the notebook")
	}
	for source, want := range map[string]string{"var n = 1": `no cell tagged "parameters"`} {
		nb := &notebook.Notebook{Cells: []*notebook.Cell{code(source)}}
		if err := Inject(nb, []string{"n=1"}); !isUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	nb := &notebook.Notebook{Cells: []*notebook.Cell{code("var n = ", "parameters")}}
	if err := Inject(nb, []string{"n=1"}); !isUsage(err) || !strings.Contains(err.Error(), "does not parse") {
		t.Errorf("error is %v", err)
	}
}

// A second run replaces what the first injected; the last of two values counts; without parameters nothing changes.
func TestInjectAgain(t *testing.T) {
	nb := &notebook.Notebook{Minor: 5, Cells: []*notebook.Cell{code("var a, b = 1, 2", "parameters"), code("// rest")}}
	nb.Cells[1].ID = injectedTag // somebody's own cell has the id
	for _, params := range [][]string{{"a=3"}, {"b=4", "a=5", "a=6"}, nil} {
		must.Do(t, Inject(nb, params))
	}
	if len(nb.Cells) != 3 || nb.Cells[1].Source != "// Set by -p\nvar b int = 4\nvar a int = 6" ||
		nb.Cells[1].ID == nb.Cells[2].ID {
		t.Errorf("cells are %+v, %+v", *nb.Cells[1], *nb.Cells[2])
	}
}

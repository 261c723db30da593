package operation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"antipode/datasets/operation"
)

type serverOptions struct {
	Price float64  `json:"price,omitempty" min:">0" help:"price"`
	Tags  []string `json:"tags,omitempty" flag:"tag" repeated:"true" for:"api,exec" help:"a tag"`
}

type Shared struct {
	Idle time.Duration `json:"idle,omitempty" min:"0" help:"time"`
	N    int           `json:"-" flag:"n" help:"hidden by a field of the same name"`
}

type stageOptions struct {
	N       int           `json:"-" flag:"n" default:"1" min:"1" help:"images"`
	Width   int           `json:"width,omitempty" flag:"size" min:"8" help:"size"`
	Height  int           `json:"height,omitempty" flag:"size" min:"8" help:"size"`
	Safety  string        `json:"safety,omitempty" for:"local" zero:"on" values:"on,off" help:"check"`
	Between string        `json:"between" default:"|" none:"\x00" help:"separator"`
	Penalty *float64      `json:"penalty,omitempty" min:"-1" max:"1" help:"penalty; default 1"`
	Workers int           `json:"workers,omitempty" word:"gpus=-1" help:"processes"`
	Server  serverOptions `json:"server,omitzero" group:"Servers" for:"api"`
	Shared
}

// TestStageOptions: nested structs, kinds of model, and flags of stages.
func TestStageOptions(t *testing.T) {
	options := operation.OptionsOf[stageOptions]()
	var got []string
	for _, o := range options {
		got = append(got, o.Field+" -"+o.Flag+" "+o.Group+" "+strings.Join(o.For, "+"))
	}
	if list := strings.Join(got, "; "); list != "N -n  ; Width -size  ; Height -size  ; Safety -safety  local; "+
		"Between -between  ; Penalty -penalty  ; Workers -workers  ; Server.Price -price Servers api; "+
		"Server.Tags -tag Servers api+exec; Idle -idle Shared " {
		t.Errorf("options %s", list)
	}
	for _, c := range []struct{ flags, kind, want string }{
		{"", "api", `{"between":"|"} 1`},
		{"n=3 size=64x32 safety=on workers=gpus idle=90s", "local",
			`{"width":64,"height":32,"between":"|","workers":-1,"idle":90000000000} 3`},
		{"safety=on penalty=0 between= price=2 tag=a,b tag=c", "api",
			`{"between":"","penalty":0,"server":{"price":2,"tags":["a,b","c"]}} 1`},
		{"safety=off", "api", "Safety is for local"},
		{"price=2", "local", "Server.Price is for api"},
		{"tag=a", "exec", `{"between":"|","server":{"tags":["a"]}} 1`},
		{"n=0", "api", "n is 0; it must be at least 1"},
		{"size=64x0", "api", "size is 0; it must be at least 8"},
		{"size=64", "api", "is not 2 numbers with an x between them"},
		{"idle=-1s", "api", "idle is -1s; it must be at least 0"},
		{"idle=5", "api", `idle: "5" is not a duration`},
		{"penalty=2", "api", "penalty is 2; it must be at least -1 and at most 1"},
	} {
		var o stageOptions
		err := error(nil)
		for _, word := range strings.Fields(c.flags) {
			flag, text, _ := strings.Cut(word, "=")
			err = errors.Join(err, options.Set(&o, flag, text))
		}
		if err == nil {
			err = options.Check(&o, c.kind)
		}
		text, _ := json.Marshal(o)
		got := fmt.Sprint(string(text), " ", o.N)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s of %s: %s, want %s", c.flags, c.kind, got, c.want)
		}
		if again := o; err == nil && (options.Check(&again, c.kind) != nil || again.N != o.N) {
			t.Errorf("%s: not the same a second time", c.flags)
		}
	}
	if err := options.Check(&stageOptions{Width: 1}); err == nil || err.Error() != "Width is 1; it must be at least 8" {
		t.Errorf("in Go: %v", err)
	}
}

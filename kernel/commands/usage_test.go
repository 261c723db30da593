package commands

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/internal/must"
)

// TestUsage: a mistake in the arguments is one line that names what was meant.
func TestUsage(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	must.Write(t, "q.csv", "id,question,choices\na,Day?,yes|no\n")
	dir := must.Get(os.Getwd())(t) // of the absolute paths in messages
	for args, want := range map[string]string{
		"segment --maks x": "segment: unknown flag --maks; did you mean --masks?",
		"embed --modle x":  "embed: unknown flag --modle; did you mean --model?",
		"score --metric mauve-of-nothing": "no metric \"mauve-of-nothing\": `antipode score` lists " +
			"the metrics",
		"score --metric precison-coverage": "no metric \"precison-coverage\": `antipode score` lists the " +
			"metrics; did you mean \"precision-coverage\"?",
		"score --metric precision-coverage --gne x": "score: unknown flag --gne; did you mean --gen?",
		"score --out x.csv":                         "give --metric NAME; `antipode score` lists the metrics",
		"run --xyzzyx":                              "run: unknown flag --xyzzyx; see `antipode run --help`",
		"generate --n x": "generate: invalid value \"x\" for flag --n: \"x\" is not an integer; see " +
			"`antipode generate --help`",
		"run nope.ipynb": "" +
			"run: there is no notebook nope.ipynb (" + dir + "/nope.ipynb); `antipode new nope.ipynb` " +
			"creates one",
		"table --in nope.csv --out -": "cannot read the table nope.csv: no such file or directory (" + dir +
			"/nope.csv)",
		"embed t.csv":                 "embed takes no argument \"t.csv\"; tables are given with --in",
		"embed --model m --in t.csv":  "--out TABLE is missing",
		"embed --model m --out t.csv": "--in TABLE is missing",
		"embed --model m --in archipelago-photo --out t.csv": "archipelago-photo is not a folder or table (" + dir +
			"/archipelago-photo); a table is a .csv or .parquet file; did you mean \"archipelago-photos\"?",
		"embed --in": "embed: flag needs an argument: --in; see `antipode embed --help`",
		"sgement": "unknown command \"sgement\"; see `antipode help`; did you " +
			"mean antipode segment?",
		"xyzzy":        "unknown command \"xyzzy\"; see `antipode help`",
		"models lst":   "antipode models [list | pull NAME | check NAME|DIR | convert FILE]; did you mean list?",
		"models chek":  "antipode models [list | pull NAME | check NAME|DIR | convert FILE]; did you mean check?",
		"models check": "antipode models check NAME|DIR [--json]",
		"models pull archipelago-vti": "no model \"archipelago-vti\": `antipode models` lists names; a " +
			"model on the hub is OWNER/NAME or OWNER/NAME@REVISION; did you mean \"archipelago-vit\"?",
		"data pul": "antipode data [list | pull NAME | check NAME DIR | images --in TABLE --url COLUMN]; did you " +
			"mean pull?",
		"data pull visaeg": "no data set \"visaeg\"; known: cococrola, cococrola-demo, " +
			"dig_in, dollarstreet, entigen, fonts, geode, laion_coco_nllb, seegull, visage; did you mean \"visage\"?",
		"backend stauts": "antipode backend start|status|stop|log; did you mean status?",
		"backend start --devices cpu:0": "ANTIPODE_DEVICES=cpu:0: the number of processes is not from 1 to 64; use " +
			"auto, numbers of GPUs such as 0,2, UUIDs, or cpu:2",
		"version 2":                        "version takes no argument \"2\"",
		"export n.ipynb":                   "antipode export NOTEBOOK --to DIR",
		"export nope.ipynb --to x":         "export: there is no notebook nope.ipynb (",
		"export --to x n.ipynb --width 99": "--width 99: use 1 to 20 inches",
		"annotate":                         "antipode annotate make",
		"annotate colect":                  "antipode annotate make … | collect DIR …; did you mean collect?",
		"annotate make":                    "give --task TASK, --in TABLE and --out DIR",
		"annotate make --raters 0 --task tags --in t.csv --out d": `annotate make: invalid value "0" for flag ` +
			"--raters: it must be at least 1",
		"annotate collect":                                           "antipode annotate collect DIR --out TABLE",
		"annotate collect nope --out t.csv":                          "annotate collect: there is no folder nope",
		"annotate collect . --out t.txt":                             "t.txt: the name of a table ends in",
		"annotate make --task visag --in archipelago-photos --out d": "annotate make: no task \"visag\"",
		"store gc 300d":                                              "store gc takes no argument",
		"store ls x":                                                 "store ls takes no argument",
		"doctor x":                                                   "doctor takes no argument",
		"store gc --keep 999999d":                                    "--keep \"999999d\"",
		"store gc --keep NaNd":                                       "--keep \"NaNd\"",
		"store gc --max 10000000TB":                                  "--max \"10000000TB\"",
		"store gc --max 0.4B":                                        "--max \"0.4B\"",
		"backend stop drain":                                         "backend stop takes no argument",
		"install x":                                                  "install takes no argument",
		"run n.ipynb --in-place -o x.ipynb":                          "run: --in-place writes the notebook itself",
		"ask --model exec:x --in q.csv --questions q.csv --out o.csv --question Day?": "" +
			"ask: --questions gives the questions",
		"ask --model exec:x --in q.csv --questions q.csv --out o.csv --choices a,b": "" +
			"ask: the table of questions has",
		"table --in q.csv --apply= --out x.csv":                         "no table operation \"\"",
		"table --in q.csv --columns id":                                 "--columns are those of --out",
		"score --by metric --in q.csv":                                  "give --metric NAME",
		"generate --model m --prompts q.csv --in q.csv --out x.csv":     "give --prompts or --in",
		"segment --masks . --in q.csv --out x.csv --components largest": "segment: --components is an option",
		"view q.csv --on id":                                            "--on needs --compare",
		"view q.csv --export x.html --port 8000":                        "--port and --proxy are a server's",
		"annotate collect . --out a.csv --ratings ./a.csv":              "annotate collect: --out and --ratings",
		"new":       "new takes one name",
		"new a.txt": "a.txt: the name of a notebook ends in .ipynb",
	} {
		printed, err := run(strings.Fields(args)...)
		isUsage := errors.As(err, new(usageError)) || strings.Contains(want, "cannot read")
		if !isUsage || printed != "" || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("antipode %s: %q, %v, want %s", args, printed, err, want)
		}
	}
}

func TestLists(t *testing.T) {
	run := inProcess(t)
	t.Setenv(client.HomeVar, t.TempDir())
	for args, want := range map[string]string{
		"models": "archipelago-clipseg", "models list": "archipelago-clipseg", "models ls": "archipelago-clipseg",
		"data": "CoCo-CroLa v0.1", "data list": "CoCo-CroLa v0.1", "data ls": "CoCo-CroLa v0.1",
		"score": "precision-coverage ", "ps": "no backend is running", "ps --json": `{"running":false}`,
		"backend status": "no backend is running",
		"version":        ", build ", "--version": ", build ", "help": "antipode segment", "": "antipode segment",
	} {
		printed := must.Get(run(strings.Fields(args)...))(t)
		must.Has(t, printed, want)
	}
}

// TestDeviceLine: the line of a device has what is known.
func TestDeviceLine(t *testing.T) {
	d := client.DeviceStatus{Name: "GPU-1", State: "busy", PID: 7, Computed: 12, Rate: 3.456, Reason: "signal\nkilled",
		Memory: client.MemoryStatus{Resident: 3 << 20, Models: 2 << 20, Budget: 1 << 30}}
	want := "device  GPU-1: busy, process 7, 3 MiB resident, models 2 of 1024 MiB, 12 items, lately 3.46 a second; " +
		"last failure: signal killed"
	must.Equal(t, deviceLine(d), want)
	want = "device  0: not started, 0 items"
	must.Equal(t, deviceLine(client.DeviceStatus{Name: "0", State: "not started"}), want)
}

// TestHelp: every command explains itself, where help comes first and where it comes last.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		run := inProcess(t)
		for _, args := range [][]string{{c.name, "--help"}, {"help", c.name}} {
			if printed, err := run(args...); err != nil && !errors.Is(err, flag.ErrHelp) ||
				!strings.HasPrefix(printed, "antipode "+c.name) {
				t.Errorf("antipode %s: %q, %v", strings.Join(args, " "), printed, err)
			}
		}
	}
}

func TestNew(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	prints(run("new", "mine"))(t, "antipode run mine.ipynb")
	first := must.Get(os.ReadFile("mine.ipynb"))(t)
	var nb struct {
		Cells []struct {
			Type     string `json:"cell_type"`
			Source   []string
			Metadata struct{ Tags []string }
		}
		Metadata struct{ Kernelspec struct{ Name string } }
	}
	must.Do(t, json.Unmarshal(first, &nb))
	code, parameters, divided := 0, 0, false
	for _, c := range nb.Cells {
		if c.Type == "code" {
			code++
		}
		parameters += len(c.Metadata.Tags)
		divided = divided || c.Type == "markdown" && strings.Contains(strings.Join(c.Source, ""),
			"A line `%%` divides it")
	}
	must.True(t, nb.Metadata.Kernelspec.Name == "antipode" && code >= 4 && parameters == 1 && divided, "%s", first)
	must.Fail(run("new", "mine.ipynb"))(t, "mine.ipynb exists")
	again, _ := os.ReadFile("mine.ipynb")
	must.True(t, string(again) == string(first), "the notebook was changed")
	must.Fail(run("new", filepath.Join("no", "folder.ipynb")))(t) // no error for a missing folder
	must.Do(t, os.WriteFile("images.csv", []byte("id,image\n"), 0o600))
	for _, audit := range []string{"dig", "indictti", "visage", "cococrola", "entigen"} {
		_ = must.Get(run("new", "--audit", audit, "--images", "images.csv", "-p", "seed=3", audit))(t)
		full, _ := filepath.Abs("images.csv")
		if nb := string(must.Get(os.ReadFile(audit + ".ipynb"))(t)); !strings.Contains(nb, full) ||
			!strings.Contains(nb, "var seed int = 3") || strings.Contains(nb, "image/png") {
			t.Errorf("%s: %.2000s", audit, nb)
		}
	}
	for want, args := range map[string][]string{"no such audit; use dig, ind": {"--audit", "x", "a"},
		"--images and -p need --audit": {"-p", "n=1", "a"}, "no parameter \"x\"": {"--audit", "dig", "-p", "x=1", "a"},
		"there is no such file or folder": {"--audit", "dig", "--images", "none", "a"}} {
		must.Fail(run(append([]string{"new"}, args...)...))(t, want)
	}
}

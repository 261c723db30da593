package commands

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"antipode/internal/must"
)

// Help begins with examples that its flags permit, and lists the common flags before the others.
func TestExamples(t *testing.T) {
	run := inProcess(t)
	for name, lines := range examples {
		for _, line := range lines {
			command := strings.Fields(line)[1]
			must.True(t, name == "" || command == name, "%s is an example of %s", line, name)
			args := []string{command, "--help"}
			for _, by := range []string{"metric", "audit"} {
				if named := peek(strings.Fields(line), by); named != "" && command != "new" {
					args = []string{command, "--" + by, named, "--help"}
				}
			}
			text, _ := run(args...)
			for _, flag := range regexp.MustCompile(` --?([a-z-]*)`).FindAllStringSubmatch(line, -1) {
				must.True(t, flag[1] == "" || strings.Contains(text, "\n  -"+flag[1]),
					"%s: no flag %s in the help of %v", line, flag[1], args)
			}
			must.True(t, name == "" || strings.Contains(text, "    antipode "+name+" "),
				"the help of %s has no example", name)
		}
	}
	text, _ := run("generate", "--help")
	for _, pair := range [][2]string{{"    antipode generate", "\n  -model"}, {"\n  -prompt", "\n  -n "},
		{"\n  -out", "\n  -api-base"}} {
		if a, b := strings.Index(text, pair[0]), strings.Index(text, pair[1]); a < 0 || b < a {
			t.Errorf("%q is not before %q", pair[0], pair[1])
		}
	}
	if text, _ := run("score", "--metric", "agreement", "--help"); !strings.Contains(text,
		"agreement.Scores(ratings, agreement.Options{…})") {
		t.Errorf("no call in Go: %s", text)
	}
}

// --out - writes CSV to standard output and everything else to standard error.
func TestPipe(t *testing.T) {
	run := inProcess(t)
	dir := folderOf(t, map[string]string{"t.csv": "id,region,score\na,North,1\nb,South,2\n", "i/a.png": pngOf(t, 4)})
	for _, args := range [][]string{
		{"table", "--in", filepath.Join(dir, "t.csv"), "--where", "region == South", "--out", "-"},
		{"table", "--in", filepath.Join(dir, "i"), "--out", "-"},
	} {
		text, err := run(args...)
		rows, csvErr := csv.NewReader(strings.NewReader(text)).ReadAll()
		must.True(t, err == nil && csvErr == nil && len(rows) == 2, "%v: %q, %v, %v", args, text, err, csvErr)
		if at := len(rows[0]) - 2; rows[0][at] == "image" {
			must.Get(os.Stat(rows[1][at]))(t)
		}
	}
}

// A prompt alone makes one image.
func TestOnePrompt(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	text, err := run("generate", "--prompt", "a boat", "--steps", "1")
	_, statErr := os.Stat("a_boat.png")
	must.True(t, err == nil && text == "wrote a_boat.png\n" && statErr == nil, "%q, %v, %v", text, err, statErr)
	must.Fail(run("generate", "--prompt", "a boat", "--prompts", "p.csv"))(t) // --prompt with --prompts
}

// doctor reports a store that cannot be created, and everything else.
func TestDoctorWithoutStore(t *testing.T) {
	run := inProcess(t)
	t.Setenv("ANTIPODE_HOME", "/dev/null/store")
	text, err := run("doctor")
	must.True(t, err != nil && strings.Contains(text, "fail  store") && strings.Contains(text, "jupyter"),
		"%q, %v", text, err)
}

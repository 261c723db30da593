package jupyter

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
)

type fields = map[string]any

func stderr(text string) Message {
	return testMessage("stream", fields{"name": "stderr", "text": text})
}
func stdout(text string) Message {
	return testMessage("stream", fields{"name": "stdout", "text": text})
}

func gonbError(value string, traceback ...string) Message {
	return testMessage("error", fields{"ename": "ERROR", "evalue": value, "traceback": traceback})
}

func testMessage(kind string, content any) Message {
	m, err := newMessage("s", kind, content, nil)
	if err != nil {
		panic(err)
	}
	return m
}

// described writes a message in one line.
func described(m Message) string {
	var stream StreamContent
	var failed ErrorContent
	switch m.Header.Type {
	case "stream":
		_ = json.Unmarshal(m.Content, &stream)
		return stream.Name + ":" + stream.Text
	case "error":
		_ = json.Unmarshal(m.Content, &failed)
		return "error:" + failed.Name + "|" + failed.Value + "|" + strings.Join(failed.Traceback, "⏎")
	}
	return m.Header.Type + ":" + string(m.Content)
}

// What GoNB reports of a failed cell in up to five messages becomes one error, in the cell's own terms.
func TestTidy(t *testing.T) {
	const place = " \x1b[7m[[ Cell [8] Line 2 ]]\x1b[0m /x/apk-1/gonb_0a1b2c3d/main.go:10 +0x65"
	for _, test := range []struct {
		name     string
		messages []Message
		want     []string
	}{
		{"the last printed line is the error", []Message{stderr("loading\nphotos.csv, row 7: no such file\n"),
			stderr("exit status 1\n"), gonbError("exit status 1")},
			[]string{"stderr:loading\n", "error:Error|photos.csv, row 7: no such file|photos.csv, row 7: " +
				"no such file"}},
		{"killed", []Message{stderr("signal: killed\n"), gonbError("signal: killed")},
			[]string{"error:Error|the cell's program ended with signal: killed|the cell's program ended with " +
				"signal: killed"}},
		{"nothing printed", []Message{stderr("exit status 1\n"), gonbError("exit status 1")},
			[]string{"error:Error|the cell's program ended with status 1|the cell's program ended with status 1"}},
		{"an exit status that a cell prints stays", []Message{stderr("exit status 1\n"), stdout("on\n")},
			[]string{"stderr:exit status 1\n", "stdout:on\n"}},
		{"order of the streams", []Message{stderr("a\n"), stdout("b\n"), stderr("c"), stderr("d\n")},
			[]string{"stderr:a\n", "stdout:b\n", "stderr:cd\n"}},
		{"a compiler's report", []Message{gonbError("# gonb_0a1b2c3d\n./main.go:11:13: undefined: x\n",
			"# gonb_0a1b2c3d",
			"Cell[8]: Line 2\n\nfunc main() {\nfmt.Println(x)\n            ^\n\n\x1b[31mundefined: x\x1b[0m", "")},
			[]string{"error:compile error|cell [12], line 2: undefined: x|cell [12], line 2: undefined: x\n    " +
				"fmt.Println(x)"}},
		{"a panic keeps its message and the cell's lines", []Message{stderr("note\npanic: boo\n\ngorou"),
			stderr("tine 1 [running]:\nmain.f()\n\t" + place + "\nmain.main()\n\t/x/y.go:3 +0x1\n"),
			stderr("exit status 2\n"), gonbError("exit status 2")},
			[]string{"stderr:note\n", "error:panic|boo|panic: boo⏎    cell [12], line 2"}},
		{"places", []Message{stderr("\t" + place + "\nat /x/apk-1/gonb_0a1b2c3d/main.go:9\n"),
			stdout("/x/apk-1/gonb_0a1b2c3d/main.go\n")},
			[]string{"stderr:\tcell [12], line 2\n", "stderr:at main.go:9\n", "stdout:main.go\n"}},
		{"marked displays", []Message{testMessage("display_data",
			fields{"data": fields{"text/plain": "2"}, "metadata": fields{resultMark: true}}),
			testMessage("display_data", fields{"data": fields{}, "metadata": fields{clearMark: true}})},
			[]string{`execute_result:{"data":{"text/plain":"2"},"metadata":{},"transient":{},"execution_count":12}`,
				`clear_output:{"wait":false}`}},
	} {
		got, _ := tidied(test.messages, false)
		must.True(t, slices.Equal(got, test.want), "%s: got\n%q, want\n%q", test.name, got, test.want)
	}
	if got, e := tidied([]Message{stderr("interrupted\n"), stderr("^C\nexit status 130\n"),
		gonbError("exit status 130")}, true); e.Name != "Interrupted" || len(got) != 1 {
		t.Errorf("an interrupt is reported as %q", got)
	}
}

// A note is shown by the first cell that has it, and again if that cell is executed again, even after a change.
func TestTidyNotes(t *testing.T) {
	k := &Kernel{notes: map[string]string{}, seen: map[string]bool{}}
	for i, test := range []struct {
		cell, note string
		want       bool
	}{
		{"a", "x", true}, {"b", "x", false}, {"b", "y", true}, {"a", "x", true}, {"a", "y", false}, {"b", "y", true},
	} {
		var got []string
		tidy := &tidier{out: func(m Message) { got = append(got, described(m)) },
			notes: func(text string, again bool) bool { return k.shows(test.cell, text, again) }}
		tidy.take(testMessage("display_data", fields{"data": fields{"text/plain": test.note},
			"metadata": fields{noteMark: true}}))
		want := []string{`display_data:{"data":{"text/plain":"` + test.note + `"},"metadata":{},"transient":{}}`}
		if !test.want {
			want = nil
		}
		must.True(t, slices.Equal(got, want), "execution %d of cell %s: %q, want %q", i+1, test.cell, got, want)
	}
}

func tidied(messages []Message, interrupted bool) (got []string, e ErrorContent) {
	tidy := &tidier{
		out:     func(m Message) { got = append(got, described(m)) },
		number:  func(n int) int { return n + 4 },
		locate:  func(string, int) (int, int) { return 0, 0 },
		hint:    func(string, string) string { return "" },
		source:  "%%\nfmt.Println(x)",
		current: 12,
	}
	status := "ok"
	for _, m := range messages {
		tidy.take(m)
		if m.Header.Type == "error" {
			status = "error"
		}
	}
	return got, tidy.finish(ReplyContent{Status: status}, interrupted)
}

// A warning appears while the cell goes on.
func TestTidyReleases(t *testing.T) {
	shown := make(chan string, 1)
	tidy := &tidier{out: func(m Message) { shown <- described(m) }, number: func(n int) int { return n },
		locate: func(string, int) (int, int) { return 0, 0 }}
	tidy.take(stderr("warning\n"))
	select {
	case got := <-shown:
		if got != "stderr:warning\n" {
			t.Errorf("got %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the warning is held back")
	}
	tidy.take(stderr("the error"))
	sent := 0
	tidy.out = func(Message) { sent++ }
	tidy.finish(ReplyContent{Status: "error"}, false)
	at := sent
	tidy.release() // by a timer that was running already
	must.Equal(t, sent, at, "outputs after the end of a cell")
}

// A position that GoNB reads in two pieces is found by its line in the program that GoNB generated.
func TestTidyLocates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gonb_0a1b2c3d", "main.go")
	program := "package main\n\nfunc f(i int) int {\n\treturn []int{1}[i]\n}\n\nfunc main() {\n\tf(1 + 1)\n}\n"
	must.Write(t, file, program)
	k := &Kernel{counted: []Cell{
		{Number: 3, Source: "func g() {\n}\nfunc f(i int) int {\n  return []int{1}[i]\n}"},
		{Number: 5, Source: "%%\nreturn []int{1}[i]\nf(1+1)"},
	}}
	for _, test := range []struct{ line, cell, cellLine int }{{4, 3, 4}, {8, 5, 3}, {1, 0, 0}, {2, 0, 0}, {99, 0, 0}} {
		cell, line := k.locate(file, test.line)
		must.True(t, cell == test.cell && line == test.cellLine,
			"line %d is located in cell %d, line %d, want %d, %d", test.line, cell, line, test.cell, test.cellLine)
	}
	tidy := &tidier{locate: k.locate}
	for _, piece := range []struct{ from, to string }{
		{"\t" + file + ":8 +0x65\n", "\tcell [5], line 3\n"}, {"at " + file + ":77\n", "at main.go:77\n"},
	} {
		must.Equal(t, tidy.places(piece.from), piece.to, piece.from, "becomes")
	}
}

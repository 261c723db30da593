// Package chromium drives a headless Chromium in tests that are kept behind the tag chromium.
package chromium

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Browser is a headless Chromium that the test controls over a pipe (--remote-debugging-pipe): messages of the
// DevTools protocol, each with a zero byte at its end.
type Browser struct {
	T        *testing.T
	in       *os.File
	out      *bufio.Reader
	id       int
	session  string
	Requests []string // addresses that pages requested, and dialogs that they opened
}

// New starts a browser with a profile of its own, which downloads into a folder.
func New(t *testing.T) *Browser {
	t.Helper()
	at := slices.IndexFunc([]string{"chromium", "chromium-browser", "google-chrome"}, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	})
	if at < 0 {
		t.Fatal("the tag chromium needs a browser, and none of chromium, chromium-browser, google-chrome is in PATH")
	}
	fromTest, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, toTest, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command([]string{"chromium", "chromium-browser", "google-chrome"}[at], "--headless", "--no-sandbox",
		"--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--user-data-dir="+t.TempDir(),
		"--window-size=1280,800", "about:blank")
	cmd.ExtraFiles = []*os.File{fromTest, toTest} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fromTest.Close()
	toTest.Close()
	b := &Browser{T: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		b.Call("Browser.close", nil, nil)
		in.Close()
		cmd.Wait()
		out.Close()
	})
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	b.Call("Network.enable", nil, nil)
	b.Call("Page.enable", nil, nil)
	return b
}

// Call sends a command and reads its result.
func (b *Browser) Call(method string, params map[string]any, result any) {
	b.T.Helper()
	b.id++
	message := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if b.session != "" && !strings.HasPrefix(method, "Browser.") {
		message["sessionId"] = b.session
	}
	data, err := json.Marshal(message)
	if err == nil {
		_, err = b.in.Write(append(data, 0))
	}
	if err != nil {
		b.T.Fatal(err)
	}
	for {
		line, err := b.out.ReadBytes(0)
		if err != nil {
			b.T.Fatalf("%s: the browser ended: %v", method, err)
		}
		var got struct {
			ID     int
			Method string
			Params struct{ Request struct{ URL string } }
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line[:len(line)-1], &got); err != nil {
			b.T.Fatal(err)
		}
		switch {
		case got.Method == "Network.requestWillBeSent":
			b.Requests = append(b.Requests, got.Params.Request.URL)
		case got.Method == "Page.javascriptDialogOpening":
			b.Requests = append(b.Requests, "dialog")
		}
		if got.ID != b.id {
			continue
		}
		if got.Error != nil {
			b.T.Fatalf("%s: %s", method, got.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(got.Result, result); err != nil {
				b.T.Fatal(err)
			}
		}
		return
	}
}

// Eval evaluates an expression in the page.
func (b *Browser) Eval(expression string, into any) {
	b.T.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	if got.ExceptionDetails != nil {
		b.T.Fatalf("%s: %s", expression, got.ExceptionDetails.Text)
	}
	if err := json.Unmarshal(got.Result.Value, into); err != nil {
		b.T.Fatalf("%s: %v", expression, err)
	}
}

// Open opens an address and waits until the page's script has run; the same address again is a reload.
func (b *Browser) Open(address string) {
	b.T.Helper()
	b.Eval("document.documentElement.dataset.left = 1", new(any))
	b.Call("Page.navigate", map[string]any{"url": address}, nil)
	b.Wait("document.readyState === 'complete' && !document.documentElement.dataset.left && " +
		"location.href !== 'about:blank'")
}

// Wait waits until a condition is true in the page.
func (b *Browser) Wait(condition string) {
	b.T.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		ready := false
		if b.Eval(condition, &ready); ready {
			return
		}
		if time.Now().After(deadline) {
			b.T.Fatalf("never true: %s", condition)
		}
	}
}

// Press presses keys: characters, or the names of keys in the form of KeyboardEvent.key.
func (b *Browser) Press(keys ...string) {
	b.T.Helper()
	for _, key := range keys {
		code := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39,
			"ArrowDown": 40}[key]
		down := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": code}
		if len(key) == 1 {
			down["text"] = key
		} else if key == "Enter" {
			down["text"] = "\r"
		}
		b.Call("Input.dispatchKeyEvent", down, nil)
		b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code},
			nil)
	}
}

// Click clicks the element of a selector.
func (b *Browser) Click(selector string) {
	b.T.Helper()
	var at struct{ X, Y, Width, Height float64 }
	b.Eval(fmt.Sprintf("document.querySelector(%q).getBoundingClientRect().toJSON()", selector), &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X + at.Width/2, "y": at.Y + at.Height/2,
			"button": "left", "buttons": 1, "clickCount": 1}, nil)
	}
}

// Serious runs axe-core (npm pack axe-core) on the page, where ANTIPODE_AXE names its file, and returns the findings of
// serious or critical impact; "" without the file.
func (b *Browser) Serious() (found string) {
	b.T.Helper()
	path := os.Getenv("ANTIPODE_AXE")
	if path == "" {
		return ""
	}
	script, err := os.ReadFile(path)
	if err != nil {
		b.T.Fatal(err)
	}
	b.Eval(string(script)+"; 0", new(any))
	b.Eval(`window.found = null; axe.run().then(r => { window.found = r.violations.filter(v => `+
		`v.impact === 'serious' || v.impact === 'critical').map(v => v.id + ': ' + v.nodes.map(n => n.target + ' ' + n.failureSummary).`+
		`join('; ')).join('\n'); }); 0`, new(any))
	b.Wait("window.found !== null")
	b.Eval("window.found", &found)
	return found
}

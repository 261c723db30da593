//go:build chromium

package notebook

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"antipode/internal/must"
)

// dom opens a page in a headless browser and returns the document after its scripts have run.
func dom(t *testing.T, page []byte) string {
	t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Fatal("the tag chromium needs a browser, and none of chromium, chromium-browser, google-chrome is in PATH")
	}
	path := filepath.Join(t.TempDir(), "page.html")
	must.Do(t, os.WriteFile(path, page, 0o644))
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
		"--dump-dom", "file://"+path)
	out := must.Get(cmd.Output())(t)
	return string(out)
}

var ran = regexp.MustCompile(`<html[^>]*data-ran`)

// In a real browser nothing of a hostile notebook runs. The same images in a bare page do run: the test can tell.
func TestChromiumRunsNothing(t *testing.T) {
	nb := hostile()
	mark := strings.NewReplacer("alert(", "document.documentElement.setAttribute('data-ran',")
	bare := "<!DOCTYPE html><html><body>"
	for _, c := range nb.Cells {
		c.Source = mark.Replace(c.Source)
		for _, o := range c.Outputs {
			o.Text = mark.Replace(o.Text)
			for mime, value := range o.Data {
				if s, ok := value.(string); ok {
					o.Data[mime] = mark.Replace(s)
					if strings.Contains(s, "onerror") { // and not what leads to another page
						bare += mark.Replace(s)
					}
				}
			}
		}
	}
	if got := dom(t, HTML(nb, Page{})); ran.MatchString(got) {
		t.Errorf("something ran:\n%.2000s", got)
	}
	if got := dom(t, []byte(bare)); !ran.MatchString(got) {
		t.Error("nothing ran in the bare page either: the test tells nothing")
	}
}

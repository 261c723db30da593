//go:build scale

package scale

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/internal/fault"
	"antipode/internal/must"
)

// waits is how long the program of TestGrowth takes for an image, without the processor.
const waits = 100 * time.Millisecond

// TestGrowth measures what tasks cost besides the work: a program that waits makes the images, on one machine and in 1,
// 2 and 4 tasks at the same time.
func TestGrowth(t *testing.T) {
	p := build(t)
	source := must.Get(os.ReadFile("../../docs/examples/echo_adapter/main.go"))(t)
	slow := strings.NewReplacer("\t\"os\"\n", "\t\"os\"\n\t\"time\"\n", "\tif task == \"generate\" {\n",
		fmt.Sprintf("\tif task == \"generate\" {\n\t\ttime.Sleep(%d)\n", waits)).Replace(string(source))
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(slow), 0o600))
	build := exec.Command("go", "build", "-o", p.echo, "main.go")
	build.Dir = dir
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const n = 240
	d := p.desk(t, "ANTIPODE_PLUGIN=none")
	d.prompts(t, n)
	command := []string{"generate", "--model", "exec:" + p.echo, "--prompts", "prompts.csv", "--size", "16x16", "--out",
		"g.parquet"}
	start := time.Now()
	d.run(t, command...)
	one := time.Since(start)
	t.Logf("%d images of %v: one machine %.1f s", n, waits, one.Seconds())
	took := map[int]time.Duration{}
	for _, shards := range []int{1, 2, 4} {
		job := fmt.Sprintf("job%d.json", shards)
		d.run(t, append([]string{"job", "make", "--shards", fmt.Sprint(shards), "--out", job, "--"}, command...)...)
		start := time.Now()
		var group fault.Group
		printed := make([]string, shards)
		for i := range shards {
			group.Go(func() {
				out, err := d.command("work", job, "--shard", fmt.Sprintf("%d/%d", i, shards), "--allow-exec",
					p.echo).Output()
				printed[i] = fmt.Sprint(string(out), err)
			})
		}
		group.Wait()
		took[shards] = time.Since(start)
		total := 0
		for _, out := range printed {
			computed, _ := counts(t, out)
			total += computed
		}
		must.True(t, total == n, "%d tasks compute %d items, want %d: %q", shards, total, n, printed)
		t.Logf("%d tasks: %.1f s, %.2f of one machine's time, %.2f of the ideal time", shards, took[shards].Seconds(),
			took[shards].Seconds()/one.Seconds(), took[shards].Seconds()*float64(shards)/(n*waits.Seconds()))
	}
	if took[2] > took[1]*3/4 {
		t.Errorf("2 tasks take %v, 1 task %v", took[2], took[1])
	}
}

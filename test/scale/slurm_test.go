//go:build scale

package scale

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/kernel/cluster/jobs"
	"antipode/test/testbackend"
)

// configuration is that of a Slurm of one node which needs no services of the system; %[1]s is the host, %[2]s a
// folder.
const configuration = `ClusterName=lab
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=%[2]s/ctld
SlurmdSpoolDir=%[2]s/d
SlurmctldPidFile=%[2]s/ctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
GresTypes=gpu
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 Gres=gpu:4
PartitionName=main Nodes=%[1]s Default=YES MaxTime=INFINITE
`

// cluster is a running Slurm.
type cluster struct {
	t    *testing.T
	conf string
}

func startSlurm(t *testing.T) *cluster {
	t.Helper()
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "scontrol", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			testbackend.Missing(t, "slurm", name+" is missing (Debian: slurmctld slurmd slurm-client)")
		}
	}
	if os.Getuid() != 0 {
		testbackend.Missing(t, "slurm", "a Slurm without services of the system needs root")
	}
	dir := t.TempDir()
	host := must.Get(os.Hostname())(t)
	c := &cluster{t, filepath.Join(dir, "slurm.conf")}
	text := fmt.Sprintf(configuration, host, dir)
	// Files stand for devices: the jobs request GPUs, and Slurm only counts them.
	var gres strings.Builder
	for i := range 4 {
		name := filepath.Join(dir, fmt.Sprintf("gpu%d", i))
		must.Do(t, os.WriteFile(name, nil, 0o600))
		fmt.Fprintf(&gres, "Name=gpu File=%s\n", name)
	}
	for name, content := range map[string]string{"slurm.conf": text, "gres.conf": gres.String()} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	for _, sub := range []string{"ctld", "d"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	for _, args := range [][]string{{"slurmctld", "-D"}, {"slurmd", "-D", "-N", host}} {
		daemon := exec.Command(args[0], args[1:]...)
		daemon.Env = append(os.Environ(), "SLURM_CONF="+c.conf)
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		log := must.Get(os.Create(filepath.Join(dir, args[0]+".log")))(t)
		daemon.Stdout, daemon.Stderr = log, log
		must.Do(t, daemon.Start())
		t.Cleanup(func() {
			_ = daemon.Process.Kill()
			_ = daemon.Wait()
			if t.Failed() {
				text, _ := os.ReadFile(log.Name())
				t.Logf("%s: %s", args[0], text[max(0, len(text)-3000):])
			}
		})
	}
	c.until("the node is idle", time.Minute, func() bool {
		out, err := c.try("sinfo", "-h", "-o", "%T")
		return err == nil && strings.TrimSpace(out) == "idle"
	})
	return c
}

func (c *cluster) try(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *cluster) must(name string, args ...string) string {
	c.t.Helper()
	out, err := c.try(name, args...)
	if err != nil {
		c.t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func (c *cluster) until(what string, limit time.Duration, f func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(limit); !f(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			queue, _ := c.try("scontrol", "show", "job")
			c.t.Fatalf("not within %v: %s\n%s", limit, what, queue)
		}
	}
}

// TestSlurm runs the sbatch file of job make as an array of 4 tasks. One task is canceled, and submitted again; another
// gets the signal that comes before a time limit, and requeues itself.
func TestSlurm(t *testing.T) {
	c := startSlurm(t)
	d := build(t).desk(t, "ANTIPODE_PLUGIN=none")
	const n = 800
	d.prompts(t, n)
	command := []string{"generate", "--model", "exec:" + d.echo, "--prompts", "prompts.csv", "--size", "256x256",
		"--batch", "4", "--out", "g.parquet"}
	start := time.Now()
	d.run(t, command...)
	one := time.Since(start)
	want := d.tables(t)
	t.Log(d.run(t, append([]string{"job", "make", "--shards", "4", "--for", "slurm", "--"}, command...)...))
	job := must.Get(jobs.Read(filepath.Join(d.dir, "job.json")))(t)
	status := func(shard int) *jobs.Status {
		s := must.Get(jobs.ReadStatus(jobs.Folder(job.Store), job.ID, shard))(t)
		return cmp.Or(s, &jobs.Status{})
	}
	submit := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("sbatch", append(append([]string{"--parsable"}, args...), "job.sbatch")...)
		cmd.Dir = d.dir
		cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf, "ANTIPODE_HOME="+d.home, "ANTIPODE_PLUGIN=none",
			"PATH="+filepath.Dir(d.antipode)+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("sbatch: %v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	start = time.Now()
	array := submit()
	t.Logf("sbatch job.sbatch: %s", array)
	// Two tasks run at the same time: 0 and 1, then 2 and 3.
	c.until("shard 1 has begun", 3*time.Minute, func() bool { return status(1).State == jobs.Running })
	c.must("scancel", array+"_1")
	c.until("shard 1 has drained", 3*time.Minute, func() bool { return status(1).State == jobs.Stopped })
	c.until("task 1 is canceled", time.Minute, func() bool {
		return strings.Contains(c.must("scontrol", "show", "job", array+"_1"), "JobState=CANCELLED")
	})
	c.until("shard 2 has begun", 3*time.Minute, func() bool { return status(2).State == jobs.Running })
	time.Sleep(one / 8) // about half of a shard: some batches are done
	c.must("scancel", "--batch", "--signal=USR1", array+"_2")
	c.until("shard 2 has drained", 3*time.Minute, func() bool { return status(2).State == jobs.Stopped })
	c.until("task 2 is queued again", time.Minute, func() bool {
		return strings.Contains(c.must("scontrol", "show", "job", array+"_2"), "JobState=PENDING")
	})
	c.must("scontrol", "update", "jobid="+array+"_2", "StartTime=now") // it would wait for two minutes
	c.until("shards 0, 2 and 3 are done", 5*time.Minute, func() bool {
		return status(0).State == jobs.Done && status(2).State == jobs.Done && status(3).State == jobs.Done
	})
	if status(2).Attempt != 2 || status(2).Found == 0 {
		t.Errorf("the requeued task: %+v, want a second attempt that finds items", status(2))
	}
	out, _ := d.command("job", "status", "job.json").Output()
	t.Logf("job status:\n%s", out)
	again := strings.TrimSpace(d.run(t, "job", "resubmit", "job.json"))
	if again != "--array=1" {
		t.Fatalf("job resubmit printed %q", again)
	}
	submit(again)
	c.until("shard 1 is done", 5*time.Minute, func() bool { return status(1).State == jobs.Done })
	took := time.Since(start)
	var report jobs.Report
	must.Do(t, json.Unmarshal([]byte(d.run(t, "job", "status", "--json", "job.json")), &report))
	t.Logf("job status: %v; one machine %.1f s, the array with its two ends %.1f s", report.States, one.Seconds(),
		took.Seconds())
	_ = d.command("backend", "stop").Run()
	d.home = job.Store
	computed, found := counts(t, d.run(t, command...))
	must.True(t, computed == 0 && found == n, "%d items computed, %d found; want 0 and %d", computed, found, n)
	equal(t, "Slurm", d.tables(t), want)
}

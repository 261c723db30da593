//go:build scale

package scale

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/test/testbackend"
)

// dependencies names Flink, the job server of Beam for it, and a logger.
const dependencies = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>flink</artifactId><version>1</version><dependencies>
<dependency><groupId>org.apache.beam</groupId><artifactId>beam-runners-flink-1.19</artifactId>
<version>2.62.0</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.30</version></dependency>
</dependencies></project>
`

// flinkConf configures a cluster on this machine whose task managers have one slot each. A job goes on after the death
// of workers: without a restart strategy Flink fails it. %[1]d and %[2]d are ports.
const flinkConf = `jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: %[1]d
jobmanager.bind-host: 127.0.0.1
jobmanager.memory.process.size: 1200m
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: %[2]d
rest.bind-port: %[2]d
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.numberOfTaskSlots: 1
taskmanager.cpu.cores: 1
taskmanager.memory.task.heap.size: 256m
taskmanager.memory.task.off-heap.size: 64m
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.managed.size: 64m
taskmanager.memory.network.min: 64m
taskmanager.memory.network.max: 64m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 64m
taskmanager.memory.jvm-overhead.max: 64m
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 10
restart-strategy.fixed-delay.delay: 1 s
`

// startFlink starts Flink with two task managers and Beam's job server, from their published artifacts, and returns the
// address of the job server. The workers have the environment env.
func startFlink(t *testing.T, env []string) (endpoint string) {
	t.Helper()
	for _, name := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(name); err != nil {
			testbackend.Missing(t, "flink", name+" is missing (Debian: openjdk-17-jre-headless, maven)")
		}
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(dependencies), 0o600))
	jars := filepath.Join(dir, "jars")
	get := exec.Command("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory="+jars)
	get.Dir = dir
	if out, err := get.CombinedOutput(); err != nil {
		testbackend.Missing(t, "flink", fmt.Sprintf("Maven cannot get Flink: %v: %s", err, out))
	}
	port := ports(t, 5)
	conf := filepath.Join(dir, "conf")
	must.Do(t, os.Mkdir(conf, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(conf, "flink-conf.yaml"), fmt.Appendf(nil, flinkConf, port[0], port[1]),
		0o600))
	start := func(class string, args ...string) {
		var words []string
		for _, pkg := range []string{"util", "lang", "nio", "util.concurrent"} {
			words = append(words, "--add-opens", "java.base/java."+pkg+"=ALL-UNNAMED")
		}
		words = append(words, "-cp", filepath.Join(jars, "*"), class)
		java := exec.Command("java", append(words, args...)...)
		java.Env = env
		log := must.Get(os.Create(filepath.Join(dir, class+".log")))(t)
		java.Stdout, java.Stderr = log, log
		must.Do(t, java.Start())
		t.Cleanup(func() {
			_ = java.Process.Kill()
			_ = java.Wait()
			log.Close()
			if t.Failed() {
				text, _ := os.ReadFile(log.Name())
				t.Logf("%s: …%s", class, text[max(0, len(text)-3000):])
			}
		})
	}
	start("org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", "--configDir", conf)
	start("org.apache.flink.runtime.taskexecutor.TaskManagerRunner", "--configDir", conf)
	start("org.apache.flink.runtime.taskexecutor.TaskManagerRunner", "--configDir", conf)
	start("org.apache.beam.runners.flink.FlinkJobServerDriver", fmt.Sprintf("--flink-master=127.0.0.1:%d", port[1]),
		"--job-host=127.0.0.1", fmt.Sprintf("--job-port=%d", port[2]), fmt.Sprintf("--artifact-port=%d", port[3]),
		fmt.Sprintf("--expansion-port=%d", port[4]), "--artifacts-dir="+filepath.Join(dir, "artifacts"),
		"--flink-conf-dir="+conf)
	endpoint = fmt.Sprintf("127.0.0.1:%d", port[2])
	for deadline := time.Now().Add(3 * time.Minute); !flinkReady(port[1], endpoint); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatal("Flink does not start")
		}
	}
	return endpoint
}

// flinkReady reports whether both task managers are registered and the job server listens.
func flinkReady(rest int, endpoint string) bool {
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/overview", rest))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	text := make([]byte, 4096)
	n, _ := resp.Body.Read(text)
	conn, err := net.DialTimeout("tcp", endpoint, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return strings.Contains(string(text[:n]), `"slots-total":2`)
}

// ports returns free ports.
func ports(t *testing.T, n int) (list []int) {
	t.Helper()
	for range n {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer l.Close()
		list = append(list, l.Addr().(*net.TCPAddr).Port)
	}
	return list
}

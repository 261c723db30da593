package runner

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/plots/paint"
)

// TestMain lets the test's own program be a backend that only paints figures.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "backend" {
		fmt.Fprintln(os.Stderr, serve())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func serve() error {
	time.AfterFunc(time.Minute, func() { os.Exit(0) })
	home, err := client.Home()
	if err != nil {
		return err
	}
	path, err := client.SocketPath(home)
	if err != nil {
		return err
	}
	_ = os.Remove(path) // of one that ended
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	http.HandleFunc("GET /v1/hello", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(client.Hello{Protocol: client.Protocol, PID: os.Getpid(),
			Build: client.BuildOf(os.Getenv(client.BinaryVar))})
	})
	http.HandleFunc("POST /v1/paint", paint.Serve)
	http.HandleFunc("POST /v1/stop", func(http.ResponseWriter, *http.Request) { // by a later test program
		time.AfterFunc(50*time.Millisecond, func() { os.Exit(0) })
	})
	return http.Serve(l, nil)
}

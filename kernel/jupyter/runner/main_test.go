package runner

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/kernel/backend"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// TestMain lets the test's own program be the backend that paints the figures of cells.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "backend" {
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve() error {
	home, err := client.Home()
	if err != nil {
		return err
	}
	l, listenErr := backend.Listen(home)
	s, err := store.Open(home)
	if err = cmp.Or(listenErr, err); err != nil {
		return err
	}
	build := client.BuildOf(os.Getenv(client.BinaryVar))
	return backend.New(engine.New(s, engine.Options{Build: build}), build, 5*time.Second).Serve(context.Background(), l)
}

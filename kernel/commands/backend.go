package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"antipode/datasets/table"
	"antipode/gomlxmodels/all"
	"antipode/kernel/backend"
	"antipode/kernel/client"
)

func backendCommand(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usage("antipode backend status|stop|log")
	}
	what, args := args[0], args[1:]
	home, err := client.Home()
	if err != nil {
		return err
	}
	b, err := client.ConnectTo(home)
	if err != nil {
		return err
	}
	switch what {
	case "serve":
		return serve(ctx, home)
	case "status":
		return status(ctx, b, "backend status", args)
	case "stop":
		b.Say = func(line string) { fmt.Println(line) }
		err := b.Stop(ctx, false)
		if errors.Is(err, client.ErrNoBackend) {
			fmt.Println("no backend is running")
			return nil
		}
		return err
	case "log":
		f, err := os.Open(client.LogPath(home))
		if err != nil {
			return fmt.Errorf("no log: no backend has run for %s", home)
		}
		defer f.Close()
		_, err = io.Copy(os.Stdout, f)
		return err
	}
	return usage("antipode backend status|stop|log%s",
		hint("", table.Nearest(what, []string{"status", "stop", "log"})))
}

// ps prints the backend's jobs and models.
func ps(ctx context.Context, args []string) error {
	b, err := client.Connect()
	if err != nil {
		return err
	}
	return status(ctx, b, "ps", args)
}

// serve runs the backend of the store until it is idle; clients start it.
func serve(ctx context.Context, home string) error {
	_, binary, err := setUp()
	if err != nil {
		return err
	}
	l, err := backend.Listen(home)
	if err != nil {
		return err
	}
	e, err := all.NewEngine(home, client.BuildOf(binary))
	if err != nil {
		return err
	}
	return backend.New(e, client.BuildOf(binary), 0).Serve(ctx, l)
}

// status prints the state of the backend. name is the command for messages.
func status(ctx context.Context, b *client.Backend, name string, args []string) error {
	fs := flags(name, "[--json]")
	asJSON := fs.Bool("json", false, "print JSON")
	if err := noArguments(fs, args); err != nil {
		return err
	}
	s, err := b.Status(ctx)
	if errors.Is(err, client.ErrNoBackend) {
		if *asJSON {
			fmt.Println(`{"running":false}`)
		} else {
			fmt.Println("no backend is running; the first command or cell that needs one starts it")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if *asJSON {
		data, err := json.MarshalIndent(struct {
			Running bool `json:"running"`
			*client.Status
		}{true, s}, "", " ")
		if err != nil {
			return err
		}
		fmt.Println(string(data))
		return nil
	}
	device := s.Device
	if device == "" {
		device = "not opened yet"
	}
	fmt.Printf("pid     %d, build %s, up %s\nstore   %s\ndevice  %s\nmemory  %.0f MiB resident; models %.0f of %.0f "+
		"MiB\nitems   %d computed, %d found in the store\n",
		s.PID, s.Build, time.Duration(s.Uptime*float64(time.Second)).Round(time.Second), s.Home, device,
		float64(s.Memory.Resident)/(1<<20), float64(s.Memory.Models)/(1<<20), float64(s.Memory.Budget)/(1<<20),
		s.Computed, s.Found)
	for _, m := range s.Models {
		fmt.Printf("model   %s, %.0f MiB, %d users\n", m.Name, float64(m.Bytes)/(1<<20), m.Users)
	}
	for _, j := range s.Jobs {
		left := ""
		if d := j.Progress.Left(); d > 0 {
			left = fmt.Sprintf(", about %s left", d.Round(time.Second))
		}
		fmt.Printf("job     %s: %s, %d of %d%s\n", j.ID, j.Progress.Stage, j.Progress.Done, j.Progress.Total, left)
	}
	if len(s.Jobs) == 0 {
		fmt.Println("jobs    none")
	}
	return nil
}

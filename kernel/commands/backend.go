package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/internal/plaintext"
	"antipode/kernel/backend"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
)

func backendCommand(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usage("antipode backend start|status|stop|log")
	}
	what, args := args[0], args[1:]
	if what == "child" { // of a backend with several devices
		return engine.ServeChild()
	}
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
	case "start":
		return start(ctx, b, args)
	case "status":
		return status(ctx, b, "backend status", args)
	case "stop":
		if err := noArguments(flags("backend stop", "\n  Stops the backend; running jobs end."), args); err != nil {
			return err
		}
		b.Say = func(line string) { fmt.Println(line) }
		err := b.Stop(ctx, false)
		if errors.Is(err, client.ErrNoBackend) {
			fmt.Println("no backend is running")
			return nil
		}
		return err
	case "log":
		if err := noArguments(flags("backend log", "\n  Prints the log."), args); err != nil {
			return err
		}
		f, err := os.Open(client.LogPath(home))
		if err != nil {
			return fmt.Errorf("no log: no backend has run for %s", home)
		}
		defer f.Close()
		_, err = io.Copy(os.Stdout, f)
		return err
	}
	return usage("antipode backend start|status|stop|log%s",
		hint("", table.Nearest(what, []string{"start", "status", "stop", "log"})))
}

const devicesUsage = "the `LIST` of devices: auto (every visible GPU), numbers of GPUs such as 0,2, UUIDs, or cpu:2; " +
	"the same as " + device.ListEnv

// chooseDevices sets the devices that the flag --devices names, "" = those of the environment.
func chooseDevices(list string) error {
	if list == "" {
		return nil
	}
	if _, err := device.Select(list); err != nil {
		return usage("%w", err)
	}
	return os.Setenv(device.ListEnv, list)
}

// start starts the backend. The first command or cell that needs one does so, too.
func start(ctx context.Context, b *client.Backend, args []string) error {
	fs := flags("backend start", "[--devices LIST]")
	list := fs.String("devices", "", devicesUsage)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if err := chooseDevices(*list); err != nil {
		return err
	}
	if h, err := b.Hello(ctx); err == nil && *list != "" {
		return fmt.Errorf("a backend is running (process %d), with the devices that it was started with; run "+
			"`antipode backend stop` first", h.PID)
	}
	if _, _, err := prepare(ctx); err != nil {
		return err
	}
	if err := b.Ensure(ctx); err != nil {
		return err
	}
	h, err := b.Hello(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("the backend is running (process %d)\n", h.PID)
	return nil
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
	e, err := all.NewBackend(home, client.BuildOf(binary))
	if err != nil {
		return err
	}
	defer sweep(10 * time.Minute)
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
		return printJSON(struct {
			Running bool `json:"running"`
			*client.Status
		}{true, s})
	}
	kind := cmp.Or(s.Device, "not opened yet")
	if n := len(s.Devices); n > 0 {
		kind += fmt.Sprintf(", %d devices", n)
	}
	fmt.Printf("pid     %d, build %s, up %s\nstore   %s\ndevice  %s\nmemory  %.0f MiB resident; models %.0f of %.0f "+
		"MiB\nitems   %d computed, %d found in the store\n",
		s.PID, s.Build, time.Duration(s.Uptime*float64(time.Second)).Round(time.Second), s.Home, kind,
		float64(s.Memory.Resident)/(1<<20), float64(s.Memory.Models)/(1<<20), float64(s.Memory.Budget)/(1<<20),
		s.Computed, s.Found)
	for _, d := range s.Devices {
		fmt.Println(deviceLine(d))
		printModels(d.Models)
	}
	printModels(s.Models)
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

func printModels(models []client.ModelStatus) {
	for _, m := range models {
		fmt.Printf("model   %s, %.0f MiB, %d users\n", m.Name, float64(m.Bytes)/(1<<20), m.Users)
	}
}

// deviceLine returns the state of one of several devices.
func deviceLine(d client.DeviceStatus) string {
	line := "device  " + d.Name + ": " + d.State
	if d.PID > 0 {
		line += fmt.Sprintf(", process %d, %.0f MiB resident, models %.0f of %.0f MiB", d.PID,
			float64(d.Memory.Resident)/(1<<20), float64(d.Memory.Models)/(1<<20), float64(d.Memory.Budget)/(1<<20))
	}
	if line += fmt.Sprintf(", %d items", d.Computed); d.Rate > 0 {
		line += fmt.Sprintf(", lately %.3g a second", d.Rate)
	}
	if d.Reason != "" {
		line += "; last failure: " + plaintext.OneLine(d.Reason)
	}
	return line
}

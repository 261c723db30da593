package commands

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"antipode/gomlxmodels/device"
	"antipode/kernel/cluster/jobs"
)

// version prints the version of the program and of its parts.
func version(_ context.Context, args []string) error {
	if err := noArguments(flags("version", ""), args); err != nil {
		return err
	}
	build, err := jobs.Build()
	if err != nil {
		return err
	}
	info, _ := debug.ReadBuildInfo()
	xla := "not linked"
	if device.HasXLA() {
		xla = "linked"
	}
	fmt.Printf("antipode %s, build %s\n%s %s/%s, XLA %s\n", moduleVersion(info), build,
		runtime.Version(), runtime.GOOS, runtime.GOARCH, xla)
	return nil
}

// moduleVersion returns the version of the module and the commit, if Go recorded one.
func moduleVersion(info *debug.BuildInfo) string {
	if info == nil {
		return "(unknown version)"
	}
	v := cmp.Or(info.Main.Version, "(devel)")
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if commit := settings["vcs.revision"]; commit != "" {
		v += ", commit " + commit
		if at := settings["vcs.time"]; at != "" {
			v += " of " + at
		}
		if settings["vcs.modified"] == "true" {
			v += " with changes"
		}
	}
	return v
}

package commands

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"antipode/gomlxmodels/device"
)

// version prints what this program was built from.
func version(_ context.Context, args []string) error {
	if rest, err := parse(flags("version", ""), args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usage("version takes no argument %q", rest[0])
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	build, err := buildID(self)
	if err != nil {
		return err
	}
	info, _ := debug.ReadBuildInfo()
	fmt.Printf("antipode %s, build %s\n%s %s/%s, XLA %s\n", moduleVersion(info), build,
		runtime.Version(), runtime.GOOS, runtime.GOARCH, map[bool]string{true: "linked", false: "not linked"}[device.HasXLA])
	return nil
}

// moduleVersion is the version of the module, with the commit that it was built from where Go recorded one.
func moduleVersion(info *debug.BuildInfo) string {
	if info == nil {
		return "(unknown version)"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
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

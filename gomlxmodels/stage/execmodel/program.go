package execmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"antipode/gomlxmodels/device"
)

// Inspect returns the absolute path and the SHA-256 of a program, after the checks of [Open].
func Inspect(path string) (program, digest string, err error) {
	if !strings.ContainsRune(path, filepath.Separator) {
		return "", "", fmt.Errorf("exec:%s: a program is given by its path. Fix: exec:./%[1]s", path)
	}
	if program, err = filepath.Abs(path); err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return "", "", fmt.Errorf("exec:%s: %w", path, err)
	}
	digest, err = checkProgram(program)
	return program, digest, err
}

// checkProgram returns the SHA-256 of a program that others cannot write to.
func checkProgram(program string) (digest string, err error) {
	for _, path := range []string{program, filepath.Dir(program)} {
		info, err := os.Lstat(path)
		if err != nil {
			return "", fmt.Errorf("exec: %w", err)
		}
		switch mode := info.Mode(); {
		case path == program && !mode.IsRegular():
			return "", fmt.Errorf("exec: %s is no regular file", program)
		case path == program && mode&0o111 == 0:
			return "", fmt.Errorf("exec: %s is not executable. Fix: chmod +x", program)
		case mode&0o002 != 0:
			return "", fmt.Errorf("exec: everybody may write to %s. Fix: chmod o-w", path)
		}
	}
	f, err := os.Open(program)
	if err != nil {
		return "", fmt.Errorf("exec: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("exec: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// secretName is what names of variables with secrets end in.
var secretName = regexp.MustCompile(`(?i)_(API_?KEY|TOKEN|SECRET|PASSWORD|ACCESS_KEY|SECRET_KEY|CREDENTIALS)$`)

// environment returns the program's environment: the inherited one without secrets and without the project's own
// variables, with the variables that the user passes and the GPU assigned to the process.
func environment(inherited []string, passed map[string]string, gpu string) (env []string) {
	for _, entry := range inherited {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := passed[name]
		if !replaced && !secretName.MatchString(name) && !strings.HasPrefix(name, "ANTIPODE_") &&
			!strings.HasPrefix(name, "GONB_") {
			env = append(env, entry)
		}
	}
	for name, value := range passed {
		env = append(env, name+"="+value)
	}
	if gpu != "" {
		env = append(env, gpu)
	}
	return env
}

// hipEnv limits the AMD GPUs of a process.
const hipEnv = "HIP_VISIBLE_DEVICES"

// visibleGPUs returns the variable, with its value, that selects each visible GPU.
func visibleGPUs() (gpus []string) {
	name, list := device.CUDAEnv, device.VisibleGPUs
	_, cuda := os.LookupEnv(device.CUDAEnv)
	if amd, set := os.LookupEnv(hipEnv); set && !cuda {
		name, list = hipEnv, func() []string { return device.SplitGPUs(amd) }
	}
	for _, gpu := range list() {
		gpus = append(gpus, name+"="+gpu)
	}
	return gpus
}

// visible returns the variable that selects the GPU of a process, or "".
func (g *Group) visible(slot int) string {
	if len(g.gpus) == 0 {
		return ""
	}
	return g.gpus[slot]
}

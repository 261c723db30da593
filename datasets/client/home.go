package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Environment variables.
const (
	HomeVar   = "ANTIPODE_HOME"   // the store's folder
	BinaryVar = "ANTIPODE_BIN"    // the antipode command that cells start the backend with
	ModuleVar = "ANTIPODE_MODULE" // the folder of the module's source, if present
	TempVar   = "ANTIPODE_TMPDIR" // in a notebook: the user's TMPDIR; GoNB sets TMPDIR to its own folder
)

// TMPDIR must be the user's before the variables of a cell are initialized: they may run tables, and the backend's
// socket is in the user's folder.
func init() {
	if dir := os.Getenv(TempVar); dir != "" {
		os.Setenv("TMPDIR", dir)
	}
}

// Home returns the store's folder: $ANTIPODE_HOME, or antipode/ in the user's cache directory.
func Home() (string, error) {
	dir := os.Getenv(HomeVar)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for the store: %w; set %s to a folder", err, HomeVar)
		}
		dir = filepath.Join(cache, "antipode")
	}
	return filepath.Abs(dir)
}

// maxSocket is the length of socket paths that all supported systems accept.
const maxSocket = 100

// SocketPath returns the socket of a store's backend. It creates the socket's folder, which only the user can access.
func SocketPath(home string) (string, error) {
	sum := sha256.Sum256([]byte(home))
	name := hex.EncodeToString(sum[:6]) + ".sock"
	dirs := []string{filepath.Join(os.TempDir(), fmt.Sprintf("antipode-%d", os.Getuid()))}
	if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" {
		if info, err := os.Stat(run); err == nil && info.IsDir() {
			dirs = append([]string{filepath.Join(run, "antipode")}, dirs...)
		}
	}
	var reasons []string
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if len(path) >= maxSocket {
			reasons = append(reasons, fmt.Sprintf("%s is longer than %d bytes", path, maxSocket))
			continue
		}
		if err := privateDir(dir); err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		return path, nil
	}
	return "", fmt.Errorf("no folder for the backend's socket (%s); set XDG_RUNTIME_DIR or TMPDIR to a folder of "+
		"yours with a short path", strings.Join(reasons, "; "))
}

// privateDir creates a folder of mode 0700 and checks that it is not a link and is owned by the user.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if !OwnedByUser(info) {
		return fmt.Errorf("%s belongs to another user", dir)
	}
	if info.Mode().Perm() != 0o700 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// Binary returns the antipode command that starts the backend: $ANTIPODE_BIN, or the last one installed in the store.
func Binary(home string) (string, error) {
	programs, err := Programs(home)
	if err != nil {
		return "", err
	}
	if bin := os.Getenv(BinaryVar); bin != "" {
		return bin, nil
	}
	current := filepath.Join(programs, "current")
	if data, err := os.ReadFile(current); err == nil {
		bin := filepath.Join(programs, strings.TrimSpace(string(data)), "antipode")
		if _, err := os.Stat(bin); err == nil {
			return bin, nil
		}
	}
	return "", fmt.Errorf("the antipode command is not installed in %s; run `go run . doctor` in the project's "+
		"folder, or set %s", home, BinaryVar)
}

// BuildOf returns the build id in the path of an installed command ($ANTIPODE_HOME/bin/BUILD/antipode).
func BuildOf(binary string) string { return filepath.Base(filepath.Dir(binary)) }

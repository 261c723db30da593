package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// SharedVar, set to 1, permits a store that other users may write to. Programs are not run from such a store.
const SharedVar = "ANTIPODE_SHARED_STORE"

// SharedPrograms is the folder in the user's cache folder with the programs of shared stores.
const SharedPrograms = "antipode-programs"

// DigestVar is the SHA-256 that the program of [BinaryVar] must have, where the process that set it knows.
const DigestVar = "ANTIPODE_BIN_SHA256"

// Programs returns the folder of the programs that a store's processes run from: bin in the store. For a store that
// other users may write to it is an error, or with [SharedVar] a folder of the user's own.
func Programs(home string) (string, error) {
	bin := filepath.Join(home, "bin")
	why := othersMayWrite(home)
	if why == "" {
		why = othersMayWrite(bin)
	}
	if why == "" {
		return bin, nil
	}
	if os.Getenv(SharedVar) != "1" {
		return "", fmt.Errorf("%s, and what others put there would be run; name another folder in %s, or set %s=1 to "+
			"use it with programs in a folder of your own", why, HomeVar, SharedVar)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the programs of a shared store: %w", err)
	}
	own := filepath.Join(cache, SharedPrograms)
	if why := othersMayWrite(own); why != "" {
		return "", fmt.Errorf("%s: no folder for the programs of a shared store", why)
	}
	return own, nil
}

// othersMayWrite reports who may write to a folder besides the user; "" for nobody and for a missing folder.
func othersMayWrite(folder string) string {
	info, err := os.Stat(folder)
	switch {
	case err != nil: // created later, or reported where it is used
		return ""
	case !OwnedByUser(info):
		return folder + " belongs to another user"
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("%s can be written by other users (`chmod go-w %[1]s` changes that)", folder)
	}
	return ""
}

// verify returns an error if a program has another SHA-256 than [DigestVar] requires.
func verify(program string) error {
	want := os.Getenv(DigestVar)
	if want == "" {
		return nil
	}
	f, err := os.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return fmt.Errorf("%s was changed: its SHA-256 is %s, it must be %s; remove its folder and run the command "+
			"again", program, got, want)
	}
	return nil
}

// verifyRunning is verify for the program of the running backend, where the system tells which it is.
func (b *Backend) verifyRunning() error {
	if pid := serving(b.socket()); pid != 0 {
		return verify(fmt.Sprintf("/proc/%d/exe", pid))
	}
	return nil
}

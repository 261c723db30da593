package apimodel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"antipode/internal/atomicfile"
	"antipode/internal/fault"
)

// AtOnce is the number of requests at a time.
const AtOnce = 4

// Each calls f(0) … f(n-1), [AtOnce] of them at a time, and returns their errors.
func Each(n int, f func(i int) error) []error {
	errs := make([]error, n)
	slots := make(chan struct{}, AtOnce)
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = fault.Catch(func() error { return f(i) })
		})
	}
	wait.Wait()
	return errs
}

// once are locks of keys, by the first byte of their SHA-256.
var once [256]sync.Mutex

// Once returns the answer that a folder has under a key or, where there is none or it is not valid, the one that
// request returns, which is stored if it is to be kept: what is paid for is paid for once, even if the process ends
// before the row's batch is stored, or several rows need it at once. valid may be nil. See [Result.Final] for what
// is kept.
func Once[T any](dir, key string, valid func(T) bool, request func() (answer T, keep bool, err error)) (T, error) {
	sum := sha256.Sum256([]byte(key))
	lock := &once[sum[0]]
	lock.Lock()
	defer lock.Unlock()
	file := filepath.Join(dir, hex.EncodeToString(sum[:])+".json")
	var stored T
	if text, err := os.ReadFile(file); err == nil && json.Unmarshal(text, &stored) == nil &&
		(valid == nil || valid(stored)) {
		return stored, nil
	}
	answer, keep, err := request()
	if err != nil || !keep {
		return answer, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return answer, err
	}
	return answer, atomicfile.Write(file, text)
}

package manifest

var GitBlob = gitBlob

// Unregister removes a manifest that a test registered.
func Unregister(name string) {
	mu.Lock()
	defer mu.Unlock()
	delete(manifests, name)
}

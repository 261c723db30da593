package engine

import "antipode/datasets/client"

// traced adds a file that the run reads to its trace, if one is requested; digest may be "".
func (r *run) traced(path, digest string) {
	if !r.req.Trace {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if digest != "" || r.files[path] == "" {
		r.files[path] = digest
	}
}

// trace returns what the run has used.
func (r *run) trace() *client.Trace {
	t := &client.Trace{Results: map[string]string{}, Models: r.models, Files: r.files}
	for p, id := range r.results {
		t.Results[p.Digest()] = id
	}
	for path, digest := range t.Files {
		if digest == "" { // a file that is missing or unreadable by now has none
			t.Files[path], _ = r.e.Store.FileDigest(path)
		}
	}
	return t
}

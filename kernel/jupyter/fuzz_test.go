package jupyter

import (
	"bytes"
	"testing"

	"antipode/internal/must"
)

// FuzzMessage: without its signature, a message is refused, whatever its frames hold.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("id\n<IDS|MSG>\nsign\n{}\n{}\n{}\n{}"))
	f.Add([]byte("<IDS|MSG>\n\n{\"msg_type\":\"a\"}\n{}\n{}\n{\"code\":1}\nbuffer"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames := bytes.Split(data, []byte("\n"))
		m, err := parseMessage(frames, []byte("a key"))
		must.True(t, err != nil, "%q is read as %+v", data, m)
		parseMessage(frames, nil) // an empty key turns signatures off
	})
}

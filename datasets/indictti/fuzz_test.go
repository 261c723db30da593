package indictti

import (
	"strings"
	"testing"
)

// FuzzLanguages: a list of languages is refused in one line, or every language has a code.
func FuzzLanguages(f *testing.F) {
	f.Add([]byte("code,name\nhin_Deva,Hindi\n"))
	f.Add([]byte("code,name,script\nben_Beng,Bengali,Beng\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ReadLanguages("t.csv", data)
		if err != nil && (strings.Contains(err.Error(), "\n") || list != nil) {
			t.Errorf("%v, %v", list, err)
		}
	})
}

package notebook

import (
	"bytes"
	"testing"

	"antipode/internal/must"
)

// FuzzParse: a notebook that is read is written and read again without a change, and its page holds no script.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"markdown","id":"a","metadata":{},"source":["# a\n","b"]}]}`,
		`{"nbformat":4,"nbformat_minor":4,"metadata":{},"cells":[{"cell_type":"code","execution_count":1,"metadata":{},` +
			`"source":"x","outputs":[{"output_type":"stream","name":"stdout","text":"<script>"},` +
			`{"output_type":"display_data","data":{"text/html":"<script>a</script>"},"metadata":{}}]}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := parse(data)
		if err != nil {
			return
		}
		text := nb.Encode()
		again, err := parse(text)
		must.True(t, err == nil && bytes.Equal(again.Encode(), text),
			"%s is written as %s and read again: %v", data, text, err)
		page := HTML(nb, Page{})
		must.True(t, !bytes.Contains(page, []byte("<script")), "the page of %s holds a script", data)
	})
}

package cell

import (
	"fmt"
	"strconv"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Metadata by which the kernel recognizes these displays.
const (
	resultMark = "antipode-result"
	clearMark  = "antipode-clear"
)

// Result shows the value of a cell's last expression. The kernel calls it: a cell that ends with `photos` shows the
// table. A value with a method Show, as tables and figures have, shows itself; other values are printed, text quoted.
func Result(value any) {
	var text string
	switch v := value.(type) {
	case interface{ Show() }:
		v.Show()
		return
	case string:
		text = strconv.Quote(v)
	case fmt.Stringer:
		text = v.String()
	case error:
		text = v.Error()
	default:
		text = fmt.Sprintf("%+v", v)
	}
	if !InNotebook() {
		fmt.Println(text)
		return
	}
	sendMarked(map[protocol.MIMEType]any{protocol.MIMETextPlain: text}, resultMark, true)
}

// Clear removes the outputs that the cell has shown so far. Outside a notebook it does nothing.
func Clear() {
	if InNotebook() {
		sendMarked(map[protocol.MIMEType]any{protocol.MIMETextPlain: ""}, clearMark, true)
	}
}

func sendMarked(data map[protocol.MIMEType]any, mark string, value any) {
	gonbui.SendData(&protocol.DisplayData{Data: data, Metadata: map[string]any{mark: value}})
	flush(10 * time.Second)
}

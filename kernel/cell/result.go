package cell

import (
	"fmt"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Metadata by which the kernel recognizes these displays.
const (
	resultMark = "antipode-result"
	clearMark  = "antipode-clear"
	noteMark   = "antipode-note"
	againMark  = "antipode-again"
)

// Result shows the value of a cell's last expression; the kernel calls it. It calls the method Show of a value that has
// one, such as a table or a figure, and prints other values as fmt.Println does.
func Result(value any) {
	if v, ok := value.(interface{ Show() }); ok {
		v.Show()
		return
	}
	if !InNotebook() {
		fmt.Println(value)
		return
	}
	sendMarked(map[protocol.MIMEType]any{protocol.MIMETextPlain: fmt.Sprint(value)}, resultMark)
}

// Clear removes the outputs that the cell has shown so far. Outside a notebook it does nothing.
func Clear() {
	if InNotebook() {
		sendMarked(map[protocol.MIMEType]any{protocol.MIMETextPlain: ""}, clearMark)
	}
}

func sendMarked(data map[protocol.MIMEType]any, mark string) {
	gonbui.SendData(&protocol.DisplayData{Data: data, Metadata: map[string]any{mark: true}})
	flush(10 * time.Second)
}

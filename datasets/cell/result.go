package cell

import (
	"fmt"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"antipode/datasets/table"
)

// Metadata by which the kernel recognizes these displays.
const (
	resultMark = "antipode-result"
	clearMark  = "antipode-clear"
	noteMark   = "antipode-note"
	againMark  = "antipode-again"
	tableMark  = "antipode-table"
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

// Columns tells the kernel the columns of a variable that is a table, for completion; the kernel calls it. Outside a
// notebook it does nothing.
func Columns(name string, value any) {
	t, ok := value.(interface{ Columns() []table.ColumnSpec })
	if !ok || !InNotebook() {
		return
	}
	columns := []string{name}
	for _, c := range t.Columns() {
		columns = append(columns, c.Name)
	}
	sendMarked(map[protocol.MIMEType]any{protocol.MIMETextPlain: strings.Join(columns, "\t")}, tableMark)
}

func sendMarked(data map[protocol.MIMEType]any, mark string) {
	gonbui.SendData(&protocol.DisplayData{Data: data, Metadata: map[string]any{mark: true}})
	flush(10 * time.Second)
}

//go:build !amd64

package preprocess

var vectors = false

func acrossRows(out, v view, columns *plan) { acrossGo(out, v, columns) }

func downRows(out, v view, rows *plan) { downGo(out, v, rows) }

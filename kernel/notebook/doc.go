// Package notebook reads and writes Jupyter notebooks (nbformat 4) and renders them as HTML pages.
//
// [Read] keeps every field it does not know; [Notebook.Encode] writes the bytes Jupyter itself would write, so that a
// notebook saved here and there differs only where its content does. [HTML] makes one self-contained page with nothing in
// it that runs or loads anything: stranger's notebooks are best read that way first.
package notebook

// Package notebook reads and writes Jupyter notebooks (nbformat 4) and renders them as HTML pages.
//
// [Read] preserves unknown fields, and [Notebook.Encode] writes the same bytes as Jupyter, so that saving a notebook
// changes only what was edited. [HTML] returns a self-contained page without scripts or remote resources, which is safe
// for untrusted notebooks.
package notebook

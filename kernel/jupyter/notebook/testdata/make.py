"""Writes jupyter.ipynb, as Jupyter itself formats a notebook. Run with nbformat 5.11.1: python make.py"""
import os

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

stream = new_output("stream", name="stdout", text="one\ntwo \u2028three\x85four\r\nfive\x0b<&>\u00e9\u0939\U0001f30d\x7f\x01\"\\\t")
display = new_output("display_data", data={
    "text/html": "<b>x</b>\n<i>y</i>\n", "text/plain": "", "image/png": "iVBORw0KGgo=\n", "image/svg+xml": "<svg>\n</svg>",
    "application/json": {"b": [], "a": {}, "c": [1, 2.5, 1e-07, None, True, "x\ny"]}, "application/vnd.x+json": "one\ntwo",
}, metadata={"image/png": {"width": 10}})
result = new_output("execute_result", data={"text/plain": "4"}, execution_count=4)
error = new_output("error", ename="ERROR", evalue="exit status 1", traceback=["a\nb", "\x1b[31mc\x1b[0m"])
cells = [
    new_markdown_cell("# Title\n\n![p](attachment:p.png)", id="m1", attachments={"p.png": {"image/png": "iVBORw0KGgo="}}),
    new_code_cell("var n = 5 // \u4f60\u597d\n%%\nfmt.Println(n)\n", id="c-2", execution_count=4, outputs=[stream, display, result, error],
                  metadata={"tags": ["parameters"], "jupyter": {"source_hidden": True}, "collapsed": False}),
    new_code_cell("", id="c3"),
    new_raw_cell("raw \f text", id="r4", metadata={"format": "text/x"}),
]
notebook = new_notebook(cells=cells, metadata={"kernelspec": {"name": "antipode", "display_name": "Go (Antipode)", "language": "go"}, "unknown": {"z": 1, "a": [[], [1]]}})
notebook["minor_unknown"] = {"kept": "yes"}
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "jupyter.ipynb"), "w", encoding="utf-8") as f:
    nbformat.write(notebook, f)

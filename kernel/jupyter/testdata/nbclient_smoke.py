"""Executes cells with the installed kernel through nbclient and jupyter_client. Prints "all well"."""
import queue
import time

import nbclient
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell, new_notebook

notebook = new_notebook(cells=[
    new_code_cell("var n = 20"),
    new_code_cell("%%\nfmt.Println(n + client.Protocol)\ncell.HTML(\"<b>x</b>\")"),
    new_code_cell("%%\ncell.Fail(fmt.Errorf(\"row 7\"))", metadata={"tags": ["raises-exception"]}),
    new_code_cell("%%\nfmt.Println(\"end\")"),
], metadata={"kernelspec": {"name": "antipode", "display_name": "Go (Antipode)", "language": "go"}})
nbclient.NotebookClient(notebook, timeout=60, kernel_name="antipode").execute()
printed = [o for o in notebook.cells[1].outputs if o.output_type == "stream"]
shown = [o for o in notebook.cells[1].outputs if o.output_type == "display_data"]
assert printed[0].text == "21\n", notebook.cells[1].outputs
assert shown[0].data["text/html"] == "<b>x</b>", notebook.cells[1].outputs
failed = notebook.cells[2].outputs
assert any(o.output_type == "stream" and o.text.startswith("row 7\n") for o in failed), failed
assert any(o.output_type == "error" for o in failed), failed
assert notebook.cells[3].outputs[0].text == "end\n", notebook.cells[3].outputs

manager, client = start_new_kernel(kernel_name="antipode")
try:
    request = client.execute("%%\nfmt.Println(\"running\")\ntime.Sleep(time.Hour)")
    while True:
        message = client.get_iopub_msg(timeout=30)
        if message["msg_type"] == "stream":
            break
    start = time.time()
    manager.interrupt_kernel()
    while True:
        reply = client.get_shell_msg(timeout=10)
        if reply["parent_header"].get("msg_id") == request:
            break
    assert reply["content"]["status"] == "error", reply["content"]
    assert time.time() - start < 2, time.time() - start
    client.execute("%%\nfmt.Println(\"running\")\ntime.Sleep(time.Hour)")
    time.sleep(1)
finally:
    client.stop_channels()
    start = time.time()
    manager.shutdown_kernel()
    print("shutdown took %.1f s" % (time.time() - start))
print("all well")

"""A front end on raw sockets, which validates each message. harness.py says how the tests are run."""

import os
import time

import zmq
from jupyter_client.session import Session
from jupyter_kernel_test import msgspec_v5

# Every limit is multiplied by it: a machine that does other work at the same time is slower than a user's.
SLACK = float(os.environ.get("ANTIPODE_CONFORMANCE_SLACK", "1"))


# msgspec_v5 lacks the message of JEP 65 and those of comms, and takes input_request's password for a number.
msgspec_v5.schema_fragments.update(
    iopub_welcome={"properties": {"subscription": {"type": "string"}}},
    input_request={"properties": {"prompt": {"type": "string"}, "password": {"type": "boolean"}}},
    comm_open={
        "properties": {"comm_id": {"type": "string"}, "target_name": {"type": "string"}, "data": {"type": "object"}}
    },
    comm_msg={"properties": {"comm_id": {"type": "string"}, "data": {"type": "object"}}},
    comm_close={"properties": {"comm_id": {"type": "string"}, "data": {"type": "object"}}},
)


class Result:
    """What one execution published and replied."""

    def __init__(self, code):
        self.code = code
        self.messages = []  # published messages other than status, in order
        self.reply = None
        self.idle = False
        self.sent = time.monotonic()
        self.replied = None  # seconds until the reply

    def of(self, *types):
        return [m for m in self.messages if m["header"]["msg_type"] in types]

    def stream(self, name):
        return "".join(m["content"]["text"] for m in self.of("stream") if m["content"]["name"] == name)

    @property
    def stdout(self):
        return self.stream("stdout")

    @property
    def stderr(self):
        return self.stream("stderr")

    @property
    def errors(self):
        return self.of("error")

    @property
    def status(self):
        return self.reply["content"]["status"] if self.reply else None

    def read(self):
        """Return all text that a front end shows to a user."""
        parts = [self.stdout, self.stderr]
        for m in self.errors:
            parts += [m["content"]["ename"], m["content"]["evalue"], *m["content"]["traceback"]]
        for m in self.of("display_data", "execute_result", "update_display_data"):
            parts += [str(v) for k, v in m["content"]["data"].items() if k.startswith("text/")]
        content = self.reply["content"] if self.reply else {}
        parts += [content.get("ename", ""), content.get("evalue", ""), *content.get("traceback", [])]
        return "\n".join(parts)


class FrontEnd:
    """One connected front end: raw sockets, each message validated against the specification.

    With reads_iopub=False its subscription exists and is never read, as that of a suspended browser.
    """

    def __init__(self, manager, reads_iopub=True, subscribe=True):
        self.manager = manager
        info = manager.get_connection_info()
        self.session = Session(key=info["key"], signature_scheme=info["signature_scheme"])
        self.context = zmq.Context()
        self.reads_iopub = reads_iopub
        self.sockets = {}
        for channel, kind in (
            ("shell", zmq.DEALER),
            ("control", zmq.DEALER),
            ("stdin", zmq.DEALER),
            ("iopub", zmq.SUB),
            ("hb", zmq.REQ),
        ):
            if channel == "iopub" and not subscribe:
                continue
            s = self.context.socket(kind)
            s.linger = 0
            s.rcvhwm = s.sndhwm = 0 if reads_iopub else 10
            if kind == zmq.DEALER:
                s.identity = self.session.bsession
            if channel == "iopub":
                s.subscribe(b"")
            s.connect(f"tcp://{info['ip']}:{info[channel + '_port']}")
            self.sockets[channel] = s
        self.poller = zmq.Poller()
        for channel, s in self.sockets.items():
            if channel != "hb" and (channel != "iopub" or reads_iopub):
                self.poller.register(s, zmq.POLLIN)
        self.seen = []  # (channel, message), everything but the messages of own executions
        self.executions = {}
        self.replies = {}
        self.count = 0
        self.volume = 0
        self.keep = True  # False: iopub messages are counted and not kept

    def close(self):
        self.context.destroy(linger=0)

    def send(self, channel, kind, content=None):
        """Send a request and return its id."""
        message = self.session.msg(kind, content or {})
        self.session.send(self.sockets[channel], message)
        return message["header"]["msg_id"]

    def pump(self, timeout):
        """Handle what has arrived, or the first thing that arrives within timeout seconds; return whether any did."""
        names = {s: channel for channel, s in self.sockets.items()}
        any_ready = False
        for s, _ in self.poller.poll(max(0, timeout) * 1000):
            any_ready = True
            while True:
                try:
                    parts = s.recv_multipart(zmq.NOBLOCK)
                except zmq.Again:
                    break
                self.handle(names[s], parts)
        return any_ready

    def handle(self, channel, parts):
        self.volume += sum(len(p) for p in parts)
        _, frames = self.session.feed_identities(parts)
        message = self.session.deserialize(frames)
        kind, parent = message["header"]["msg_type"], message["parent_header"].get("msg_id")
        validate(message, parent)
        if channel == "iopub":
            self.count += 1
            execution = self.executions.get(parent)
            if execution is None:
                self.seen.append((channel, message))
            elif kind == "status":
                execution.idle = execution.idle or message["content"]["execution_state"] == "idle"
            elif self.keep:
                execution.messages.append(message)
            return
        if channel in ("shell", "control"):
            self.replies[parent] = message
            if parent in self.executions:
                execution = self.executions[parent]
                execution.reply, execution.replied = message, time.monotonic() - execution.sent
            return
        self.seen.append((channel, message))

    def wait(self, condition, timeout, what, stall=None):
        """Handle messages until condition() is true; return its value, or raise TimeoutError.

        With stall, that many seconds without any message are an error, too.
        """
        timeout *= SLACK
        deadline, last = time.monotonic() + timeout, time.monotonic()
        while True:
            value = condition()
            if value:
                return value
            now = time.monotonic()
            if now >= deadline:
                raise TimeoutError(f"{what}: not within {timeout} s")
            if stall and now - last > stall:
                raise TimeoutError(f"{what}: no message for {stall} s")
            if self.pump(min(deadline - now, 0.5)):
                last = time.monotonic()

    def request(self, kind, content=None, channel="shell", timeout=10):
        """Send a request and return the content of its reply."""
        id = self.send(channel, kind, content)
        return self.wait(lambda: self.replies.get(id), timeout, f"reply to {kind}")["content"]

    def submit(self, code, **options):
        """Send an execute_request and return its result, which fills while messages are handled."""
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
            **options,
        }
        result = Result(code)
        result.id = self.send("shell", "execute_request", content)
        self.executions[result.id] = result
        return result

    def finish(self, *results, timeout=120, stall=None):
        """Wait until executions have replied and, where iopub is read, are idle."""
        for r in results:
            self.wait(
                lambda: r.reply and (r.idle or not self.reads_iopub or "iopub" not in self.sockets),
                timeout,
                f"end of cell {r.code[:60]!r}",
                stall,
            )
        return results[0]

    def execute(self, code, timeout=120, stall=None, **options):
        return self.finish(self.submit(code, **options), timeout=timeout, stall=stall)

    def published(self, kind):
        """Return messages seen on iopub that belong to no execution of this front end."""
        return [m for channel, m in self.seen if channel == "iopub" and m["header"]["msg_type"] == kind]


def validate(message, parent=None):
    """Validate a message as the specification writes it: protocol 5.1 has the strictest schemas of jupyter_kernel_test.

    The fields that later versions added are taken out first.
    """
    kind = message["header"]["msg_type"]
    content = dict(message["content"])
    if kind == "execute_reply" and content.get("status") in ("error", "aborted"):
        content.pop("execution_count", None)
        content.pop("user_expressions", None)
        content.pop("payload", None)
        content.pop("engine_info", None)
        if content["status"] == "aborted":
            return  # "aborted" permits any or no error fields
    if kind == "kernel_info_reply":
        content.pop("supported_features", None)
    copy = {key: message[key] for key in ("header", "parent_header", "metadata", "buffers") if key in message}
    header = {key: value for key, value in message["header"].items() if key != "subshell_id"}
    header["version"] = "5.1"
    copy.update(header=header, content=content)
    msgspec_v5.validate_message(copy, kind, parent)

"""Side B of the benchmark: sentence-transformers. Usage: peer.py FOLDER THREADS SEED MODEL

Saves a random encoder of MODEL's shape into FOLDER as sentence-transformers does (Transformer, mean Pooling, Normalize), reads texts.json (lists of
token ids), then answers lines: `run BATCH` with one JSON line {"Seconds": …}. It does what SentenceTransformer.encode does after
the tokenizer: texts sorted by length, longest first, cut into batches, each padded to its longest; the library's own modules run them.
"""

import json
import pathlib
import sys
import time

import numpy as np
import sentence_transformers
import torch
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, XLMRobertaConfig, XLMRobertaModel

folder, threads, seed, name = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
torch.set_num_threads(threads)
torch.manual_seed(seed)
start = time.perf_counter()
large = dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16)
model = {
    "mpnet": lambda: MPNetModel(MPNetConfig(max_position_embeddings=514, layer_norm_eps=1e-5)),
    "bert": lambda: BertModel(BertConfig()),
    "xlmr-large": lambda: XLMRobertaModel(XLMRobertaConfig(vocab_size=250002, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5, **large)),
}[name]().eval()
with torch.no_grad():
    for n, p in model.named_parameters():
        if p.ndim == 2 and "embeddings" not in n:
            p.normal_(0, p.shape[1] ** -0.5)
modules = [Pooling(model.config.hidden_size, "mean"), Normalize()]
model.save_pretrained(folder)
lines = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
for i, m in enumerate(modules):
    path = f"{i + 1}_{type(m).__name__}"
    (folder / path).mkdir()
    m.save(str(folder / path))
    lines.append({"idx": i + 1, "name": str(i + 1), "path": path, "type": f"sentence_transformers.models.{type(m).__name__}"})
(folder / "modules.json").write_text(json.dumps(lines))
texts = [torch.tensor(t) for t in json.loads((folder / "texts.json").read_text())]
pad = model.config.pad_token_id


@torch.inference_mode()
def run(batch):
    order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    out = torch.empty(len(texts), model.config.hidden_size)
    for at in range(0, len(order), batch):
        rows = order[at : at + batch]
        ids = torch.nn.utils.rnn.pad_sequence([texts[i] for i in rows], batch_first=True, padding_value=pad)
        lengths = torch.tensor([len(texts[i]) for i in rows])
        mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
        features = {"token_embeddings": model(input_ids=ids, attention_mask=mask).last_hidden_state, "attention_mask": mask}
        for m in modules:
            features = m(features)
        out[rows] = features["sentence_embedding"]
    return out


versions = f"sentence-transformers {sentence_transformers.__version__}, torch {torch.__version__}"
print(json.dumps({"Seconds": time.perf_counter() - start, "Name": versions}), flush=True)
for line in sys.stdin:
    batch = int(line.split()[1])
    start = time.perf_counter()
    out = run(batch)
    seconds = time.perf_counter() - start
    out.numpy().astype(np.float32).tofile(folder / "peer.f32")
    print(json.dumps({"Seconds": seconds}), flush=True)

"""sentence-transformers with a random encoder. Argument: its shape.

It saves the encoder as sentence-transformers does (Transformer, mean Pooling, Normalize) and reads texts.json (lists of token ids). Command `run
BATCH` does what SentenceTransformer.encode does after the tokenizer: texts sorted by length, longest first, cut into batches, each padded to
its longest; the library's own modules run them.
"""

import json

import sentence_transformers
import torch
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, XLMRobertaConfig, XLMRobertaModel

from peer import arguments, folder, seed, serve, threads

torch.set_num_threads(threads)
torch.manual_seed(seed)
large = dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16)
model = {
    "mpnet": lambda: MPNetModel(MPNetConfig(max_position_embeddings=514, layer_norm_eps=1e-5)),
    "bert": lambda: BertModel(BertConfig()),
    "xlmr-large": lambda: XLMRobertaModel(XLMRobertaConfig(vocab_size=250002, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5, **large)),
}[arguments[0]]().eval()
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
def run(_, batch):
    order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
    out = torch.empty(len(texts), model.config.hidden_size)
    for at in range(0, len(order), int(batch)):
        rows = order[at : at + int(batch)]
        ids = torch.nn.utils.rnn.pad_sequence([texts[i] for i in rows], batch_first=True, padding_value=pad)
        lengths = torch.tensor([len(texts[i]) for i in rows])
        mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
        features = {"token_embeddings": model(input_ids=ids, attention_mask=mask).last_hidden_state, "attention_mask": mask}
        for m in modules:
            features = m(features)
        out[rows] = features["sentence_embedding"]
    return out


serve(f"sentence-transformers {sentence_transformers.__version__}, torch {torch.__version__}", run)

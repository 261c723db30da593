#!/usr/bin/env python3
"""A small GroundingDINO with random weights as its authors' program saves it, for gomlxmodels/groundingdino.

    PYTHONPATH=FOLDER python tools/pyref/original_groundingdino.py gomlxmodels/groundingdino/testdata/original

FOLDER has the package groundingdino: the unpacked source of groundingdino-py 0.4.0, of which nothing is compiled (its own code without
CUDA runs). Writes config.json as transformers saves it, the tokenizer's files, and names.zip: the shapes of the tensors of the authors'
model, and for each of transformers' tensors the one whose part it is, as [name, part, parts] along the first axis. Under these names both
programs return the same logits and boxes for the same values, which is asserted here. BERT is transformers' in both.

Versions: groundingdino-py 0.4.0, torch 2.15.0, timm, transformers 5.23.0, safetensors, Python 3.11+. Seed 7.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import types
import warnings
import zipfile

import torch
from groundingdino import build, config, image, vocabulary
from safetensors.torch import load_file
from transformers import BertTokenizer, GroundingDinoImageProcessor

warnings.simplefilter("ignore")
torch.set_num_threads(1)
SEED, TEXT = 7, "a cat. a remote control."


def package():
    """The authors' modules. This folder's script has the name of their package, and they import tools that are not used here."""
    ours = sys.modules.pop("groundingdino")
    here = str(pathlib.Path(__file__).parent)
    sys.path = [p for p in sys.path if p != here and p != ""]
    for name, attributes in {"cv2": [], "supervision": [], "addict": ["Dict"], "yapf": [], "yapf.yapflib": [], "yapf.yapflib.yapf_api": ["FormatCode"], "groundingdino.util.visualizer": ["COCOVisualizer"]}.items():
        fake = types.ModuleType(name)
        for a in attributes:
            setattr(fake, a, dict)
        sys.modules[name] = fake
    from groundingdino.models.GroundingDINO import groundingdino as whole
    from groundingdino.models.GroundingDINO import transformer
    from groundingdino.models.GroundingDINO.backbone import backbone, position_encoding, swin_transformer

    return ours, whole, transformer, backbone, position_encoding, swin_transformer


class Bert(torch.nn.Module):
    """transformers' BERT as a part of the authors' model, with a pooler, which theirs has and does not use."""

    def __init__(self, bert):
        super().__init__()
        self.embeddings, self.encoder, self.config = bert.embeddings, bert.encoder, bert.config
        self.pooler = torch.nn.Module()
        self.pooler.dense = torch.nn.Linear(bert.config.hidden_size, bert.config.hidden_size)
        self.whole = [bert]  # not a part

    def forward(self, input_ids, attention_mask, token_type_ids, position_ids):
        return {"last_hidden_state": self.whole[0](input_ids, attention_mask[:, None], token_type_ids, position_ids).last_hidden_state}


def old_state(state):
    """transformers' tensors under the authors' names."""
    out = {}
    swin = "model.backbone.conv_encoder.model."
    plain = {"model.text_backbone.": "bert.", "model.input_proj_vision.": "input_proj.", "model.text_projection.": "feat_map.", "model.level_embed": "transformer.level_embed",
             "model.query_position_embeddings.": "transformer.tgt_embed.", "model.enc_output": "transformer.enc_output", "model.encoder_output_bbox_embed.": "transformer.enc_out_bbox_embed.",
             "model.decoder.layer_norm.": "transformer.decoder.norm.", "model.decoder.reference_points_head.": "transformer.decoder.ref_point_head.", "model.decoder.bbox_embed.": "transformer.decoder.bbox_embed.",
             "bbox_embed.": "bbox_embed.", swin + "embeddings.patch_embeddings.projection.": "backbone.0.patch_embed.proj.", swin + "embeddings.norm.": "backbone.0.patch_embed.norm."}
    encoder = {"deformable_layer.self_attn_layer_norm": ("layers", "norm1"), "deformable_layer.final_layer_norm": ("layers", "norm2"), "deformable_layer.fc": ("layers", "linear"), "deformable_layer.": ("layers", ""),
               "text_enhancer_layer.layer_norm_before": ("text_layers", "norm1"), "text_enhancer_layer.layer_norm_after": ("text_layers", "norm2"), "text_enhancer_layer.fc": ("text_layers", "linear"),
               "text_enhancer_layer.": ("text_layers", ""), "fusion_layer.vision_param": ("fusion_layers", "gamma_v"), "fusion_layer.text_param": ("fusion_layers", "gamma_l"),
               "fusion_layer.layer_norm_vision": ("fusion_layers", "layer_norm_v"), "fusion_layer.layer_norm_text": ("fusion_layers", "layer_norm_l"), "fusion_layer.": ("fusion_layers", "")}
    decoder = {"encoder_attn_layer_norm": "norm1", "self_attn_layer_norm": "norm2", "final_layer_norm": "norm3", "encoder_attn_text_layer_norm": "catext_norm", "encoder_attn_text.": "ca_text.", "encoder_attn.": "cross_attn.", "fc": "linear"}
    block = {"layernorm_before": "norm1", "layernorm_after": "norm2", "attention.self.relative": "attn.relative", "attention.output.dense": "attn.proj", "intermediate.dense": "mlp.fc1", "output.dense": "mlp.fc2", "attention.self.": "attn."}

    def start(name, table):
        return next(((new, old) for new, old in table.items() if name.startswith(new)), None)

    for name, v in state.items():
        if name.startswith("model.encoder.layers."):
            layer, rest = name.split(".", 4)[3:]
            new, (kind, old) = start(rest, encoder)
            rest = old + rest[len(new):]
            if kind == "fusion_layers":
                rest = rest.replace("vision_proj", "v_proj").replace("text_proj", "l_proj")
            out[f"transformer.encoder.{kind}.{layer}.{rest}"] = v
        elif name.startswith("model.decoder.layers."):
            layer, rest = name.split(".", 4)[3:]
            found = start(rest, decoder)
            out[f"transformer.decoder.layers.{layer}." + (found[1] + rest[len(found[0]):] if found else rest)] = v
        elif name.startswith(swin + "encoder.layers.") and ".blocks." in name:
            head, layer, block_number, rest = swin, *name[len(swin + "encoder.layers."):].replace("blocks.", "").split(".", 2)
            new, old = start(rest, block)
            out[f"backbone.0.layers.{layer}.blocks.{block_number}.{old}{rest[len(new):]}"] = v
        elif name.startswith(swin + "encoder.layers."):
            out["backbone.0." + name[len(swin + "encoder."):]] = v
        elif name.startswith(swin + "hidden_states_norms.stage"):
            stage, kind = name[len(swin + "hidden_states_norms.stage"):].split(".")
            out[f"backbone.0.norm{int(stage) - 1}.{kind}"] = v
        elif not name.startswith(swin + "swin.layernorm"):
            new, old = start(name, plain)
            out[old + name[len(new):]] = v
    for name in [n for n in out if ".query." in n and not n.startswith("bert.")]:  # queries, keys and values are one
        joined = torch.cat([out.pop(name.replace(".query.", f".{x}.")) for x in ("query", "key", "value")])
        out[name.replace("query.", "qkv.") if name.startswith("backbone") else name.replace("query.", "in_proj_")] = joined
    return out


def main(out):
    cfg = config(dict(embed_dim=16, depths=[1, 2, 1, 1], num_heads=[1, 2, 2, 4], window_size=4, mlp_ratio=4.0), dict(hidden_size=64, num_attention_heads=1, intermediate_size=24), d_model=256,
                 encoder_layers=2, decoder_layers=2, encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=64, decoder_ffn_dim=64, num_feature_levels=4, num_queries=12, max_text_len=64)
    model, _ = build(cfg, SEED)
    tok = BertTokenizer(vocab=vocabulary(), do_lower_case=True)
    ours, whole, transformer, backbone, position_encoding, swin = package()
    b = cfg.backbone_config
    net = swin.SwinTransformer(pretrain_img_size=64, patch_size=4, embed_dim=b.embed_dim, depths=b.depths, num_heads=b.num_heads, window_size=b.window_size, mlp_ratio=b.mlp_ratio, out_indices=(1, 2, 3), drop_path_rate=0.0)
    joined = backbone.Joiner(net, position_encoding.PositionEmbeddingSineHW(cfg.d_model // 2, temperatureH=20, temperatureW=20, normalize=True))
    joined.num_channels = net.num_features[1:]
    parts = transformer.Transformer(d_model=cfg.d_model, dropout=0.0, nhead=8, num_queries=cfg.num_queries, dim_feedforward=cfg.encoder_ffn_dim, num_encoder_layers=2, num_decoder_layers=2, return_intermediate_dec=True,
                                    query_dim=4, activation="relu", num_patterns=0, num_feature_levels=4, enc_n_points=cfg.encoder_n_points, dec_n_points=cfg.decoder_n_points, learnable_tgt_init=True,
                                    two_stage_type="standard", embed_init_tgt=True, use_text_enhancer=True, use_fusion_layer=True, use_checkpoint=False, use_transformer_ckpt=False,
                                    use_text_cross_attention=True, text_dropout=0.0, fusion_dropout=0.0, fusion_droppath=0.0)
    whole.get_tokenlizer = types.SimpleNamespace(get_tokenlizer=lambda _: tok, get_pretrained_language_model=lambda _: Bert(model.model.text_backbone))
    whole.BertModelWarper = lambda bert_model: bert_model
    theirs = whole.GroundingDINO(joined, parts, num_queries=cfg.num_queries, aux_loss=True, iter_update=True, query_dim=4, num_feature_levels=4, nheads=8, two_stage_type="standard",
                                 dec_pred_bbox_embed_share=True, two_stage_bbox_embed_share=False, two_stage_class_embed_share=False).eval()
    with tempfile.TemporaryDirectory() as folder:  # the names in files are not those of the modules
        model.save_pretrained(folder)
        new_state = load_file(pathlib.Path(folder) / "model.safetensors")
    state = old_state(new_state)
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert not unexpected and all(any(x in k for x in ("relative_position_index", "pooler", "bbox_embed")) for k in missing), (missing, unexpected)
    pixels = GroundingDinoImageProcessor(size={"shortest_edge": 60, "longest_edge": 90})(ours.image(70, 53), return_tensors="pt").pixel_values
    with torch.inference_mode():
        own = model(pixel_values=pixels, **tok(TEXT, return_tensors="pt"))
        old = theirs(whole.nested_tensor_from_tensor_list([pixels[0]]), captions=[TEXT])
    finite = own.logits.isfinite() & old["pred_logits"][..., : own.logits.shape[-1]].isfinite()
    n = own.logits.shape[-1]
    worst = (own.logits - old["pred_logits"][..., :n])[finite].abs().max().item(), (own.pred_boxes - old["pred_boxes"]).abs().max().item()
    assert max(worst) < 1e-4 and finite.any(), worst
    shapes = {k: list(v.shape) for k, v in theirs.state_dict().items()} | {"label_enc.weight": [3, cfg.d_model], "bert.embeddings.position_ids": [1, 64]}
    order = list(new_state)
    numbered = old_state({k: torch.full(new_state[k].shape, float(i)) for i, k in enumerate(order)})
    origin = {}
    for name, v in numbered.items():
        parts = 3 if "in_proj_" in name or "qkv" in name else 1
        for i, rows in enumerate(v.chunk(parts)):
            assert (rows == rows.flatten()[0]).all() and list(v.shape) == shapes[name], name
            origin[order[int(rows.flatten()[0])]] = [name, i, parts]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    cfg.save_pretrained(out)
    tok.save_pretrained(out)
    with zipfile.ZipFile(out / "names.zip", "w") as z:
        z.writestr(zipfile.ZipInfo("names.json", (1980, 1, 1, 0, 0, 0)), json.dumps({"shapes": shapes, "names": origin}), zipfile.ZIP_DEFLATED, 9)
    print(len(shapes), len(origin), "tensors, both programs within", worst, {p.name: p.stat().st_size for p in out.rglob("*") if p.is_file()})


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

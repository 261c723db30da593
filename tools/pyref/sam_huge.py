#!/usr/bin/env python3
"""SAM in sam-vit-huge's shape with random weights, 2.5 GB: model.safetensors, config.json, preprocessor_config.json.

    python tools/pyref/sam_huge.py DIR SEED

Run by: go test -tags checks -run Huge ./gomlxmodels/sam
"""

import sys

import torch
from transformers import SamConfig, SamImageProcessor, SamModel


def main(folder, seed):
    torch.manual_seed(int(seed))
    vision = dict(hidden_size=1280, num_hidden_layers=32, num_attention_heads=16, global_attn_indexes=[7, 15, 23, 31], mlp_dim=5120)
    model = SamModel(SamConfig(vision_config=vision))
    model.shared_image_embedding.positional_embedding.data.normal_(0, 1)
    model.save_pretrained(folder)
    SamImageProcessor().save_pretrained(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])

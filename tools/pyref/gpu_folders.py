"""Folders of published models' shapes for the benchmark gpu: python3 tools/pyref/gpu_folders.py tools/bench/gpu_folders.zip

Each has the files of the model but its weights, and shapes.json: for each file of weights the shapes of its tensors by name, as the reference library
saves them. The benchmark fills them with random numbers.
"""

import json
import pathlib
import struct
import sys
import tempfile
import zipfile

import timm
import torch
import torch_fidelity.feature_extractor_inceptionv3 as fidelity
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    BertTokenizer,
    BlipConfig,
    BlipForConditionalGeneration,
    CLIPConfig,
    CLIPModel,
    CLIPSegConfig,
    CLIPSegForImageSegmentation,
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTokenizer,
    Dinov2Config,
    Dinov2Model,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessor,
    GroundingDinoProcessor,
    MPNetConfig,
    MPNetModel,
    Owlv2Config,
    Owlv2ForObjectDetection,
    Owlv2ImageProcessor,
    Owlv2Processor,
    Sam2Config,
    Sam2ImageProcessor,
    Sam2Model,
    SamConfig,
    SamImageProcessor,
    SamModel,
    SiglipConfig,
    SiglipModel,
    ViTImageProcessor,
)

root = pathlib.Path(tempfile.mkdtemp())
torch.nn.init.normal_ = torch.nn.init.xavier_uniform_ = torch.nn.init.trunc_normal_ = lambda tensor, *_, **__: tensor  # only shapes count

letters = sorted(ByteLevel.alphabet())
words = letters + [c + "</w>" for c in letters]
clip_text = dict(bos_token_id=49406, eos_token_id=49407, pad_token_id=49407)
large = dict(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16, patch_size=14)

timm.models.save_for_hf(timm.create_model("vit_base_patch16_224", pretrained=False, num_classes=0), root / "vit", safe_serialization=True)
Dinov2Model(Dinov2Config(image_size=518)).save_pretrained(root / "dinov2")
CLIPModel(CLIPConfig(text_config=dict(intermediate_size=3072, hidden_size=768, num_attention_heads=12, **clip_text), vision_config=large, projection_dim=768)).save_pretrained(root / "clip")
SiglipModel(SiglipConfig()).save_pretrained(root / "siglip")
CLIPSegForImageSegmentation(CLIPSegConfig(vision_config=dict(patch_size=16), use_complex_transposed_convolution=True)).save_pretrained(root / "clipseg")
ViTImageProcessor(size={"height": 352, "width": 352}).save_pretrained(root / "clipseg")
BlipForConditionalGeneration(BlipConfig(text_config=dict(num_attention_heads=12))).save_pretrained(root / "blip")

mpnet = MPNetModel(MPNetConfig(max_position_embeddings=514, layer_norm_eps=1e-5))
mpnet.save_pretrained(root / "mpnet")
modules = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
(root / "mpnet" / "modules.json").write_text(
    json.dumps([{"idx": i, "name": str(i), "path": p, "type": f"sentence_transformers.models.{t}"} for i, (p, t) in enumerate(modules)]))
(root / "mpnet" / "1_Pooling").mkdir()
(root / "mpnet" / "1_Pooling" / "config.json").write_text(json.dumps(dict(word_embedding_dimension=768, pooling_mode_mean_tokens=True)))
(root / "mpnet" / "2_Normalize").mkdir()

vocabulary = ["[PAD]"] + [f"word{i}" for i in range(1, 1030)]
vocabulary[100:104], vocabulary[1012], vocabulary[1029] = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"], ".", "?"
GroundingDinoForObjectDetection(GroundingDinoConfig()).save_pretrained(root / "groundingdino")
GroundingDinoProcessor(GroundingDinoImageProcessor(), BertTokenizer(vocab={w: i for i, w in enumerate(vocabulary)})).save_pretrained(root / "groundingdino")

SamModel(SamConfig()).save_pretrained(root / "sam")
SamImageProcessor().save_pretrained(root / "sam")
Sam2Model(Sam2Config()).save_pretrained(root / "sam2")
Sam2ImageProcessor().save_pretrained(root / "sam2")

owl_words = words + [f"unused{i}" for i in range(523 - len(words))] + ["<|startoftext|>", "<|endoftext|>"]
tokenizer = CLIPTokenizer(vocab={w: i for i, w in enumerate(owl_words)}, merges=[], pad_token="!", model_max_length=16)
owl = Owlv2Config(text_config=dict(bos_token_id=523, eos_token_id=524, vocab_size=525), vision_config=dict(image_size=960, patch_size=16))
Owlv2ForObjectDetection(owl).save_pretrained(root / "owlv2")
Owlv2Processor(Owlv2ImageProcessor(), tokenizer).save_pretrained(root / "owlv2")

sd_words = words + ["<|startoftext|>", "<|endoftext|>"]
widths = (128, 256, 512, 512)
StableDiffusionPipeline(
    text_encoder=CLIPTextModel(CLIPTextConfig(vocab_size=49408, hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
                                              bos_token_id=49406, eos_token_id=49407)),
    tokenizer=CLIPTokenizer(vocab={w: i for i, w in enumerate(sd_words)}, merges=[], model_max_length=77, pad_token="<|endoftext|>",
                            unk_token="<|endoftext|>"),
    unet=UNet2DConditionModel(cross_attention_dim=768, sample_size=64),
    vae=AutoencoderKL(block_out_channels=widths, down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
                      layers_per_block=2, sample_size=512),
    scheduler=DDIMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False, set_alpha_to_one=False, steps_offset=1),
    safety_checker=None, feature_extractor=None, requires_safety_checker=False).save_pretrained(root / "sd15")


class Inception(fidelity.FeatureExtractorInceptionV3):
    def load_state_dict(self, *args, **kw):
        """The constructor's, of a file that there is none of."""


torch.save({}, root / "none.pth")
inception = Inception("inception", ["2048"], feature_extractor_weights_path=root / "none.pth").state_dict()
(root / "none.pth").unlink()
(root / "inception").mkdir()
shapes = {n: list(t.shape) for n, t in inception.items() if t.is_floating_point()}
(root / "inception" / "shapes.json").write_text(json.dumps({"pt_inception-2015-12-05.pth": shapes}))

for network in sorted(root.iterdir()):
    files = {}
    for path in sorted(network.rglob("*.safetensors")):
        with path.open("rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        files[str(path.relative_to(network))] = {n: t["shape"] for n, t in header.items() if n != "__metadata__" and t["dtype"].startswith(("F", "BF"))}
        path.unlink()
    if files:
        (network / "shapes.json").write_text(json.dumps(files))

with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            out.writestr(zipfile.ZipInfo(str(path.relative_to(root)), (2020, 1, 1, 0, 0, 0)), path.read_bytes(), zipfile.ZIP_DEFLATED)

"""transformers' Dinov2Model (base) and SiglipModel (base, patch 16), and torch-fidelity's Inception v3, random weights. Arguments: the numbers of
images and of texts.

It writes the models, pixels.f32, inception.f32 and texts.json (token ids, 64 of each text). Commands: `dinov2 BATCH`, `image BATCH`, `text BATCH`,
`inception BATCH`.
"""

import json

import numpy as np
import torch
import torch_fidelity
import torch_fidelity.feature_extractor_inceptionv3 as fidelity
import transformers
from transformers import Dinov2Config, Dinov2Model, SiglipConfig, SiglipModel

from peer import arguments, folder, seed, serve, threads

images, texts = map(int, arguments)
torch.set_num_threads(threads)
torch.manual_seed(seed)
rng = np.random.default_rng(seed)


class Inception(fidelity.FeatureExtractorInceptionV3):
    def load_state_dict(self, *args, **kw):
        """The constructor's, of a file that there is none of."""


def random(model):
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() > 1:
                p.normal_(0, p[0].numel() ** -0.5)
    return model.eval()


dinov2 = random(Dinov2Model(Dinov2Config(image_size=518)))
dinov2.save_pretrained(folder / "dinov2")
siglip = random(SiglipModel(SiglipConfig()))
siglip.save_pretrained(folder / "siglip")
torch.save({}, folder / "none.pth")
inception = random(Inception("inception", ["2048"], feature_extractor_weights_path=folder / "none.pth"))
(folder / "inception").mkdir()
torch.save(inception.state_dict(), folder / "inception" / "pt_inception-2015-12-05.pth")
fidelity.interpolate_bilinear_2d_like_tensorflow1x = lambda x, **kw: x  # images have the network's size
pixels = rng.standard_normal((images, 3, 224, 224), np.float32)
pixels.tofile(folder / "pixels.f32")
large = rng.integers(0, 256, (images, 3, 299, 299), np.uint8)
((large.astype(np.float32) - 128) / 128).tofile(folder / "inception.f32")
ids = torch.from_numpy(rng.integers(5, 31000, (texts, 64)))
(folder / "texts.json").write_text(json.dumps(ids.tolist()))
COMMANDS = {
    "dinov2": (torch.from_numpy(pixels), lambda x: dinov2(x).pooler_output),
    "image": (torch.from_numpy(pixels), lambda x: siglip.get_image_features(x).pooler_output),
    "text": (ids, lambda x: siglip.get_text_features(x).pooler_output),
    "inception": (torch.from_numpy(large), lambda x: inception(x)[0]),
}


@torch.inference_mode()
def run(name, batch):
    inputs, f = COMMANDS[name]
    return torch.cat([f(x) for x in inputs.split(int(batch))])


serve(f"transformers {transformers.__version__}, torch-fidelity {torch_fidelity.__version__}, torch {torch.__version__}", run)

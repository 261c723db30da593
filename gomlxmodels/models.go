// Package gomlxmodels names the models and holds the stages that use them, as operations on tables. It is light: a cell that
// imports it links no GoMLX. The graphs live in one folder per architecture (vit, …) and run in the backend.
package gomlxmodels

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// Model is a model known by name.
type Model struct {
	Name         string
	Architecture string
	About        string
	Licence      string
}

// ArchipelagoViT is the built-in image encoder, trained on the Archipelago.
const ArchipelagoViT = "archipelago-vit"

// Known lists the models known by name.
func Known() []Model {
	return []Model{
		{ArchipelagoViT, "ViT (Hugging Face ViTModel layout)", "image encoder of the built-in world, small, shipped with Antipode", "Apache-2.0"},
	}
}

// EmbedOp is the operation of [Embed].
const EmbedOp = "embed"

// EmbedArgs are the arguments of an embed stage.
type EmbedArgs struct {
	Model     string `json:"model"` // a known name, or the absolute path of a folder
	Masking   string `json:"masking"`
	Fill      string `json:"fill"`
	PatchRule string `json:"patch_rule"`
	Precision string `json:"precision,omitempty"` // "" is Precisions[0]
}

// EmbedOption is a setting of [Embed].
type EmbedOption func(*EmbedArgs) error

// The values the options of Embed take, the default first.
var (
	Maskings   = []string{"drop", "neginf", "zeroprob"}
	Fills      = []string{"none", "white", "black"}
	PatchRules = []string{"any", "resized"}
	Precisions = []string{"auto", "float32", "bfloat16"}
)

func choice(what string, values []string, to func(*EmbedArgs) *string) func(string) EmbedOption {
	return func(v string) EmbedOption {
		return func(a *EmbedArgs) error {
			if !slices.Contains(values, v) {
				return fmt.Errorf("%s %q: it is one of %s", what, v, strings.Join(values, ", "))
			}
			*to(a) = v
			return nil
		}
	}
}

// Masking says how patches are hidden from the model; see package vit: "drop" (default), "neginf", "zeroprob".
func Masking(how string) EmbedOption {
	return choice("masking", Maskings, func(a *EmbedArgs) *string { return &a.Masking })(how)
}

// Fill says what the pixels of hidden patches become: "none" (they stay, the default), "white", "black".
func Fill(colour string) EmbedOption {
	return choice("fill", Fills, func(a *EmbedArgs) *string { return &a.Fill })(colour)
}

// PatchRule says which patches are the object's: "any" (one object pixel is enough, the default) or "resized".
func PatchRule(rule string) EmbedOption {
	return choice("patch rule", PatchRules, func(a *EmbedArgs) *string { return &a.PatchRule })(rule)
}

// Precision says what the model computes in: "auto" (bfloat16 on an NVIDIA GPU, float32 elsewhere, the default), "float32", "bfloat16".
// Vectors are float32 in any case; bfloat16 moves them by about a hundredth of their scale.
func Precision(dtype string) EmbedOption {
	return choice("precision", Precisions, func(a *EmbedArgs) *string { return &a.Precision })(dtype)
}

// Embed adds the image's vectors: full, the whole picture's; and where the table has a column mask, object_only and
// background_only, from the same pass with the other patches hidden, and object_patches and background_patches, their
// numbers. A component without patches (an image without a mask, too) has no vector.
//
// model is a name that [Known] lists, or a folder with config.json and model.safetensors as transformers or timm write them.
func Embed(model string, t datasets.Table, options ...EmbedOption) datasets.Table {
	args := EmbedArgs{Model: model, Masking: Maskings[0], Fill: Fills[0], PatchRule: PatchRules[0]}
	for _, o := range options {
		if err := o(&args); err != nil {
			return t.Fail(fmt.Errorf("Embed: %w", err))
		}
	}
	if !slices.ContainsFunc(Known(), func(m Model) bool { return m.Name == model }) {
		abs, err := filepath.Abs(model)
		if err == nil {
			_, err = os.Stat(filepath.Join(abs, "config.json"))
		}
		if err != nil {
			return t.Fail(fmt.Errorf("Embed: no model %q: it is no name that `antipode models` lists and no folder with a config.json", model))
		}
		args.Model = abs
	}
	t = t.Need("id", client.Text).Need("image", client.Picture)
	return t.Derive(EmbedOp, args, EmbedColumns(t.IsOpen() || slices.ContainsFunc(t.Columns(), func(c client.ColumnSpec) bool { return c.Name == "mask" }))...)
}

// EmbedColumns are the columns that Embed adds to a table with or without masks.
func EmbedColumns(masked bool) []client.ColumnSpec {
	if !masked {
		return datasets.Columns("full:vector")
	}
	return datasets.Columns("full:vector", "object_only:vector", "background_only:vector", "object_patches:number", "background_patches:number")
}

package gomlxmodels

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/internal/glob"
)

// Status says how the weights of a known model are obtained.
type Status string

// The values of Model.Status.
const (
	Available  Status = ""            // its publisher's repository on the hub
	BuiltIn    Status = "built in"    // part of Antipode
	Mirror     Status = "mirror"      // its publisher removed it: the repository is an unofficial copy
	Archive    Status = "archive"     // its authors' archive, which the user unpacks: --model takes the folder
	ImportOnly Status = "import only" // Antipode does not run it: what it generated elsewhere is imported
)

// Model is a model that is known by name.
type Model struct {
	Name          string
	Hub           string // OWNER/NAME on the Hugging Face hub; "" = not on the hub
	Formerly      string // OWNER/NAME by which papers cite it, which no longer exists; "" = none
	With          string // another model that it needs and that is pulled with it; "" = none
	Commit        string // at which it is pulled; "" = whatever the repository's main is
	Status        Status
	Architecture  string // the class of transformers, diffusers, timm or sentence-transformers that saves it
	Parameters    string // their number, for display; "" = not known
	Bytes         int64  // of the files that are pulled, about: most are four bytes per parameter; 0 = not known
	License       string // as its card says; "" = not stated there, or not known
	NonCommercial bool   // the license forbids commercial use
	About         string // what it does, and the audits that use it
	Columns       string // the columns it adds to a table; "" = none
}

// ArchipelagoViT is the built-in image encoder, trained on the Archipelago.
const ArchipelagoViT = "archipelago-vit"

// Known lists the models known by name: those that are part of Antipode, then those of the published audits, most of
// which `antipode models pull NAME` downloads.
func Known() []Model {
	return slices.Clone(known())
}

// Runs returns an error for a model that Antipode does not run under its name.
func (m *Model) Runs() error {
	if m.Status == Archive {
		return fmt.Errorf("%s is not on the hub. Fix: unpack its authors' archive and give the folder: --model DIR",
			m.Name)
	}
	if m.Status != ImportOnly {
		return nil
	}
	return fmt.Errorf("%s is not run by Antipode. Fix: run it elsewhere; `antipode import --model %s` makes a table "+
		"of its images", m.Name, m.Name)
}

// InceptionFiles are the names of files of an Inception v3, without a config.json: of the network of FID as pytorch-fid
// and torch-fidelity name it, and of torchvision's.
var InceptionFiles = []string{"pt_inception-*.pth", "weights-inception-*.pth", "inception_v3*.pth"}

// isInception reports whether a folder has one of [InceptionFiles].
func isInception(dir string) bool {
	return slices.ContainsFunc(InceptionFiles, func(pattern string) bool {
		return len(glob.In(dir, pattern)) > 0
	})
}

// Pair is a detector and a segmenter with one name.
type Pair struct{ Name, Segmenter, Detector, Profile, About string }

// Pairs lists the pairs.
func Pairs() []Pair {
	return []Pair{
		{"langsam", "sam-vit-huge", "grounding-dino-base", ProfileLangSAM2024, "LangSAM: Decomposed-DIG"},
		{"langsam-small", "sam-vit-base", "grounding-dino-tiny", ProfileLangSAM2024,
			"the same with the smallest models"},
		{"langsam2", "sam2.1-hiera-small", "grounding-dino-base", ProfileTransformers, "GroundingDINO and SAM 2.1"},
		{"owlsam2", "sam2.1-hiera-small", "owlv2-base-patch16-ensemble", ProfileTransformers,
			"OWLv2 and SAM 2.1, a second opinion with another detector"},
	}
}

// Vectors returns the vectors that a model makes, by the names of their columns, as Columns of a known model has them
// (among other columns). Of a folder it reads the config.json. It returns nil for a model that is not known.
func Vectors(model string) []string {
	name, _, _ := strings.Cut(model, "@")
	for _, m := range Known() {
		if m.Name == model || m.Hub != "" && m.Hub == name {
			return strings.Fields(m.Columns)
		}
	}
	if _, err := os.Stat(filepath.Join(model, "modules.json")); err == nil {
		return []string{Text}
	}
	var config struct {
		ModelType     string `json:"model_type"`
		Architecture  string
		Architectures []string
	}
	data, err := os.ReadFile(filepath.Join(model, "config.json"))
	if _, open := os.Stat(filepath.Join(model, openCLIP)); err != nil && open == nil {
		return []string{ClipImage, ClipImagePooled, ClipText}
	}
	if err != nil && isInception(model) {
		return []string{Full, Logits}
	}
	if err != nil || json.Unmarshal(data, &config) != nil {
		return nil
	}
	switch {
	case slices.Contains(config.Architectures, "Blip2ForImageTextRetrieval"):
		return []string{Blip2Image, Blip2Text}
	case config.ModelType == "blip-2":
		return []string{Blip2Image}
	case config.ModelType == "clip" || config.ModelType == "altclip":
		return []string{ClipImage, ClipImagePooled, ClipText}
	case config.Architecture == "inception_v3":
		return []string{Full, Logits}
	case config.ModelType == "siglip":
		return []string{Full, ClipImage, ClipText}
	case slices.Contains([]string{"vit", "dinov2", "dinov2_with_registers"}, config.ModelType):
		return []string{Full}
	}
	return nil
}

// FindPair returns the pair of a name.
func FindPair(name string) (Pair, bool) {
	return first(Pairs(), func(p Pair) bool { return p.Name == name })
}

// Find returns the model known under a name.
func Find(name string) (Model, bool) {
	return first(Known(), func(m Model) bool { return m.Name == name })
}

// FindFormer returns the known model that was once a repository of the hub.
func FindFormer(repository string) (Model, bool) {
	return first(Known(), func(m Model) bool { return m.Formerly != "" && m.Formerly == repository })
}

// first returns the first element that is looked for.
func first[T any](list []T, is func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i], true
	}
	return found, false
}

// Nearest returns the end of a message about an unknown model: `; did you mean "NAME"?` where a known name is
// similar, or "".
func Nearest(name string) string {
	var names []string
	for _, m := range Known() {
		names = append(names, m.Name)
	}
	return table.Hint(name, append(names, pairNames()...))
}

func pairNames() (names []string) {
	for _, p := range Pairs() {
		names = append(names, p.Name)
	}
	return names
}

// openCLIP is the configuration in a folder of open_clip.
const openCLIP = "open_clip_config.json"

// hubName matches a model on the hub, OWNER/NAME or OWNER/NAME@REVISION.
var hubName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*(@[A-Za-z0-9._/-]+)?$`)

// resolve returns a model as a plan names it: a known name or a name on the hub unchanged, a folder by its absolute
// path.
func resolve(model string) (string, error) {
	if m, known := Find(model); known {
		return model, m.Runs()
	}
	abs, err := filepath.Abs(model)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"config.json", "modules.json", "model_index.json", "config.yaml", openCLIP} {
		if _, err := os.Stat(filepath.Join(abs, name)); err == nil {
			return abs, nil
		}
	}
	if isInception(abs) {
		return abs, nil
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		if hubName.MatchString(model) {
			return model, nil
		}
		return "", fmt.Errorf("no model %q and no folder %s: give a name that `antipode models` lists, a name on the "+
			"hub (OWNER/NAME), or a folder with a config.json%s", model, abs, Nearest(model))
	}
	return "", fmt.Errorf("no model in the folder %s: it has no config.json, modules.json, "+
		"model_index.json or config.yaml", abs)
}

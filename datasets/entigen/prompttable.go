package entigen

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
)

// Pictures says how many pictures a prompt table asks for.
type Pictures struct {
	Pictures int    `json:"pictures,omitempty"` // of each prompt: rows of it; 0 = 1 (the paper: 9)
	Seed     int64  `json:"seed,omitempty"`     // of each prompt's first picture; the others count up (the paper: 0 to 8)
	Model    string `json:"model,omitempty"`    // who is asked: a column model, and MODEL/ before each id
}

var (
	promptColumns  = datasets.Columns("id:text", "model:text", "category:text", "axis:text", "kind:text", "prompt_id:text", "attribute:text", "prompt:text", "group_a:text", "group_b:text", "removed:text", "number:number", "seed:number")
	lintColumns    = datasets.Columns("prompt_id:text", "category:text", "word:text", "class:text", "at:number", "text:text")
	printedColumns = datasets.Columns("id:text", "table:number", "category:text", "prompt_id:text", "kind:text", "axis:text", "judge:text", "model:text", "printed:text", "diversity:number")
	captionColumns = datasets.Columns("id:text", "caption:text", "link:text")
)

// Prompts is the table of the prompt set, see [Build]: id, model, category, axis and kind (what the added sentence argues about), prompt_id (original, P-G1, …),
// attribute, prompt, group_a and group_b (of the axis), removed (blank), number (of the picture, from 0) and seed.
func Prompts(o PromptOptions, p Pictures) datasets.Table {
	return datasets.New("entigen-prompts", promptArgs[PromptOptions]{o, p}, promptColumns).Named("ENTIGEN prompts")
}

// Ablations is the table of [BuildAblations], with the columns of [Prompts]; removed says what was taken out.
func Ablations(o AblationOptions, p Pictures) datasets.Table {
	return datasets.New("entigen-ablations", promptArgs[AblationOptions]{o, p}, promptColumns).Named("ENTIGEN ablated prompts")
}

// Cues is the table of visual cues in the interventions of a prompt set, see [Lint]: prompt_id, category, word, class, at (byte offset) and text. No row is what one wants.
func Cues(o PromptOptions) datasets.Table {
	return datasets.New("entigen-cues", o, lintColumns).Named("ENTIGEN visual cues")
}

// Printed is the table of the paper's Tables 1, 2, 3 and 6, one value a row: id, table, category, prompt_id, kind, axis, judge (human or clip), model, printed (the
// text) and diversity (the number; good pictures per attribute in Table 3).
func Printed() datasets.Table {
	return datasets.New("entigen-printed", nil, printedColumns).Named("ENTIGEN as printed")
}

// Captions is the table of a text file of captions, one a line, as the training captions that section 4 of the paper looks into: id, caption, link. After a tab a line
// may hold the picture's address (Conceptual Captions has it so). Blank lines are passed over.
func Captions(path string) datasets.Table {
	abs, err := filepath.Abs(path)
	if err != nil {
		return datasets.Table{}.Fail(err)
	}
	return datasets.New("entigen-caption-file", datasets.ReadFileArgs{Path: abs}, captionColumns).Named("captions")
}

type promptArgs[O any] struct {
	Options O `json:"options"`
	Pictures
}

func init() {
	manifest.RegisterTable("entigen-prompts", func() datasets.Table { return Prompts(PromptOptions{}, Pictures{}) })
	manifest.RegisterTable("entigen-printed", Printed)
	registerPrompts("entigen-prompts", Build)
	registerPrompts("entigen-ablations", BuildAblations)
	datasets.RegisterSource("entigen-cues", func(_ context.Context, raw json.RawMessage, _ datasets.SourceEnv) (*datasets.Frame, error) {
		var o PromptOptions
		if err := decode(raw, &o); err != nil {
			return nil, err
		}
		return cueFrame(o)
	})
	datasets.RegisterSource("entigen-printed", func(context.Context, json.RawMessage, datasets.SourceEnv) (*datasets.Frame, error) {
		f := client.NewFrame(printedColumns)
		for _, c := range PrintedTables() {
			id := fmt.Sprintf("%d/%s/%s/%s/%s/%s", c.Table, c.Category, c.Prompt, c.Axis, c.Judge, c.Model)
			f.Add([]string{id, c.Category, c.Prompt, Kind(c.Prompt), c.Axis, c.Judge, c.Model, c.Text}, float64(c.Table), c.Value)
		}
		return f, nil
	})
	datasets.RegisterSource("entigen-caption-file", func(_ context.Context, raw json.RawMessage, _ datasets.SourceEnv) (*datasets.Frame, error) {
		var a datasets.ReadFileArgs
		if err := decode(raw, &a); err != nil {
			return nil, err
		}
		file, err := os.Open(a.Path)
		if err != nil {
			return nil, fmt.Errorf("captions: %w", err)
		}
		defer file.Close()
		return readCaptions(filepath.Base(a.Path), file)
	})
}

func decode(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("entigen: %w", err)
	}
	return nil
}

func registerPrompts[O any](op string, build func(O) ([]Prompt, error)) {
	datasets.RegisterSource(op, func(_ context.Context, raw json.RawMessage, _ datasets.SourceEnv) (*datasets.Frame, error) {
		var a promptArgs[O]
		if err := decode(raw, &a); err != nil {
			return nil, err
		}
		if a.Pictures.Pictures < 0 {
			return nil, fmt.Errorf("entigen: %d pictures of each prompt: give 1 or more", a.Pictures.Pictures)
		}
		prompts, err := build(a.Options)
		if err != nil {
			return nil, err
		}
		f := client.NewFrame(promptColumns)
		for _, p := range prompts {
			for n := range max(1, a.Pictures.Pictures) {
				id := strings.Join([]string{p.Category, p.ID, p.Attribute, fmt.Sprint(n)}, "/")
				if a.Model != "" {
					id = a.Model + "/" + id
				}
				f.Add([]string{id, a.Model, p.Category, p.Axis, p.Kind, p.ID, p.Attribute, p.Text, p.Groups[0], p.Groups[1], p.Removed}, float64(n), float64(a.Seed+int64(n)))
			}
		}
		return f, nil
	})
}

func cueFrame(o PromptOptions) (*datasets.Frame, error) {
	axes, _, interventions, err := o.sets()
	if err != nil {
		return nil, err
	}
	f := client.NewFrame(lintColumns)
	for _, i := range interventions {
		for _, c := range Lint(i.Text, "", axes...) {
			f.Add([]string{i.ID, i.Category, c.Word, c.Class, i.Text}, float64(c.At))
		}
	}
	return f, nil
}

// readCaptions reads captions line by line. name is the file's name for messages.
func readCaptions(name string, r io.Reader) (*datasets.Frame, error) {
	f := client.NewFrame(captionColumns)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("%s, line %d: it is not UTF-8 text", name, n)
		}
		caption, link, _ := strings.Cut(string(line), "\t")
		f.Add([]string{fmt.Sprintf("line %08d", n), caption, link})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s, after %d captions: %w; a caption is a line of at most 1 MiB", name, f.Len(), err)
	}
	return f, nil
}

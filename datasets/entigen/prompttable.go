package entigen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/table"
)

// promptArgs are the arguments of a prompt table in a plan.
type promptArgs[O any] struct {
	Options O      `json:"options"`
	N       int    `json:"n,omitempty" help:"images, and so rows, of each prompt; 0 = 1"`
	Seed    int64  `json:"seed,omitempty" help:"of each prompt's first image"`
	Model   string `json:"model,omitempty" help:"the column model, and MODEL/ before each id"`
}

var (
	promptTable = definePrompts("entigen-prompts", "ENTIGEN prompts", `{"n":2,"axes":[{"name":"perceived `+
		`age","groups":["young","old"]}],"categories":[{"name":"profession","attributes":["baker"]}],`+
		`"interventions":[{"id":"P-A1","category":"profession","axis":"perceived age","text":"if all individuals `+
		`can be a {attribute} irrespective of their age"}]}`, Build)
	ablations = definePrompts("entigen-ablations", "ENTIGEN ablated prompts",
		`{"attributes":["makeup"],"n":2}`, BuildAblations)
	cueTable = source.Define(source.Definition[PromptOptions]{
		Name: "entigen-cues", Title: "ENTIGEN visual cues",
		Columns: "prompt_id:text category:text word:text class:text at:number text:text",
		Read: func(o PromptOptions, _ *datasets.Call, f *datasets.Frame) error {
			axes, _, interventions, err := o.sets()
			for _, i := range interventions {
				for _, c := range Lint(i.Text, "", axes...) {
					f.Add([]string{i.ID, i.Category, c.Word, c.Class, i.Text}, float64(c.At))
				}
			}
			return err
		}})
	printed = source.Define(source.Definition[struct{}]{
		Name: "entigen-printed", Title: "ENTIGEN as printed", Listed: true,
		Columns: "id:text paper:text item:text table:number category:text prompt_id:text kind:text axis:text " +
			"judge:text model:text printed:text diversity:number",
		Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
			for _, c := range PrintedTables() {
				id := fmt.Sprintf("%d/%s/%s/%s/%s/%s", c.Table, c.Category, c.Prompt, c.Axis, c.Judge, c.Model)
				f.Add([]string{id, paper, c.Item(), c.Category, c.Prompt, Kind(c.Prompt), c.Axis, c.Judge, c.Model,
					c.Text}, float64(c.Table), c.Value)
			}
			return nil
		}})
	claims = source.Define(source.Definition[struct{}]{
		Name: "entigen-claims", Title: "ENTIGEN, claims as printed", Listed: true,
		Columns: "paper:text item:text printed:text",
		Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
			return source.AddPrinted(f, paper, claimsCSV)
		}})
	captionFile = source.Define(source.Definition[datasets.ReadFileArgs]{
		Name: "entigen-caption-file", Title: "captions", Columns: "id:text caption:text link:text",
		Read: func(a datasets.ReadFileArgs, _ *datasets.Call, f *datasets.Frame) error {
			file, err := os.Open(a.Path)
			if err != nil {
				return fmt.Errorf("captions: %w", err)
			}
			defer file.Close()
			return readCaptions(filepath.Base(a.Path), file, f)
		}})
)

// Prompts is the table of the prompt set, see [Build]: id, model, category, axis and kind (the subject of the added
// sentence), prompt_id (original, P-G1, …), attribute, prompt, group_a and group_b (of the axis), removed
// (blank), number (of the image, from 0) and seed.
func Prompts(options ...PromptOptions) datasets.Table {
	o, err := table.One(options)
	if err != nil {
		return datasets.Failed(err)
	}
	return promptTable.Table(promptArgs[PromptOptions]{o, o.N, o.Seed, o.Model})
}

// Ablations is the table of [BuildAblations], with the columns of [Prompts]; removed lists the removed spans.
func Ablations(options ...AblationOptions) datasets.Table {
	o, err := table.One(options)
	if err != nil {
		return datasets.Failed(err)
	}
	return ablations.Table(promptArgs[AblationOptions]{o, o.N, o.Seed, o.Model})
}

// Cues is the table of visual cues in the interventions of a prompt set, see [Lint]: prompt_id, category, word,
// class, at (byte offset) and text. It has no rows if there are no cues.
func Cues(options ...PromptOptions) datasets.Table { return cueTable.Table(options...) }

// Printed is the table of the paper's Tables 1, 2, 3 and 6, with a row for each value: id, paper and item (its name in
// a ledger), table, category, prompt_id, kind, axis, judge (human or clip), model, printed (the text) and diversity
// (the number; good images per attribute in Table 3).
func Printed() datasets.Table { return printed.Table() }

// Claims is the table of the paper's other numbers and of its findings, for a ledger: paper, item and printed (the
// number, or the section of a finding without one).
func Claims() datasets.Table { return claims.Table() }

// Captions is the table of a text file with a caption on each line, such as the training captions that section 4 of the
// paper searches: id, caption, link. A tab separates the caption from the image's address, which is optional (the
// format of Conceptual Captions). Blank lines are skipped.
func Captions(path string) datasets.Table {
	abs, err := filepath.Abs(path)
	if err != nil {
		return datasets.Failed(err)
	}
	return captionFile.Table(datasets.ReadFileArgs{Path: abs})
}

// definePrompts defines a table of prompts with a row for each requested image.
func definePrompts[O any](name, title, example string,
	build func(O) ([]Prompt, error)) source.Source[promptArgs[O]] {
	return source.Define(source.Definition[promptArgs[O]]{Name: name, Title: title, Listed: true,
		Parse: parse[O], Example: example,
		Columns: "id:text model:text category:text axis:text kind:text prompt_id:text attribute:text prompt:text " +
			"group_a:text group_b:text removed:text number:number seed:number",
		Read: func(a promptArgs[O], _ *datasets.Call, f *datasets.Frame) error {
			if a.N < 0 {
				return fmt.Errorf("entigen: %d images of each prompt; use 1 or more", a.N)
			}
			prompts, err := build(a.Options)
			for _, p := range prompts {
				for n := range max(1, a.N) {
					id := strings.Join([]string{p.Category, p.ID, p.Attribute, fmt.Sprint(n)}, "/")
					if a.Model != "" {
						id = a.Model + "/" + id
					}
					f.Add([]string{id, a.Model, p.Category, p.Axis, p.Kind, p.ID, p.Attribute, p.Text, p.Groups[0],
						p.Groups[1], p.Removed}, float64(n), float64(a.Seed+int64(n)))
				}
			}
			return err
		}})
}

// parse reads the options of a listed table: those of the prompts, n, seed and model, in one JSON object.
func parse[O any](data []byte) (a promptArgs[O], err error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return a, err
	}
	for name, to := range map[string]any{"n": &a.N, "seed": &a.Seed, "model": &a.Model} {
		if raw, given := fields[name]; given {
			delete(fields, name)
			if err := json.Unmarshal(raw, to); err != nil {
				return a, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if data, err = json.Marshal(fields); err != nil {
		return a, err
	}
	a.Options, err = source.Strict[O](data)
	return a, err
}

// readCaptions reads captions line by line. name is the file's name for messages.
func readCaptions(name string, r io.Reader, f *datasets.Frame) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if !utf8.Valid(line) {
			return fmt.Errorf("%s, line %d: it is not UTF-8 text", name, n)
		}
		caption, link, _ := strings.Cut(string(line), "\t")
		if caption = strings.TrimSpace(caption); caption != "" {
			f.Add([]string{fmt.Sprintf("line %08d", n), caption, strings.TrimSpace(link)})
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s, after %d captions: %w; a caption is a line of at most 1 MiB", name, f.Len(), err)
	}
	return nil
}

package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/gomlxmodels"
	"antipode/kernel/cell"
	"antipode/kernel/client"
	"antipode/metrics"
)

// stageFlags are those that every stage takes.
type stageFlags struct {
	in, out, root, columns string
	batch                  int
	seed                   int64
	skipBad                bool
	all                    bool // without columns, write every one
	computed               int  // items that the command computed before, which save finds
}

func (s *stageFlags) add(fs *flag.FlagSet) {
	fs.StringVar(&s.in, "in", "", "the `TABLE` to read: .csv or .parquet")
	fs.StringVar(&s.root, "root", "", "a parent `DIR` that images and masks may lie in")
	fs.IntVar(&s.batch, "batch", 0, "rows a model takes at a time; 0 = its own choice")
	fs.Int64Var(&s.seed, "seed", 0, "the seed of what is drawn at random")
	s.addOut(fs)
}

// addOut adds those about the table that is written.
func (s *stageFlags) addOut(fs *flag.FlagSet) {
	fs.StringVar(&s.out, "out", "", "the `TABLE` to write: .csv or .parquet")
	fs.StringVar(&s.columns, "columns", "", "the columns to write, `A,B,…` (id always), or all; default: all but earlier vectors")
	fs.BoolVar(&s.skipBad, "skip-bad", false, "leave bad rows out and list them")
}

func (s *stageFlags) table() (datasets.Table, error) {
	if s.in == "" || s.out == "" {
		return datasets.Table{}, usage("give --in TABLE and --out TABLE")
	}
	if err := tableName(s.out); err != nil {
		return datasets.Table{}, err
	}
	return open(s.in, s.root)
}

func tableName(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".parquet":
		return nil
	}
	return usage("%s: the name of a table ends in .csv or .parquet", path)
}

// archipelagoPhotos is the name of the reference images of the built-in world, for commands in place of a file.
const archipelagoPhotos = "archipelago-photos"

func init() {
	manifest.RegisterTable(archipelagoPhotos, func() datasets.Table {
		return datasets.Archipelago(datasets.Seed(7), datasets.PerCell(8)).Photos()
	})
}

// open is the table of a file or folder, or of a released table that package manifest names.
func open(path, root string) (datasets.Table, error) {
	if t, known := manifest.Table(path); known {
		return t, nil
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		if err := datasets.TableFormat(path); err != nil && !datasets.IsURL(path) {
			return datasets.Table{}, usage("%w", err)
		}
	}
	return datasets.Pictures(path, "", datasets.Root(root)), nil
}

// save runs a stage's table into the file and prints what was done.
func (s *stageFlags) save(ctx context.Context, t datasets.Table) error {
	plan, err := t.Plan()
	if err != nil {
		return err
	}
	abs, err := filepath.Abs(s.out)
	if err != nil {
		return err
	}
	req := client.Request{Plan: plan, SkipBad: s.skipBad, Batch: s.batch, Counts: true, Save: abs, AllColumns: s.all}
	if s.columns == "all" {
		req.AllColumns = true
	} else {
		req.Columns = datasets.SplitColumns(s.columns)
	}
	res, err := request(ctx, req)
	if err != nil {
		return err
	}
	res.Computed, res.Found = res.Computed+s.computed, max(0, res.Found-s.computed)
	fmt.Print(datasets.Summary(s.out, res))
	for _, b := range res.Bad {
		fmt.Println("left out: " + oneLine(b))
	}
	return nil
}

// request sends a plan to the backend, starting it where needed, with a progress bar on the terminal. A program that evaluates its
// plans itself needs no backend.
func request(ctx context.Context, req client.Request) (*client.Result, error) {
	if client.Registered() == nil {
		if _, _, err := prepare(ctx); err != nil {
			return nil, err
		}
	}
	exec, err := client.Default(func(line string) { say("%s", line) })
	if err != nil {
		return nil, err
	}
	bar := cell.NewProgress()
	defer bar.Close()
	return exec.Run(ctx, req, bar.Update)
}

func embed(ctx context.Context, args []string) error {
	var s stageFlags
	var model, masking, fill, rule, precision, vector, text, pooling string
	fs := flags("embed", "--model NAME|DIR --in TABLE --out TABLE [--vector NAME] [--text COLUMN]")
	s.add(fs)
	fs.StringVar(&model, "model", "", "the model: a `NAME` that `antipode models` lists, OWNER/NAME[@REVISION] of the hub once pulled, or a folder as Hugging Face lays it out")
	fs.StringVar(&masking, "masking", "drop", "how patches are hidden: drop, neginf, zeroprob")
	fs.StringVar(&fill, "fill", "none", "what hidden pixels become: none, white, black")
	fs.StringVar(&precision, "precision", "auto", "what the model computes in: auto (bfloat16 on an NVIDIA GPU, else float32), float32, bfloat16")
	fs.StringVar(&rule, "patches", "any", "which patches are the object's: any, resized")
	fs.StringVar(&vector, "vector", "", "the `NAME` of the vectors to make: full (of pictures; with masks, object_only and background_only too), clip_image, clip_text, blip2_image, blip2_text, text; default full, with --text text")
	fs.StringVar(&text, "text", "", "the text `COLUMN` to embed, for clip_text, blip2_text and text; with --pooling projected_max that which each image is compared with")
	fs.StringVar(&pooling, "pooling", "auto", "which output the vector is: auto; of a CLIP projected, pooled; of an encoder of sentences mean, cls, pooled; of a BLIP-2's images pooled, patches, queries, projected, projected_first, projected_max")
	if rest, err := parse(fs, args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usage("embed takes no argument %q", rest[0])
	}
	if model == "" {
		return usage("give --model NAME or --model DIR")
	}
	t, err := s.table()
	if err != nil {
		return err
	}
	options := []gomlxmodels.EmbedOption{gomlxmodels.Precision(precision), gomlxmodels.Pooling(pooling), gomlxmodels.Masking(masking), gomlxmodels.Fill(fill), gomlxmodels.PatchRule(rule)}
	if vector != "" {
		options = append(options, gomlxmodels.Vector(vector))
	}
	if text != "" && vector == gomlxmodels.Blip2Image {
		return s.save(ctx, gomlxmodels.Embed(model, t, append(options, gomlxmodels.Against(text))...))
	}
	if text != "" {
		return s.save(ctx, gomlxmodels.EmbedText(model, t, text, options...))
	}
	if vector == gomlxmodels.ClipText || vector == gomlxmodels.Blip2Text || vector == gomlxmodels.Text {
		return usage("--vector %s embeds texts: name their column with --text", vector)
	}
	return s.save(ctx, gomlxmodels.Embed(model, t, options...))
}

func segment(ctx context.Context, args []string) error {
	var s stageFlags
	var masks, model, object, prompt, separator, components, presence string
	var threshold float64
	fs := flags("segment", "--masks DIR | --model NAME|DIR --object COLUMN   --in TABLE --out TABLE")
	s.add(fs)
	fs.StringVar(&masks, "masks", "", "the `DIR` that holds the masks: ID.png, or the image's own name with .png (non-zero = object)")
	fs.StringVar(&model, "model", "", "the model that finds objects by their names: a `NAME` that `antipode models` lists, OWNER/NAME[@REVISION] of the hub once pulled, or a folder (CLIPSeg)")
	fs.StringVar(&object, "object", "", "the text `COLUMN` that names the object in each image")
	fs.StringVar(&prompt, "prompt", "%s", "what the model is asked, with %s for the object's name")
	fs.StringVar(&separator, "separator", "|", "the `TEXT` between several objects in a cell, whose masks are united")
	fs.Float64Var(&threshold, "threshold", 0.5, "the probability from which on a pixel is the object's")
	fs.StringVar(&components, "components", "all", "which connected regions are kept: all, largest, \"above AREA\" (a share of the picture)")
	fs.StringVar(&presence, "presence", "", "a CLIP (`NAME` or folder) that says in a column presence how surely the object is in the image at all")
	if rest, err := parse(fs, args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usage("segment takes no argument %q", rest[0])
	}
	if (masks == "") == (model == "" && object == "") {
		return usage("give --masks DIR, or --model and --object COLUMN")
	}
	t, err := s.table()
	if err != nil {
		return err
	}
	if masks != "" {
		return s.save(ctx, t.MasksFrom(masks))
	}
	if model == "" || object == "" {
		return usage("--model says which model finds the object, --object COLUMN which column names it: give both")
	}
	options := []gomlxmodels.SegmentOption{gomlxmodels.Prompt(prompt), gomlxmodels.Separator(separator), gomlxmodels.Threshold(threshold), gomlxmodels.Components(components)}
	if presence != "" {
		options = append(options, gomlxmodels.Presence(presence))
	}
	return s.save(ctx, gomlxmodels.Segment(model, t, object, options...))
}

// roleFlag is the flag that names a metric's input.
func roleFlag(role string) string {
	if role == "generated" {
		return "gen"
	}
	return role
}

func score(ctx context.Context, args []string) error {
	name := peek(args, "metric")
	if name == "" {
		return listMetrics(args)
	}
	m, err := metrics.Find(name)
	if err != nil {
		return usage("no metric %q: `antipode score` lists the metrics%s", name, client.Hint(name, metrics.Names()))
	}
	fs := flags("score", "--metric "+name+" … --out FILE")
	var out, by, root, profile string
	var seed int64
	var skipBad bool
	fs.String("metric", "", "the metric: "+m.Title)
	fs.StringVar(&out, "out", "", "the `FILE` to write: .csv or .parquet")
	fs.StringVar(&by, "by", "", "group rows by `COLUMN[,COLUMN]`")
	fs.StringVar(&root, "root", "", "a parent `DIR` that images and masks may lie in")
	fs.Int64Var(&seed, "seed", 0, "the seed of what is drawn at random")
	fs.BoolVar(&skipBad, "skip-bad", false, "leave bad rows out and list them")
	inputs := map[string]*string{}
	for _, in := range m.Inputs {
		about := "a `TABLE`: " + in.About
		if len(in.Columns) > 0 {
			about += " (columns " + client.NameList(in.Columns) + ")"
		}
		inputs[in.Role] = fs.String(roleFlag(in.Role), "", about)
	}
	options := map[string]*string{}
	for _, o := range m.Options {
		about := o.About
		if len(o.Values) > 0 {
			about += ": " + strings.Join(o.Values, ", ")
		}
		options[o.Name] = fs.String(o.Name, o.Default, about)
	}
	if _, own := options["profile"]; !own {
		fs.StringVar(&profile, "profile", "", "this metric has no profiles")
	}
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage("score takes no argument %q", rest[0])
	}
	if profile != "" {
		return usage("metric %s has no profiles", name)
	}
	tables := map[string]datasets.Table{}
	for role, path := range inputs {
		if *path == "" {
			continue
		}
		if tables[role], err = open(*path, root); err != nil {
			return err
		}
	}
	given := map[string]string{}
	for option, v := range options {
		given[option] = *v
	}
	t := metrics.Score(metrics.Args{Metric: name, Options: given, By: datasets.SplitColumns(by), Seed: seed}, tables)
	if out == "" {
		return printTable(ctx, t)
	}
	if err := tableName(out); err != nil {
		return err
	}
	return (&stageFlags{out: out, skipBad: skipBad}).save(ctx, t)
}

// listMetrics prints the metrics, unless there are arguments, which need one of them.
func listMetrics(args []string) error {
	fs := flags("score", "--metric NAME … --out FILE")
	fs.String("metric", "", "the `NAME` of a metric; with it --help prints its inputs and options")
	if len(args) > 0 {
		if _, err := parse(fs, args[:1]); errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usage("give --metric NAME; `antipode score` lists the metrics")
	}
	for _, n := range metrics.Names() {
		m, _ := metrics.Find(n)
		fmt.Printf("  %-24s %s\n", n, m.Title)
	}
	fmt.Println("\nInputs and options of a metric: antipode score --metric NAME --help")
	return nil
}

func printTable(ctx context.Context, t datasets.Table) error {
	plan, err := t.Plan()
	if err != nil {
		return err
	}
	res, err := request(ctx, client.Request{Plan: plan})
	if err != nil {
		return err
	}
	fmt.Print(datasets.Format(res.Frame, 0))
	return nil
}

// peek finds the value of a flag before the flags are known.
func peek(args []string, name string) string {
	for i, a := range args {
		a = strings.TrimLeft(a, "-")
		if a == name && i+1 < len(args) {
			return args[i+1]
		}
		if v, ok := strings.CutPrefix(a, name+"="); ok && strings.HasPrefix(args[i], "-") {
			return v
		}
	}
	return ""
}

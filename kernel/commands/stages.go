package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cell"
	"antipode/datasets/client"
	"antipode/datasets/manifest"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/objecturl"
)

// readFlags are those about the images and masks of tables.
type readFlags struct{ read datasets.ImagesOptions }

// addRead adds those whose names no other flag has: an operation's --alpha is another one.
func (r *readFlags) addRead(fs *flag.FlagSet) {
	without := []string{"repeated-ids"}
	fs.VisitAll(func(f *flag.Flag) { without = append(without, f.Name) })
	addOptions(fs, &r.read.FileOptions, without...)
}

// input returns how the file of an operation's input is read.
func (r *readFlags) input(in *operation.Input) datasets.ImagesOptions {
	o := r.read
	o.RepeatedIDs = in != nil && in.RepeatedIDs
	return o
}

// stageFlags are those that every stage takes.
type stageFlags struct {
	readFlags
	in, out, columns string
	model            string
	batch            int
	skipBad          bool
	retryFailed      bool
	all              bool // without columns, write every one
	computed         int  // items that the command computed before, which save finds
}

func (s *stageFlags) add(fs *flag.FlagSet) {
	fs.StringVar(&s.in, "in", "", "the `TABLE` to read: .csv, .parquet, of a disk or s3://BUCKET/KEY, a folder of "+
		"images, or a table by name, or NAME:OPTIONS (JSON, or a file of it): "+strings.Join(manifest.Tables(), ", "))
	s.addRead(fs)
	fs.IntVar(&s.batch, "batch", 0, "rows a model takes at a time; 0 = its own choice")
	if fs.Lookup("seed") == nil {
		fs.Int64("seed", 0, "has no effect: nothing is sampled")
	}
	fs.Func("retry", "failed: compute the rows again whose stored `OUTCOME` is failed", func(value string) error {
		if value != "failed" {
			return fmt.Errorf("only rows that failed are computed again: --retry failed")
		}
		s.retryFailed = true
		return nil
	})
	s.addOut(fs)
}

// addOut adds those about the table that is written.
func (s *stageFlags) addOut(fs *flag.FlagSet) {
	fs.StringVar(&s.out, "out", "", "the `TABLE` to write: .csv or .parquet, on a disk or s3://BUCKET/KEY; - writes "+
		"CSV to standard output")
	fs.StringVar(&s.columns, "columns", "", "the columns to write, `A,B,…` (id always), or all; default: all but "+
		"earlier vectors")
	fs.BoolVar(&s.skipBad, "skip-bad", false, "leave bad rows out and list them")
}

func (s *stageFlags) table(ctx context.Context) (datasets.Table, error) {
	if s.in == "" {
		return datasets.Table{}, usage("--in TABLE is missing: the table to read")
	}
	if s.out == "" {
		return datasets.Table{}, usage("--out TABLE is missing: the table to write")
	}
	if err := s.outName(); err != nil {
		return datasets.Table{}, err
	}
	return s.open(ctx, s.in, s.read)
}

// open opens a table: one that an earlier command of a job writes, or a file.
func (s *stageFlags) open(ctx context.Context, path string, o datasets.ImagesOptions) (datasets.Table, error) {
	if t, made := madeBefore(ctx, path); made {
		return t, nil
	}
	return openInput(path, o)
}

// pipe is the --out that writes CSV to standard output.
const pipe = "-"

// outName checks --out of a command that may write to a pipe.
func (s *stageFlags) outName() error {
	if s.out == pipe {
		return nil
	}
	return tableName(s.out)
}

func tableName(path string) error {
	if _, err := objecturl.Resolve(path); err != nil {
		return usageError{err}
	}
	if datasets.IsURL(path) && !objecturl.Is(path) {
		return usage("%s: a table is written to a file or to an object, s3://BUCKET/NAME.parquet", path)
	}
	switch objecturl.Ext(path) {
	case ".csv", ".parquet":
		return nil
	}
	return usage("%s: the name of a table ends in .csv or .parquet", path)
}

// archipelagoPhotos is the name of the reference images of the built-in world, for commands in place of a file.
const archipelagoPhotos = "archipelago-photos"

func init() {
	manifest.RegisterTable(archipelagoPhotos, func() datasets.Table {
		return datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 8, Injected: true}).Reference()
	})
}

// open is the table of a file or folder, or of a released table that package manifest names.
func open(path, root string) (datasets.Table, error) {
	return openInput(path, datasets.ImagesOptions{FileOptions: datasets.FileOptions{Root: root}})
}

// openInput is [open] with options, such as those that an operation has for its input.
func openInput(path string, o datasets.ImagesOptions) (datasets.Table, error) {
	if t, known := manifest.Table(path); known {
		return t, nil
	}
	if _, err := objecturl.Resolve(path); err != nil {
		return datasets.Table{}, usageError{err}
	}
	if !isFolder(path) && !datasets.IsArchive(path) {
		if err := datasets.TableFormat(path); err != nil && (!datasets.IsURL(path) || objecturl.Is(path)) {
			return datasets.Table{}, usage("%w%s", err, table.Hint(path, manifest.Tables()))
		}
	}
	return datasets.Images(path, o), nil
}

// isFolder reports whether a path is that of a folder of this machine, or the URL of one.
func isFolder(path string) bool {
	if objecturl.IsRemote(path) {
		return objecturl.IsFolder(path)
	}
	path, err := objecturl.Local(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// save runs a stage's table into the file and prints what was done.
func (s *stageFlags) save(ctx context.Context, t datasets.Table) error {
	plan, err := t.Plan()
	if err != nil {
		return usageOf(err)
	}
	if c := collecting(ctx); c != nil {
		if s.out == pipe {
			return usage("--out -: a job writes tables to files")
		}
		return c.add(s, t)
	}
	abs, err := objecturl.Resolve(s.out)
	if err != nil {
		return err
	}
	tell := os.Stdout
	if s.out == pipe {
		dir, err := os.MkdirTemp("", "antipode-out-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		abs, tell = filepath.Join(dir, "out.csv"), os.Stderr
	}
	req := client.Request{Plan: plan, SkipBad: s.skipBad, RetryFailed: s.retryFailed, Batch: s.batch, Counts: true,
		Save: abs, AllColumns: s.all}
	if s.columns == "all" {
		req.AllColumns = true
	} else {
		req.Columns = datasets.SplitColumns(s.columns)
	}
	res, err := request(ctx, req)
	if err != nil {
		return err
	}
	if s.out == pipe {
		if err := copyOut(abs); err != nil {
			return err
		}
	}
	res.Computed, res.Found = res.Computed+s.computed, max(0, res.Found-s.computed)
	fmt.Fprint(tell, datasets.Summary(s.out, res))
	for _, b := range res.Bad {
		fmt.Fprintln(tell, "left out: "+oneLine(b))
	}
	return nil
}

// copyOut writes a saved table to standard output.
func copyOut(path string) error {
	if _, err := os.Stat(strings.TrimSuffix(path, ".csv") + ".images"); err == nil {
		return usage("--out -: the table has images of the store; write them with --out NAME.csv (they are computed)")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(os.Stdout, f)
	return err
}

// request sends a plan to the backend, starting it where needed, with a progress bar on the terminal. A program that
// evaluates its plans itself needs no backend.
func request(ctx context.Context, req client.Request) (*client.Result, error) {
	if collecting(ctx) != nil {
		return nil, usage("a job is made of commands that write a table with --out")
	}
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

// readStage parses the flags of a stage: those of its model, of its options, those that more adds, and those of every
// stage. It returns the table that the stage reads.
func readStage[O any](ctx context.Context, name, about string, o *O, args []string,
	more ...func(*flag.FlagSet)) (s *stageFlags, t datasets.Table, err error) {
	s = &stageFlags{}
	fs := flags(name, "")
	fs.StringVar(&s.model, "model", "", about)
	for _, add := range more {
		add(fs)
	}
	addOptions(fs, o)
	s.add(fs)
	if err = noArguments(fs, args); err != nil {
		return s, t, err
	}
	if s.model == "" {
		return s, t, usage("give --model NAME or --model DIR")
	}
	if err = allowExec(s.model); err != nil {
		return s, t, err
	}
	t, err = s.table(ctx)
	return s, t, err
}

func embed(ctx context.Context, args []string) error {
	var o gomlxmodels.EmbedOptions
	var own struct {
		Vector string `json:"vector" kind:"NAME" help:"the NAME of the vector to make: full (of images; with masks, object_only and background_only too), clip_image, clip_image_pooled, clip_text, blip2_image, blip2_text, text; default full, with --text text"`
		Text   string `json:"text" kind:"COLUMN" help:"the text COLUMN to embed, for clip_text, blip2_text and text; with --pooling projected_max the text that each image is compared with"`
	}
	s, t, err := readStage(ctx, "embed", modelUsage+"as Hugging Face lays it out"+execUsage, &o, args,
		func(fs *flag.FlagSet) { addOwn(fs, &own) })
	if err != nil {
		return err
	}
	vector, text := own.Vector, own.Text
	o.Vector = vector
	switch {
	case text != "" && vector == gomlxmodels.Blip2Image:
		o.Against = text
	case text != "":
		checked := o
		checked.Vector = ""
		if operation.OptionsOf[gomlxmodels.EmbedOptions]().Check(&checked, "encoder", "clip", "exec") != nil {
			return usage("--masking, --fill, --patches and --preprocess are for images, not for texts (--text %s)",
				text)
		}
		return s.save(ctx, gomlxmodels.EmbedText(s.model, t, text, gomlxmodels.EmbedTextOptions{Vector: vector,
			Pooling: o.Pooling, Precision: o.Precision, Exec: o.Exec}))
	case vector == gomlxmodels.ClipText || vector == gomlxmodels.Blip2Text || vector == gomlxmodels.Text:
		return usage("--vector %s embeds texts: name their column with --text", vector)
	}
	return s.save(ctx, gomlxmodels.Embed(s.model, t, o))
}

func tokenize(ctx context.Context, args []string) error {
	var o gomlxmodels.TokenizeOptions
	s, t, err := readStage(ctx, "tokenize", modelUsage+"with a tokenizer", &o, args)
	if err != nil {
		return err
	}
	return s.save(ctx, gomlxmodels.Tokenize(s.model, t, o))
}

func segment(ctx context.Context, args []string) error {
	var s stageFlags
	var o gomlxmodels.SegmentOptions
	var masks, model string
	fs := flags("segment", "")
	fs.StringVar(&masks, "masks", "", "the `DIR` or URL that contains the masks: ID.png, or the image's own name with "+
		".png (non-zero = object)")
	fs.StringVar(&model, "model", "", modelUsage+"(CLIPSegForImageSegmentation, or SamModel or Sam2Model with "+
		"--detector), or of a pair: langsam (Decomposed-DIG's), langsam2, owlsam2, langsam-small"+execUsage)
	addOptions(fs, &o)
	s.add(fs)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if err := allowExec(model); err != nil {
		return err
	}
	if (masks == "") == (model == "" && o.Text == "") {
		return usage("give --masks DIR, or --model and --object COLUMN")
	}
	t, err := s.table(ctx)
	if err != nil {
		return err
	}
	if masks != "" {
		model, given := flag.NewFlagSet("", flag.ContinueOnError), ""
		addOptions(model, new(gomlxmodels.SegmentOptions))
		fs.Visit(func(f *flag.Flag) {
			if model.Lookup(f.Name) != nil {
				given = f.Name
			}
		})
		if given != "" {
			return usage("segment: --%s is an option of a model; --masks reads masks as they are", given)
		}
		return s.save(ctx, t.MasksFrom(masks, datasets.MasksOptions{MaskThreshold: s.read.MaskThreshold}))
	}
	if model == "" || o.Text == "" {
		return usage("--model names the model that finds the object, --object COLUMN the column that names " +
			"it: give both")
	}
	return s.save(ctx, gomlxmodels.Segment(model, t, o))
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
	op, err := metricOf(name)
	if err != nil {
		return err
	}
	t, s, err := scoreDefined(op, args)
	if err != nil {
		return err
	}
	if s.out == "" {
		return s.print(ctx, t)
	}
	if err := s.outName(); err != nil {
		return err
	}
	return s.save(ctx, t)
}

// metricOf returns the metric of a name.
func metricOf(name string) (*operation.Operation, error) {
	op := operation.Find(name)
	switch {
	case op == nil:
		return nil, usage("no metric %q: `antipode score` lists the metrics%s", name,
			table.Hint(name, operation.Names(true)))
	case !op.Metric:
		return nil, usage("%s is a table operation: `antipode table --apply %s`", name, op.Name)
	}
	return op, nil
}

// listMetrics prints the metrics, unless there are arguments, which need one of them.
func listMetrics(args []string) error {
	fs := flags("score", "")
	fs.String("metric", "", "the `NAME` of a metric; with it --help prints its inputs and options")
	if len(args) > 0 {
		if _, err := parse(fs, args[:1]); errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usage("give --metric NAME; `antipode score` lists the metrics")
	}
	for _, name := range operation.Names(true) {
		fmt.Printf("  %-24s %s\n", name, operation.Find(name).Title)
	}
	fmt.Println("\nInputs and options of a metric: antipode score --metric NAME --help")
	return nil
}

// print prints a table that is not saved.
func (s *stageFlags) print(ctx context.Context, t datasets.Table) error {
	if s.columns != "" {
		return usage("--columns are those of --out; --select A,B chooses columns of `antipode table`")
	}
	res, err := s.rows(ctx, t)
	if err == nil {
		fmt.Print(datasets.Format(res.Frame, 0))
	}
	return err
}

// rows runs a table that is not saved, and reports the rows that are left out.
func (s *stageFlags) rows(ctx context.Context, t datasets.Table) (*client.Result, error) {
	plan, err := t.Plan()
	if err != nil {
		return nil, err
	}
	res, err := request(ctx, client.Request{Plan: plan, SkipBad: s.skipBad, RetryFailed: s.retryFailed, Batch: s.batch})
	if err != nil {
		return nil, err
	}
	for _, b := range res.Bad {
		say("left out: %s", oneLine(b))
	}
	return res, nil
}

// peek finds the value of a flag before the flags are known.
func peek(args []string, name string) string {
	for i, a := range args {
		if a = strings.TrimLeft(a, "-"); a == args[i] {
			continue // a value
		}
		if a == name && i+1 < len(args) {
			return args[i+1]
		}
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
	}
	return ""
}

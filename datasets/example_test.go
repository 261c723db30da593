package datasets_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// TestMain lets the examples evaluate plans in this process instead of in the resident backend.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "datasets")
	if err != nil {
		log.Fatal(err)
	}
	s, err := store.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	client.Register(engine.New(s, engine.Options{}))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// images is the table of the examples.
var images = datasets.FromRows([]map[string]any{
	{"id": "a", "region": "north", "scene": "indoor", "score": 0.5},
	{"id": "b", "region": "north", "scene": "street", "score": 0.25},
	{"id": "c", "region": "south", "scene": "indoor", "score": 1.0},
	{"id": "d", "region": "south", "scene": "street"},
})

func Example() {
	indoor := images.Where("scene", "==", "indoor").Select("id", "region", "score")
	indoor.Print()
	// Output:
	// id  region  score
	// a   north     0.5
	// c   south       1
}

func ExampleTable_Where() {
	images.Where("region", "in", []string{"south"}).Where("score", "present", nil).Print()
	// Output:
	// id  region  scene   score
	// c   south   indoor      1
}

func ExampleTable_Select() {
	images.Select("region", "id").Head(2).Print()
	// Output:
	// region  id
	// north   a
	// north   b
}

func ExampleTable_With() {
	images.Select("id").Head(1).With("source", "real").With("seed", 7).Print()
	// Output:
	// id  source  seed
	// a   real       7
}

func ExampleTable_Join() {
	names := datasets.FromRows([]map[string]any{{"region": "north", "name": "Northland"}})
	images.Select("id", "region").Join(names, "region").Print()
	// Output:
	// id  region  name
	// a   north   Northland
	// b   north   Northland
	// c   south
	// d   south
}

func ExampleTable_Concat() {
	more := datasets.FromRows([]map[string]any{{"id": "e", "year": 2024}})
	images.Select("id", "region").Head(1).Concat(more).Print()
	// Output:
	// id  region  year
	// a   north
	// e           2024
}

func ExampleTable_Sort() {
	images.Select("id", "score").Sort("score").Print()
	// Output:
	// id  score
	// b    0.25
	// a     0.5
	// c       1
	// d
}

func ExampleTable_SortDown() {
	images.Select("id", "score").SortDown("score").Head(2).Print()
	// Output:
	// id  score
	// c       1
	// a     0.5
}

func ExampleTable_Head() {
	images.Head(1).Print()
	// Output:
	// id  region  scene   score
	// a   north   indoor    0.5
}

func ExampleTable_Sample() {
	one := images.Sample(1, "region", 7) // one row of each region
	fmt.Println(one.MustRows().Texts("region"))
	// Output: [north south]
}

func ExampleTable_Count() {
	images.Count("region").Print()
	// Output:
	// region  n
	// north   2
	// south   2
}

func ExampleTable_Rename() {
	images.Select("id", "scene").Rename("scene", "group").Head(1).Print()
	// Output:
	// id  group
	// a   indoor
}

func ExampleTable_RemovePrefix() {
	captions := datasets.FromRows([]map[string]any{{"id": "a", "caption": "the crest is round"}})
	captions.RemovePrefix("caption", "the crest is").Print()
	// Output:
	// id  caption
	// a   round
}

func ExampleTable_Repeat() {
	prompts := datasets.FromRows([]map[string]any{{"id": "p1", "prompt": "a red boat"}})
	prompts.Repeat(2, "prompt_id", 40).Print()
	// Output:
	// id    prompt      prompt_id  seed
	// p1#1  a red boat  p1           40
	// p1#2  a red boat  p1           41
}

func ExampleTable_SeedBy() {
	prompts := datasets.FromRows([]map[string]any{{"id": "boat-en", "concept": "boat"},
		{"id": "boat-de", "concept": "boat"}})
	seeds := prompts.SeedBy("concept").MustRows().Numbers("seed")
	fmt.Println(seeds[0] == seeds[1])
	// Output: true
}

func ExampleTable_Number() {
	fmt.Println(images.Where("id", "==", "b").Number("score"))
	// Output: 0.25
}

func ExampleTable_Text() {
	fmt.Println(images.Where("id", "==", "b").Text("region"))
	// Output: north
}

func ExampleTable_Value() {
	fmt.Println(images.Where("id", "==", "b").Value("scene"))
	// Output: street
}

func ExampleTable_Sum() {
	fmt.Println(images.Sum("score"))
	// Output: 1.75
}

func ExampleTable_MustRows() {
	fmt.Println(images.Where("scene", "==", "street").MustRows().Len())
	// Output: 2
}

func ExampleTable_Rows() {
	rows, err := images.Sort("region").Rows(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows.Len(), rows.Texts("id"))
	// Output: 4 [a b c d]
}

func ExampleTable_Show() {
	images.Select("id", "score").Head(2).Show()
	// Output:
	// id  score
	// a     0.5
	// b    0.25
	// 2 rows × 2 columns
}

func ExampleTable_Run() {
	datasets.Extend(images).Named("my images").Run()
	// Output: my images: 4 rows
}

func ExampleTable_Save() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "images.csv")
	images.Select("id", "score").Head(1).Save(path)
	datasets.CSV(path).Print()
	// Output:
	// images.csv: 1 rows
	// id  score
	// a     0.5
}

func ExampleTable_Err() {
	err := images.Sort("scroe").Err() // starts with the line of the program
	fmt.Println(errors.Unwrap(err))
	// Output:
	// no such column: "scroe" (there are: id, region, scene, score); did you mean "score"?
}

func ExampleTable_Columns() {
	fmt.Println(images.Columns())
	// Output:
	// [{id text} {region text} {scene text} {score number}]
}

func ExampleExtend() {
	err := datasets.Extend(images).Need("score", table.KindVector).Err()
	fmt.Println(errors.Unwrap(err))
	// Output:
	// column "score" holds number values, not vector
}

// repeated writes a CSV file with a duplicate id and returns its path.
func repeated() string {
	path := filepath.Join(os.TempDir(), "repeated.csv")
	if err := os.WriteFile(path, []byte("id,score\na,1\nb,2\na,3\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	return path
}

func ExampleTable_Bad() {
	path := repeated()
	defer os.Remove(path)
	datasets.CSV(path).Bad().Print() // the rows that cannot be used
	// Output:
	// id  column  reason
	// a   id      repeated.csv: the id is in row 1 already; ids m…
}

func ExampleTable_Good() {
	path := repeated()
	defer os.Remove(path)
	datasets.CSV(path).Good().Print()
	// Output:
	// id  score
	// a       1
	// b       2
}

func ExampleTable_MasksFrom() {
	images := datasets.Folder("testdata/images/north")
	masked := images.MasksFrom("testdata/images/south") // the mask of image 1.png is in the file 1.png
	masked.Select("id", "mask", "outcome").Print()
	// Output:
	// id     mask             outcome
	// 1.png  mask 1×1, 100 %  ok
}

func ExampleTable_GrowMasks() {
	b := mask.New(5, 5)
	b.Set(2, 2, true)
	masks := datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
		table.MaskColumn("mask", []table.Mask{mask.Encode(b)})}})
	masks.GrowMasks(1).Print()
	masks.GrowMasks(-1).Select("id", "outcome", "reason").Print()
	// Output:
	// id  mask            mask_area  outcome  reason
	// a   mask 5×5, 20 %        0.2
	// id  outcome   reason
	// a   unmasked  erosion by 1 px leaves no object pixel
}

func ExampleCSV() {
	scenes := datasets.CSV("testdata/scenes.csv")
	scenes.Where("people", ">", 0).Print()
	// Output:
	// id  scene   people
	// b   street       3
}

func ExampleImages() {
	// The folders of testdata/images are the values of the column region.
	images := datasets.Images("testdata/images", datasets.ImagesOptions{By: "region"})
	images.Select("id", "region").Print()
	// Output:
	// id           region
	// north/1.png  north
	// south/1.png  south
}

func ExampleFolder() {
	datasets.Folder("testdata/images").Print()
	// Output:
	// id           image      folder
	// north/1.png  image 1×1  north
	// south/1.png  image 1×1  south
}

func ExampleImported() {
	images := datasets.Imported("testdata/images", datasets.ImportOptions{Model: "midjourney-v6",
		Names: []string{"{region}/{seed:number}"}})
	images.Select("id", "model", "region", "seed").Print()
	// Output:
	// id           model          region  seed
	// north/1.png  midjourney-v6  north      1
	// south/1.png  midjourney-v6  south      1
}

func ExampleFromRows() {
	datasets.FromRows([]map[string]any{{"id": "a", "full": []float32{1, 2}}}).Print()
	// Output:
	// id  full
	// a   2 float32
}

func ExampleFromFrame() {
	rows := images.Head(1).MustRows() // compute in Go, then return to a table
	rows.Column("score").Numbers[0] *= 100
	datasets.FromFrame(rows).Print()
	// Output:
	// id  region  scene   score
	// a   north   indoor     50
}

func ExampleParquet() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "images.parquet")
	images.Save(path)
	datasets.Parquet(path).Where("scene", "==", "street").Print()
	// Output:
	// images.parquet: 4 rows
	// id  region  scene   score
	// b   north   street   0.25
	// d   south   street
}

// longest defines an operation with an option and a row of two columns.
var longest = datasets.Define(datasets.Operation[longestOptions, longestRow]{
	Name: "longest-texts", Title: "the longest text of a column", Version: 1,
	Inputs: []datasets.Input{{Role: "in", About: "rows with texts"}},
	Compute: func(_ context.Context, call *datasets.Call, o longestOptions) ([]longestRow, error) {
		texts := call.Inputs["in"].Texts(o.Column)
		text := slices.MaxFunc(texts, func(a, b string) int { return len(a) - len(b) })
		return []longestRow{{text, len(text)}}, nil
	},
})

type longestOptions struct {
	Column string `json:"column" required:"true" help:"the text column"`
}

type longestRow struct {
	Text  string `column:"text"`
	Bytes int    `column:"bytes" unit:"bytes"`
}

func ExampleDefine() {
	longest.Of(images, longestOptions{Column: "scene"}).Print()
	// Output:
	// text    bytes
	// indoor      6
}

func ExampleArchipelago() {
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 2, Injected: true})
	world.InjectedDisparities().Select("region", "component", "size").Print()
	world.Reference().Select("id", "object", "region").Head(2).Print()
	// Output:
	// region    component   size
	// Brackwyn  background   0.8
	// Ondulay   object       0.8
	// id                         object   region
	// photo-velmora-lantern-000  lantern  Velmora
	// photo-velmora-lantern-001  lantern  Velmora
}

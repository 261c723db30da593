package annotate_test

import (
	"fmt"
	"os"
	"path/filepath"

	"antipode/datasets/table"
	"antipode/kernel/annotate"
)

func Example() {
	dir, err := os.MkdirTemp("", "annotate")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	study := filepath.Join(dir, "study")
	words := &table.Frame{Columns: []table.Column{table.TextColumn("attribute", []string{"tall", "brave"})}}
	made, err := annotate.Make(words, study, annotate.Options{Task: annotate.Visual, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(made.Items, "items on", made.Pages, "pages")
	pages, _ := filepath.Glob(filepath.Join(study, annotate.PagesDir, "*"))
	for _, path := range pages {
		fmt.Println(filepath.Base(path))
	}
	_, err = annotate.Collect(study, annotate.CollectOptions{}) // before the raters returned their files
	fmt.Println(err != nil)
	// Output:
	// 2 items on 3 pages
	// rater-1-page-1.html
	// rater-2-page-1.html
	// rater-3-page-1.html
	// true
}

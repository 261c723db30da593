package cococrola

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/table"
)

// Recorded is a JSON file of recorded answers, from which a concept list can be built offline. A word without a record
// has no answer.
type Recorded struct {
	Languages   []string             `json:"languages"`
	Frequencies []Frequencies        `json:"frequencies"`
	Top         int                  `json:"top,omitempty"`
	Added       []string             `json:"added,omitempty"`
	Translators []RecordedTranslator `json:"translators"`
	Dictionary  RecordedSynsets      `json:"synsets"`
	Removed     map[string]string    `json:"removed,omitempty"`
	Articles    map[string][]string  `json:"articles,omitempty"`
	Narrowest   bool                 `json:"narrowest,omitempty"`
}

// RecordedTranslator is a [Translator] that returns recorded answers, by word and language.
type RecordedTranslator struct {
	Service string                       `json:"name"`
	Answers map[string]map[string]string `json:"answers"`
}

// Name returns the name of the service.
func (t RecordedTranslator) Name() string { return t.Service }

// Translate returns the recorded answer.
func (t RecordedTranslator) Translate(_ context.Context, word string, _ []string) (map[string]string, error) {
	return t.Answers[word], nil
}

// RecordedSynsets is a [SynsetSource] that returns recorded answers, by word.
type RecordedSynsets map[string][]Synset

// Synsets returns the recorded answer.
func (s RecordedSynsets) Synsets(_ context.Context, word string) ([]Synset, error) {
	return s[word], nil
}

// ReadRecorded parses a [Recorded] file; name is the file name in messages. Unknown fields are errors.
func ReadRecorded(name string, data []byte) (ListOptions, error) {
	var r Recorded
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return ListOptions{}, fmt.Errorf("%s: %w; the fields are languages, frequencies, translators and synsets", name,
			err)
	}
	if _, err := d.Token(); err != io.EOF {
		return ListOptions{}, fmt.Errorf("%s: text after the end of the JSON object", name)
	}
	o := ListOptions{Languages: r.Languages, Frequencies: r.Frequencies, Top: r.Top, Added: r.Added,
		Synsets: r.Dictionary, Removed: r.Removed, Articles: r.Articles, Narrowest: r.Narrowest}
	for _, t := range r.Translators {
		o.Translators = append(o.Translators, t)
	}
	return o, nil
}

var listColumns = datasets.Columns("word:text", "kept:text", "step:text", "reason:text", "sources:text",
	"frequency:number", "rank:number")

type listArgs struct {
	File string `json:"file"`
}

// ConceptList is the table of [BuildList] on a file of recorded answers: word, kept (yes or no), step and reason (of a
// dropped word), sources (LANGUAGE: TRANSLATOR, …), frequency, rank (no value for an added word) and one column per
// language, known when the table runs. The language columns of the kept rows form a concept file.
func ConceptList(file string) datasets.Table {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return datasets.Extend(datasets.New("cococrola-list", listArgs{file}, listColumns)).Open().
		Named("CoCo-CroLa concept list").Table
}

func init() {
	source.Register("cococrola-list", func(ctx context.Context, args listArgs,
		call *datasets.Call) (*datasets.Frame, error) {
		data, err := os.ReadFile(args.File)
		if err != nil {
			return nil, fmt.Errorf("read the recorded answers: %w", err)
		}
		o, err := ReadRecorded(filepath.Base(args.File), data)
		if err != nil {
			return nil, err
		}
		list, err := BuildList(ctx, o)
		if err != nil {
			return nil, err
		}
		f, kept := listFrame(list, o.Languages)
		call.Notef("%d of %d words kept; see the column reason for the others", kept, len(list))
		return f, nil
	})
}

func listFrame(list []Candidate, languages []string) (f *datasets.Frame, kept int) {
	specs := slices.Clone(listColumns)
	for _, l := range languages {
		specs = append(specs, table.ColumnSpec{Name: l, Kind: table.KindText})
	}
	f = table.NewFrame(specs)
	for _, c := range list {
		answer := "no"
		if c.Step == "" {
			answer, kept = "yes", kept+1
		}
		var sources []string
		for _, l := range languages {
			if c.From[l] != "" {
				sources = append(sources, l+": "+c.From[l])
			}
		}
		row := []string{c.Word, answer, c.Step, c.Reason, strings.Join(sources, ", ")}
		for _, l := range languages {
			row = append(row, c.Words[l])
		}
		f.Add(row, c.Frequency, rankOf(c))
	}
	return f, kept
}

// rankOf returns the rank in the merged list; NaN for an added word.
func rankOf(c Candidate) float64 {
	if c.Rank == 0 {
		return math.NaN()
	}
	return float64(c.Rank)
}

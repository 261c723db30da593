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
	"antipode/kernel/client"
)

// Recorded are the answers behind a concept list, kept in a file so that the list can be built again offline: JSON with the fields below. A word that a translator or the dictionary has no
// record of has no answer.
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

// RecordedTranslator is a [Translator] of recorded answers: by word, then language.
type RecordedTranslator struct {
	Service string                       `json:"name"`
	Answers map[string]map[string]string `json:"answers"`
}

// Name is the service's.
func (t RecordedTranslator) Name() string { return t.Service }

// Translate gives the recorded answer.
func (t RecordedTranslator) Translate(_ context.Context, word string, _ []string) (map[string]string, error) {
	return t.Answers[word], nil
}

// RecordedSynsets is a [SynsetSource] of recorded answers, by word.
type RecordedSynsets map[string][]Synset

// Synsets gives the recorded answer.
func (s RecordedSynsets) Synsets(_ context.Context, word string) ([]Synset, error) {
	return s[word], nil
}

// ReadRecorded parses a file of recorded answers; name is the file's, for messages. A field that it does not know is an error.
func ReadRecorded(name string, data []byte) (ListOptions, error) {
	var r Recorded
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return ListOptions{}, fmt.Errorf("%s: %w; recorded answers hold languages, frequencies, translators and synsets", name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return ListOptions{}, fmt.Errorf("%s: there is text after the recorded answers", name)
	}
	o := ListOptions{Languages: r.Languages, Frequencies: r.Frequencies, Top: r.Top, Added: r.Added, Synsets: r.Dictionary, Removed: r.Removed, Articles: r.Articles, Narrowest: r.Narrowest}
	for _, t := range r.Translators {
		o.Translators = append(o.Translators, t)
	}
	return o, nil
}

var listColumns = datasets.Columns("word:text", "kept:text", "step:text", "reason:text", "sources:text", "frequency:number", "rank:number")

type listArgs struct {
	File string `json:"file"`
}

// ConceptList is the table of [BuildList] on recorded answers: word, kept (yes or no), step and reason (of a word that was dropped), sources (LANGUAGE: TRANSLATOR, …), frequency, rank (no value = an
// added word) and a column for each language, known when the table runs. The kept rows' columns of languages are a concept file.
func ConceptList(file string) datasets.Table {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return datasets.New("cococrola-list", listArgs{file}, listColumns).Open().Named("CoCo-CroLa concept list")
}

func init() {
	datasets.RegisterSource("cococrola-list", func(ctx context.Context, raw json.RawMessage, env datasets.SourceEnv) (*datasets.Frame, error) {
		var args listArgs
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, fmt.Errorf("cococrola: %w", err)
		}
		data, err := os.ReadFile(args.File)
		if err != nil {
			return nil, fmt.Errorf("cannot read the recorded answers: %w", err)
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
		if env.Note != nil {
			env.Note("%d of %d words stay; the column reason says why the others do not", kept, len(list))
		}
		return f, nil
	})
}

func listFrame(list []Candidate, languages []string) (f *datasets.Frame, kept int) {
	f = empty(slices.Clone(listColumns))
	for _, l := range languages {
		f.Columns = append(f.Columns, client.Column{ColumnSpec: client.ColumnSpec{Name: l, Kind: client.Text}})
	}
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
		texts(f, row...)
		numbers(f, c.Frequency, rankOf(c))
	}
	return f, kept
}

// rankOf is the place in the merged list; NaN = added.
func rankOf(c Candidate) float64 {
	if c.Rank == 0 {
		return math.NaN()
	}
	return float64(c.Rank)
}

package concepts

import (
	"fmt"
	"slices"
	"strings"

	"antipode/metrics"
)

// Values of the options; see the package comment.
const (
	Paper      = "paper" // profiles
	PublicCode = "public-code"

	ExcludeSelf = "exclude_self" // Xc in the source language: without an image's similarity to itself
	Literal     = "literal"      // with it

	PerConcept = "per-concept" // sample of Dt: one per concept
	Shared     = "shared"      // one list of concepts per model, one image of each per language
	All        = "all"         // no sample: all images of the other concepts in the language

	ExcludeOwn = "exclude" // a concept's own images are not in its sample of Dt
	IncludeOwn = "include" // they may be

	Without = "without" // replacement: the sampled concepts differ
	With    = "with"

	Cosine = "cosine" // Wc: 100 × cosine
	Dot    = "dot"    // dot product of the vectors

	LeaveOut = "leave-out" // a blank score does not count in means
	MinusOne = "minus-one" // it counts as −1, as in the public code, and lowers means
)

// English is the default language of the words of Wc.
const English = "en"

// Options are the options of [ComputeConceptScores]. Empty strings select the values of profile paper.
type Options struct {
	Source            string // source language of Xc; see [SourceOf]
	Word              string // language of the word of Wc: a code, or "source"
	Self              string // [ExcludeSelf], [Literal]
	M                 int    // images in the sample of Dt; 0 = one of each other concept
	Sample            string // [PerConcept], [Shared], [All]
	Own               string // [ExcludeOwn], [IncludeOwn]
	Replacement       string // [Without], [With]
	Product           string // [Cosine], [Dot]
	metrics.Intervals        // Seed is of the sample of Dt, too
}

// ProfileOf returns the options of a profile, "paper" or "public-code", and the treatment of blank scores in its means.
func ProfileOf(name string) (o Options, blank string, err error) {
	o = Options{Source: English, Word: English, Self: ExcludeSelf, M: 100, Sample: PerConcept, Own: ExcludeOwn,
		Replacement: Without, Product: Cosine}
	switch name {
	case Paper:
		return o, LeaveOut, nil
	case PublicCode:
		o.Sample, o.Own = Shared, IncludeOwn
		return o, MinusOne, nil
	}
	return Options{}, "", fmt.Errorf("no profile %q; profiles: %s, %s", name, Paper, PublicCode)
}

// check fills in the defaults of profile paper for one model and validates the values.
func (o Options) check(model string) (Options, error) {
	for _, c := range []struct {
		name    string
		value   *string
		allowed []string // the default first
	}{
		{"self", &o.Self, []string{ExcludeSelf, Literal}},
		{"sample", &o.Sample, []string{PerConcept, Shared, All}},
		{"own", &o.Own, []string{ExcludeOwn, IncludeOwn}},
		{"replacement", &o.Replacement, []string{Without, With}},
		{"product", &o.Product, []string{Cosine, Dot}},
	} {
		if *c.value == "" {
			*c.value = c.allowed[0]
		}
		if !slices.Contains(c.allowed, *c.value) {
			return o, fmt.Errorf("%s is %q; it must be one of %s", c.name, *c.value, strings.Join(c.allowed, ", "))
		}
	}
	if o.M < 0 {
		return o, fmt.Errorf("m is %d; it cannot be negative", o.M)
	}
	var err error
	if o.Source, err = SourceOf(orDefault(o.Source, English), model); err != nil {
		return o, err
	}
	if o.Word = orDefault(o.Word, English); o.Word == "source" {
		o.Word = o.Source
	}
	return o, nil
}

func orDefault(value, preset string) string {
	if value == "" {
		return preset
	}
	return value
}

// SourceOf returns the source language of a model from a list such as "en,CogView 2=zh": the entry with the model's
// name, else the entry without a name.
func SourceOf(list, model string) (string, error) {
	source := ""
	for _, entry := range strings.Split(list, ",") {
		name, language, named := strings.Cut(strings.TrimSpace(entry), "=")
		if !named {
			name, language = "", name
		}
		if name, language = strings.TrimSpace(name), strings.TrimSpace(language); language == "" {
			return "", fmt.Errorf("source is %q; an entry must be LANGUAGE or MODEL=LANGUAGE", list)
		}
		if named && name == model {
			return language, nil
		}
		if !named {
			source = language
		}
	}
	if source == "" {
		return "", fmt.Errorf("source %q has no language for the model %q", list, model)
	}
	return source, nil
}

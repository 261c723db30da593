package cococrola

import (
	"fmt"
	"strings"
)

// Readings of what the paper leaves open; see the package comment.
type (
	// Self says whether Xc where l = ls counts a picture's match with itself.
	Self string
	// Sample says for whom the pictures of Dt are drawn.
	Sample string
	// Own says whether a concept's own pictures may be in the sample of Dt.
	Own string
	// Replacement says whether the sample of Dt may hold a concept twice.
	Replacement string
	// Product says what Wc averages.
	Product string
	// Blank says what a score that cannot be computed counts as in means.
	Blank string
)

// The readings.
const (
	ExcludeSelf Self = "exclude_self"
	Literal     Self = "literal"

	PerConcept Sample = "per-concept" // drawn anew for each concept
	Shared     Sample = "shared"      // one list of concepts for a model, one picture of each for a language

	NotOwn Own = "exclude"
	OrOwn  Own = "include"

	Without Replacement = "without" // concepts differ, one picture of each
	With    Replacement = "with"

	Cosine Product = "cosine" // 100 × cosine
	Dot    Product = "dot"    // of the vectors as they are

	LeaveOut Blank = "leave-out"
	MinusOne Blank = "minus-one" // −1 on the score's own scale: reproduces the public code, pulls means down
)

// Profiles of the readings.
const (
	Paper      = "paper"
	PublicCode = "public-code"
)

// English is the language of the words of Wc unless [Options.Word] says otherwise.
const English = "en"

// Options are the readings behind the scores of one model.
type Options struct {
	Source string // source language ls of Xc; "" = en
	Word   string // language of the word of Wc: a code, or "source" for ls; "" = en

	Self        Self
	M           int // pictures in the sample of Dt; 0 = one of each other concept
	Sample      Sample
	Own         Own
	Replacement Replacement
	Product     Product

	Seed  int64 // of the sample of Dt and of the intervals
	Draws int   // bootstrap draws behind each interval; 0 = none
}

// ProfileOf gives the readings of a profile, "paper" or "public-code", and what blanks count as in its means.
func ProfileOf(name string) (Options, Blank, error) {
	o := Options{Source: English, Word: English, Self: ExcludeSelf, M: 100, Sample: PerConcept, Own: NotOwn, Replacement: Without, Product: Cosine}
	switch name {
	case Paper:
		return o, LeaveOut, nil
	case PublicCode:
		o.Sample, o.Own = Shared, OrOwn
		return o, MinusOne, nil
	}
	return Options{}, "", fmt.Errorf("no profile %q; there are %s and %s", name, Paper, PublicCode)
}

// check fills in the defaults of profile paper and refuses unknown readings.
func (o Options) check() (Options, error) {
	p, _, err := ProfileOf(Paper)
	if err != nil {
		return o, err
	}
	for _, c := range []struct {
		name    string
		value   *string
		preset  string
		allowed []string
	}{
		{"source", &o.Source, p.Source, nil}, {"word", &o.Word, p.Word, nil},
		{"self", (*string)(&o.Self), string(p.Self), []string{string(ExcludeSelf), string(Literal)}},
		{"sample", (*string)(&o.Sample), string(p.Sample), []string{string(PerConcept), string(Shared)}},
		{"own", (*string)(&o.Own), string(p.Own), []string{string(NotOwn), string(OrOwn)}},
		{"replacement", (*string)(&o.Replacement), string(p.Replacement), []string{string(Without), string(With)}},
		{"product", (*string)(&o.Product), string(p.Product), []string{string(Cosine), string(Dot)}},
	} {
		if *c.value == "" {
			*c.value = c.preset
		}
		known := c.allowed == nil
		for _, a := range c.allowed {
			known = known || a == *c.value
		}
		if !known {
			return o, fmt.Errorf("%s=%q: it is one of %s", c.name, *c.value, strings.Join(c.allowed, ", "))
		}
	}
	if o.M < 0 || o.Draws < 0 {
		return o, fmt.Errorf("m=%d, draws=%d: neither can be negative", o.M, o.Draws)
	}
	if o.Word == "source" {
		o.Word = o.Source
	}
	return o, nil
}

// SourceOf reads the source language of a model from a list such as "en,CogView 2=zh": the entry of the model's name, else the one without a name.
func SourceOf(list, model string) (string, error) {
	source := ""
	for _, entry := range strings.Split(list, ",") {
		name, language, named := strings.Cut(strings.TrimSpace(entry), "=")
		if !named {
			name, language = "", name
		}
		if name, language = strings.TrimSpace(name), strings.TrimSpace(language); language == "" {
			return "", fmt.Errorf("source %q: an entry is LANGUAGE or MODEL=LANGUAGE", list)
		}
		if named && name == model {
			return language, nil
		}
		if !named {
			source = language
		}
	}
	if source == "" {
		return "", fmt.Errorf("source %q names no language for the model %q", list, model)
	}
	return source, nil
}

package commands

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/operation"
	"antipode/metrics"
)

// namedAudit is what `antipode compare --audit NAME` compares.
type namedAudit struct {
	score       string                 // what it is
	needs       string                 // of both tables
	reads, what string                 // the flag of the table next to them, and what it is; "" = none
	o           metrics.CompareOptions // Audit is the chain of operations; … stands for more options
}

// namedAudits are those of auditNotebooks, in their order, each by a score of its paper.
var namedAudits = []namedAudit{
	{"precision and coverage of objects and of backgrounds, by region",
		"region and the vectors object_only and background_only", "real", "reference images",
		metrics.CompareOptions{Audit: "precision-coverage by=region vector=object_only … ; " +
			"precision-coverage by=region vector=background_only …", Better: "higher",
			Scores: []string{"precision", "coverage"}, Subject: []string{"region", "vector"}}},
	{"similarity of images to the reference image of their prompt (IGC), by language",
		"language, prompt_id and the vector full", "reference", "reference images",
		metrics.CompareOptions{Audit: "indictti-igc …", Better: "higher", Subject: []string{"language"}}},
	{"how often stereotypes are seen where they are shown (L), by identity",
		"answers of annotators as visage-association reads them", "", "",
		metrics.CompareOptions{Audit: "visage-association …", Better: "lower", Scores: []string{"l_stereo"},
			Subject: []string{"identity"}, On: []string{"identity", "image_number"}}},
	{"similarity of a concept's images to those in the source language (Xc), by language",
		"model, language, concept and the vector full", "", "",
		metrics.CompareOptions{Audit: "cococrola-scores … | clustered-mean value=cross_consistency by=language",
			Better: "higher"}},
	{"how unevenly images fall into two perceived groups (diversity score), by category, prompt and axis",
		"ratings or labels as entigen-diversity reads them", "", "",
		metrics.CompareOptions{Audit: "entigen-diversity prompts=all …", Better: "lower",
			Scores: []string{"diversity"}, Subject: []string{"category", "prompt_id", "axis"},
			On: []string{"image_id"}}},
}

// findAudit returns the audit whose name is the first word of a text, nil for a chain of operations.
func findAudit(text string) (*namedAudit, error) {
	name, options, _ := strings.Cut(strings.TrimSpace(text), " ")
	if name == "" || operation.Find(name) != nil || strings.HasPrefix(name, "{") {
		return nil, nil
	}
	at, err := auditIndex(name)
	if err != nil {
		return nil, fmt.Errorf("%w, or a chain of metrics, 'METRIC option=value … | …'", err)
	}
	audit := namedAudits[at]
	audit.o.Audit = strings.ReplaceAll(audit.o.Audit, "…", options)
	return &audit, nil
}

// addTo adds the flag of the table that the audit reads.
func (a *namedAudit) addTo(fs *flag.FlagSet, flags *operationFlags) {
	if a != nil && a.reads != "" {
		fs.StringVar(flags.inputs["fixed1"], a.reads, "", "of --audit: a `TABLE` of "+a.what)
	}
}

// complete fills in the options that are not given.
func (a *namedAudit) complete(o *metrics.CompareOptions, fixed string) error {
	if a == nil {
		return nil
	}
	if fixed == "" && a.reads != "" {
		return usage("--audit: give --%s TABLE: %s", a.reads, a.what)
	}
	o.Audit = a.o.Audit
	if o.Better == "" {
		o.Better = a.o.Better
	}
	for _, list := range [][2]*[]string{{&o.Scores, &a.o.Scores}, {&o.Subject, &a.o.Subject}, {&o.On, &a.o.On}} {
		if len(*list[0]) == 0 {
			*list[0] = *list[1]
		}
	}
	return nil
}

// printAudits lists the audits in the help.
func printAudits() {
	fmt.Println("\nAudits (--audit 'NAME option=value …'):")
	for i, a := range namedAudits {
		names, reads := auditNotebooks[i], ""
		if a.reads != "" {
			reads = fmt.Sprintf("; --%s TABLE: %s", a.reads, a.what)
		}
		fmt.Printf("  %-24s %s\n%27sboth tables: %s%s\n",
			strings.Join(slices.Compact(names[:]), ", "), a.score, "", a.needs, reads)
	}
}

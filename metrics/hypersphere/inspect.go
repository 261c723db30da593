package hypersphere

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
)

// draw takes n labels at random, in the order of the draw; n = 0 takes all, in the order of their ids. What counts are
// seed and ids, not the order in which the labels come.
func draw(labels []Label, n int, seed uint64) []Label {
	slices.SortFunc(labels, func(a, b Label) int { return cmp.Compare(a.ID, b.ID) })
	if n <= 0 {
		return labels
	}
	h := fnv.New64a()
	for _, l := range labels {
		io.WriteString(h, l.ID+"\x00")
	}
	source := rand.NewPCG(seed, h.Sum64())
	n = min(n, len(labels))
	for i := range n {
		step, _ := bits.Mul64(source.Uint64(), uint64(len(labels)-i))
		j := i + int(step)
		labels[i], labels[j] = labels[j], labels[i]
	}
	return labels[:n]
}

// PromptPair shows one object in one region under two templates.
type PromptPair struct {
	Object, Region string
	A, B           []Label // drawn pictures of template a and of template b
	OfA, OfB       int     // how many there are
}

// ComparePrompts draws n pictures (0 = all) of the same objects and regions under two templates, by object, then region. Objects and regions that one
// of them lacks are not there.
func ComparePrompts(labels []Label, a, b string, n int, seed uint64) []PromptPair {
	type key struct{ object, region string }
	sides := map[key]*[2][]Label{}
	for _, l := range labels {
		side := slices.Index([]string{a, b}, l.Template)
		if side < 0 {
			continue
		}
		k := key{l.Object, l.Region}
		if sides[k] == nil {
			sides[k] = &[2][]Label{}
		}
		sides[k][side] = append(sides[k][side], l)
	}
	var out []PromptPair
	for k, s := range sides {
		if len(s[0]) > 0 && len(s[1]) > 0 {
			out = append(out, PromptPair{k.object, k.region, draw(s[0], n, seed), draw(s[1], n, seed), len(s[0]), len(s[1])})
		}
	}
	slices.SortFunc(out, func(x, y PromptPair) int {
		return cmp.Or(cmp.Compare(x.Object, y.Object), cmp.Compare(x.Region, y.Region))
	})
	return out
}

// Inspect lists the pictures of an object in a region, by id, for tagging by hand. "" takes any.
func Inspect(labels []Label, object, region string) []Label {
	return draw(filter(labels, func(l Label) bool {
		return (object == "" || l.Object == object) && (region == "" || l.Region == region)
	}), 0, 0)
}

// Tags are what a person saw: tags by picture id. A picture that was looked at and got no tag has an empty entry.
type Tags map[string][]string

// TagShare is how often a tag was given.
type TagShare struct {
	Tag   string
	N, Of int // pictures with the tag, pictures looked at
	Share float64
}

// Shares counts each tag among the listed pictures that were looked at, most frequent first, then by name. notSeen counts those without an entry.
func (t Tags) Shares(labels []Label) (shares []TagShare, notSeen int) {
	count, of := map[string]int{}, 0
	for _, l := range labels {
		tags, seen := t[l.ID]
		if !seen {
			notSeen++
			continue
		}
		of++
		for _, tag := range slices.Compact(slices.Sorted(slices.Values(tags))) {
			count[tag]++
		}
	}
	for tag, n := range count {
		shares = append(shares, TagShare{tag, n, of, float64(n) / float64(of)})
	}
	slices.SortFunc(shares, func(a, b TagShare) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Tag, b.Tag)) })
	return shares, notSeen
}

// Write saves the tags as CSV: a header id,tag and a row for each tag; a picture without a tag has one row with an empty tag. Rows are sorted.
func (t Tags) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"id", "tag"}}
	for id, tags := range t {
		if len(tags) == 0 {
			rows = append(rows, []string{id, ""})
		}
		for _, tag := range tags {
			rows = append(rows, []string{id, tag})
		}
	}
	slices.SortFunc(rows[1:], slices.Compare)
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("hypersphere: tags are not saved: %w", err)
	}
	return nil
}

// ReadTags reads what [Tags.Write] wrote, or any CSV whose columns are id and tag. name is the file's, for messages.
func ReadTags(r io.Reader, name string) (Tags, error) {
	text := bufio.NewReader(r)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" { // a spreadsheet's mark
		_, _ = text.Discard(3)
	}
	in := csv.NewReader(text)
	in.FieldsPerRecord = 2
	head, err := in.Read()
	if err != nil || head[0] != "id" || head[1] != "tag" {
		return nil, fmt.Errorf("hypersphere: %s, line 1: the header must be id,tag", name)
	}
	tags := Tags{}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return tags, nil
		}
		if err != nil {
			return nil, fmt.Errorf("hypersphere: %s: %w", name, err)
		}
		id, tag := row[0], strings.TrimSpace(row[1])
		if tags[id] == nil {
			tags[id] = []string{}
		}
		if tag != "" {
			tags[id] = append(tags[id], tag)
		}
	}
}

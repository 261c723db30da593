package prdc

import (
	"cmp"
	"hash/fnv"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// sample returns n random labels, or all in the order of their ids if n is 0. The result depends on the seed and the
// ids, not on the order of the labels.
func sample(labels []Label, n int, seed uint64) []Label {
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

// Tags are the tags that a person assigned, by image id. An inspected image without a tag has an empty entry.
type Tags map[string][]string

// TagShare is the share of inspected images with a tag.
type TagShare struct {
	Tag   string  `column:"tag"`
	Share float64 `column:"share" unit:"share of inspected images" range:"[0, 1]"` // N / Of
	N     int     `column:"n_tagged" unit:"images"`
	Of    int     `column:"n_inspected" unit:"images"`
}

// Shares returns the share of each tag among the inspected images of labels, most frequent first, then by name.
// notSeen is the number of images without an entry.
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
		shares = append(shares, TagShare{tag, float64(n) / float64(of), n, of})
	}
	slices.SortFunc(shares, func(a, b TagShare) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Tag, b.Tag)) })
	return shares, notSeen
}

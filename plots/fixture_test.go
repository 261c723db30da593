package plots_test

import (
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/table"
	_ "antipode/plots/paint" // in this process
)

// averages is the mean over regions of each template and vector.
func averages() datasets.Table {
	f := rows(scores())
	var first []int
	columns := map[string][]float64{}
	for start := 0; start < f.Len(); start += len(regions) {
		first = append(first, start)
		for _, name := range []string{"precision", "precision_low", "precision_high", "coverage", "coverage_low",
			"coverage_high", "n_real"} {
			sum := 0.0
			for _, v := range f.Numbers(name)[start : start+len(regions)] {
				sum += v
			}
			columns[name] = append(columns[name], sum/float64(len(regions)))
		}
	}
	out := f.Pick(first)
	for name, v := range columns {
		out = out.With(table.NumberColumn(name, v))
	}
	return datasets.FromFrame(out)
}

var objectNames = []string{"tree", "hat", "cooking pot", "jug", "toothbrush", "bag", "waste container", "bicycle",
	"chair", "stove", "dog", "car",
	"plate of food", "spices", "medicine", "hairbrush comb", "toy", "light switch", "front door", "storefront",
	"lighter", "dustbin", "toothpaste toothpowder", "candle"}

// objects is a score of each object in two vectors; one of them has no value.
func objects() datasets.Table {
	f := frame("vector:text", "object:text", "coverage:number", "coverage_low:number", "coverage_high:number",
		"n:number")
	for s, name := range vectors[1:] {
		for i, o := range objectNames {
			x := 0.45 - 0.1*float64(s) + 0.25*math.Sin(float64(i*i+3*s))
			if o == "stove" && s == 1 {
				x = math.NaN()
			}
			f.Add([]string{name, o}, x, x-0.05, x+0.06, float64(60-i%4))
		}
	}
	return datasets.FromFrame(f)
}

// languages is a similarity for eight objects and the first n languages; one cell is missing.
func languages(n int) datasets.Table {
	all := []string{"English", "हिन्दी", "বাংলা", "தமிழ்", "తెలుగు", "العربية", "עברית", "中文", "日本語", "한국어", "Ελληνικά",
		"Русский"}
	f := frame("object:text", "language:text", "similarity:number")
	for i, o := range objectNames[:8] {
		for j := range n {
			if i != 3 || j != 5 {
				f.Add([]string{o, all[j]}, 0.9-0.05*float64(j)+0.08*math.Sin(float64(5*i+j)))
			}
		}
	}
	return datasets.FromFrame(f)
}

// gaps are differences with intervals.
func gaps() datasets.Table {
	f := frame("region:text", "vector:text", "gap:number", "gap_low:number", "gap_high:number", "n:number",
		"interval:text")
	for s, name := range vectors[1:] {
		for i, r := range regions {
			x := 0.03 * math.Sin(float64(4*i+s))
			if r == "Dorn" && s == 1 {
				x = -0.17
			}
			f.Add([]string{r, name, "simultaneous 95 % interval over all gaps (max-t)"}, x, x-0.055, x+0.05, 240)
		}
	}
	return datasets.FromFrame(f)
}

// explained is the gaps with a second one, and verdicts on them.
func explained() datasets.Table {
	f := rows(gaps())
	verdicts := slices.Repeat([]string{"no gap"}, f.Len())
	for i, region := range f.Texts("region") {
		if region == "Dorn" && f.Texts("vector")[i] == "background_only" {
			verdicts[i] = "holds"
		}
		if region == "Borun" && f.Texts("vector")[i] == "object_only" {
			verdicts[i] = "segmentation can explain it"
			for _, name := range []string{"gap", "gap_low", "gap_high"} {
				f.Numbers(name)[i] -= 0.12
			}
		}
	}
	return datasets.FromFrame(f.With(table.TextColumn("verdict", verdicts)))
}

// distances are two heaps of numbers.
func distances() datasets.Table {
	f := frame("source:text", "distance:number")
	for i := range 600 {
		s := i % 2
		u := math.Mod(float64(i)*0.754877666, 1) + math.Mod(float64(i)*0.569840291, 1) +
			math.Mod(float64(i)*0.438744, 1)
		f.Add([]string{[]string{"thing in island", "island adjective thing"}[s]}, 16+4*u-2*float64(s))
	}
	return datasets.FromFrame(f)
}

// balls is seven reference images with the distance to their k-th nearest other one, and four generated images.
func balls() datasets.Table {
	at := [][2]float64{{1, 1}, {1.6, 1.3}, {2.1, 0.7}, {3.4, 2.6}, {4.1, 2.9}, {3.2, 3.4}, {1.2, 3.1},
		{1.5, 0.9}, {3.7, 2.9}, {2.4, 2.2}, {4.9, 0.8}}
	var rows []map[string]any
	for _, k := range []int{1, 3} {
		for i, p := range at {
			row := map[string]any{"id": fmt.Sprint(k, i), "k": fmt.Sprintf("k = %d", k), "set": "generated",
				"x": p[0], "y": p[1]}
			if i < 7 {
				var distances []float64
				for _, q := range at[:7] {
					distances = append(distances, math.Hypot(p[0]-q[0], p[1]-q[1]))
				}
				slices.Sort(distances)
				row["set"], row["radius"] = "reference", distances[k]
			}
			rows = append(rows, row)
		}
	}
	return datasets.FromRows(rows)
}

// growth is the width of an interval over the number of images.
func growth() datasets.Table {
	f := frame("score:text", "n:number", "width:number", "width_low:number", "width_high:number")
	for _, name := range []string{"precision", "coverage"} {
		for _, k := range []float64{50, 100, 150, 200, 300, 400, 500, 700, 1000} {
			w := map[string]float64{"precision": 1.3, "coverage": 0.9}[name] / math.Sqrt(k)
			if name == "coverage" && k == 300 {
				w = math.NaN()
			}
			f.Add([]string{name}, k, w, 0.85*w, 1.12*w)
		}
	}
	return datasets.FromFrame(f)
}

// matched is a gallery's table: two photos, what matched them in each vector, nothing in background_only.
func matched() datasets.Table {
	var id, block, vector, role []string
	var images []table.Image
	var masks []table.Mask
	var rank, distance []float64
	add := func(it archipelago.Item, b, s, r string, k int, d float64) {
		img, m := drawn(it)
		images, masks = append(images, img), append(masks, m)
		id, block, vector, role = append(id, it.ID), append(block, b), append(vector, s), append(role, r)
		rank, distance = append(rank, float64(k)), append(distance, d)
	}
	for o := range 2 {
		photo := items(world.Reference(), 0, o)[0]
		sampled := append(items(world.Sampled(), 0, o), items(world.Sampled(), 1, o)...)
		sampled = append(sampled, append(items(world.Sampled(), 2, o), items(world.Sampled(), 3, o)...)...)
		for j, s := range vectors {
			add(photo, photo.Object+", "+photo.Region, s, "reference", 0, math.NaN())
			for k := range []int{8, 3, 0}[j] {
				add(sampled[k], photo.Object+", "+photo.Region, s, "match", k+1, 19.5+float64(k)*0.75)
			}
		}
	}
	return datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("id", id),
		table.TextColumn("block", block), table.TextColumn("vector", vector),
		table.TextColumn("role", role), table.NumberColumn("rank", rank), table.ImageColumn("image", images),
		table.MaskColumn("mask", masks), table.NumberColumn("distance", distance)}})
}

// hubs is a gallery's table of references alone.
func hubs() datasets.Table {
	var id, role []string
	var images []table.Image
	var inside []float64
	for i, it := range items(world.Reference(), 4, 0, 3, 4, 5) {
		img, _ := drawn(it)
		images = append(images, img)
		id, role, inside = append(id, it.ID), append(role, "reference"), append(inside, float64(90-9*i))
	}
	return datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("id", id),
		table.TextColumn("group", id), table.TextColumn("role", role),
		table.ImageColumn("image", images), table.NumberColumn("inside", inside)}})
}

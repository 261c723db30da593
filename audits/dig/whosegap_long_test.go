//go:build calibration

package dig_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/operation"
	models "antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/metrics/disparity"
	"antipode/test/testengine"
)

// toP3 replaces the pixels of sRGB by those of the same colors in Display P3.
func toP3(img *image.RGBA) {
	const n = 4096
	var linear [256]float64
	var back [n + 1]uint8
	for i := range linear {
		if v := float64(i) / 255; v <= 0.04045 {
			linear[i] = v / 12.92
		} else {
			linear[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	for i := range back {
		v := float64(i) / n
		if v = min(12.92*v, 1.055*math.Pow(v, 1/2.4)-0.055); float64(i)/n > 0.0031308 {
			v = 1.055*math.Pow(float64(i)/n, 1/2.4) - 0.055
		}
		back[i] = uint8(255*max(0, v) + 0.5)
	}
	for i := 0; i < len(img.Pix); i += 4 {
		r, g, b := linear[img.Pix[i]], linear[img.Pix[i+1]], linear[img.Pix[i+2]]
		for c, v := range []float64{0.822462*r + 0.177538*g, 0.033194*r + 0.966806*g,
			0.017083*r + 0.072397*g + 0.910520*b} {
			img.Pix[i+c] = back[int(v*n+0.5)]
		}
	}
}

// photographed is how a pool's images are stored.
type photographed struct {
	p3      bool // pixels of Display P3, with the profile
	quality int  // of the JPEG
}

// drawn writes the images of a world's items and returns them with their vectors.
func drawn(t *testing.T, w *archipelago.World, items []archipelago.Item, as photographed,
	o ...models.EmbedOptions) *datasets.Frame {
	dir := t.TempDir()
	profile := must.Get(os.ReadFile("../../internal/icc/testdata/p3.icc"))(t)
	var index strings.Builder
	index.WriteString("id,image,mask,object,region,scene\n")
	for _, it := range items {
		img, mask := w.Draw(it)
		if as.p3 {
			toP3(img)
		}
		var b, m bytes.Buffer
		must.Do(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: as.quality}))
		must.Do(t, png.Encode(&m, mask))
		data := b.Bytes()
		if as.p3 {
			body := append([]byte("ICC_PROFILE\x00\x01\x01"), profile...)
			data = slices.Concat(data[:2], []byte{0xff, 0xe2}, binary.BigEndian.AppendUint16(nil, uint16(len(body)+2)),
				body, data[2:])
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, it.ID+".jpg"), data, 0o600))
		must.Do(t, os.WriteFile(filepath.Join(dir, it.ID+".png"), m.Bytes(), 0o600))
		fmt.Fprintf(&index, "%s,%s.jpg,%s.png,%s,%s,%s\n", it.ID, it.ID, it.ID, it.Object, it.Region, it.Scene)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "index.csv"), []byte(index.String()), 0o600))
	return testengine.Rows(t, "vectors", models.Embed(models.ArchipelagoViT,
		datasets.CSV(filepath.Join(dir, "index.csv")), o...))
}

// engine makes this process evaluate plans: with the plugins of ANTIPODE_HOME, if it is set.
func engine(t *testing.T) {
	if home := os.Getenv("ANTIPODE_HOME"); home != "" {
		must.Do(t, all.Use(home))
	} else {
		testengine.Use(t)
	}
}

// evaluated computes an operation on frames.
func evaluated(t *testing.T, name, options string, frames map[string]*datasets.Frame) *datasets.Frame {
	op := operation.Find(name)
	var roles []string
	var inputs []*datasets.Frame
	for _, in := range op.Inputs {
		if f := frames[in.Role]; f != nil {
			roles, inputs = append(roles, in.Role), append(inputs, f)
		}
	}
	raw := must.Get(json.Marshal(operation.Args{Version: op.Version, Roles: roles, Options: []byte(options)}))(t)
	return must.Get(op.Evaluate(t.Context(), operation.Call{}, raw, inputs))(t)
}

// some returns n random rows of each object on each island; those of an island come from another pool and have one of
// its scenes, where they are named.
func some(rng *rand.Rand, pool *datasets.Frame, n int, island string, other *datasets.Frame,
	scenes []string) *datasets.Frame {
	pick := func(f *datasets.Frame, want func(row int) bool) *datasets.Frame {
		cells := map[string][]int{}
		for _, row := range rng.Perm(f.Len()) {
			if cell := f.Texts("region")[row] + "/" + f.Texts("object")[row]; want(row) && len(cells[cell]) < n {
				cells[cell] = append(cells[cell], row)
			}
		}
		var rows []int
		for _, c := range cells {
			rows = append(rows, c...)
		}
		slices.Sort(rows)
		return f.Pick(rows)
	}
	rest := pick(pool, func(row int) bool { return pool.Texts("region")[row] != island })
	if island == "" {
		return rest
	}
	rest.Append(pick(other, func(row int) bool {
		return other.Texts("region")[row] == island &&
			(scenes == nil || slices.Contains(scenes, other.Texts("scene")[row]))
	}))
	return rest
}

// TestCalibrationOfWhoseGap asks whose gap it is in 200 samples of each of several worlds: a fair generator and one
// island's photographs damaged, or photographs as they are and a disparity injected; docs/trust.md has the table. An
// installed plugin of XLA, in ANTIPODE_HOME, makes the vectors in 5 minutes, pure Go in an hour. Run with:
//
//	go test -tags calibration -run CalibrationOfWhoseGap -timeout 3h -v ./audits/dig
func TestCalibrationOfWhoseGap(t *testing.T) {
	engine(t)
	const perCell, draws = 16, 200
	good := photographed{quality: 92}
	world := func(seed uint64, n int, injected bool) *archipelago.World {
		return archipelago.New(archipelago.Options{Seed: seed, PerCell: n, Injected: injected})
	}
	base := world(1, 60, false)
	photos, fair := drawn(t, base, base.Reference(), good), drawn(t, base, base.Sampled(), good)
	damaged := map[string]*datasets.Frame{"half the scenes": photos}
	for name, as := range map[string]photographed{"P3 pixels, JPEG 30, half the scenes": {true, 30},
		"P3 pixels": {true, 92}, "JPEG 30": {quality: 30}} {
		w := world(1, cmp.Or(map[bool]int{as.p3 && as.quality == 30: 60}[true], 40), false)
		damaged[name] = drawn(t, w, w.Reference(), as)
	}
	type injection struct {
		island string
		images *datasets.Frame
	}
	injected := map[string][]injection{}
	for seed := range uint64(8) {
		w := world(100+seed, 32, true)
		for _, d := range w.InjectedDisparities() {
			items := slices.DeleteFunc(w.Sampled(), func(it archipelago.Item) bool { return it.Region != d.Island })
			injected[d.Kind] = append(injected[d.Kind], injection{d.Island, drawn(t, w, items, good)})
		}
	}
	acquisitions := map[string]*datasets.Frame{}
	acquisition := func(kind, island, key string, made *datasets.Frame) *datasets.Frame {
		key = kind + "/" + island + "/" + key
		if acquisitions[key] == nil {
			rng := rand.New(rand.NewPCG(1, 1))
			acquisitions[key] = evaluated(t, "acquisition", `{"by":["region"]}`, map[string]*datasets.Frame{
				"in": some(rng, photos, perCell, island, damaged[kind], nil), "generated": made})
		}
		return acquisitions[key]
	}
	const all = "P3 pixels, JPEG 30, half the scenes"
	t.Log("| photographs | generator | vector | score | generator | reference | camera | undecided | no gap | others |")
	for _, c := range []struct{ photos, generator, vector, score string }{
		{"", "", "background_only", "coverage"}, {"", "", "object_only", "coverage"},
		{all, "", "background_only", "coverage"}, {all, "", "full", "coverage"},
		{"P3 pixels", "", "background_only", "coverage"}, {"JPEG 30", "", "background_only", "coverage"},
		{"half the scenes", "", "background_only", "coverage"}, {"half the scenes", "", "background_only", "precision"},
		{"", "few backgrounds", "background_only", "coverage"}, {"", "unseen variants", "object_only", "coverage"},
		{"JPEG 30", "few backgrounds", "background_only", "coverage"},
	} {
		t.Run(cmp.Or(c.photos, "good")+"/"+cmp.Or(c.generator, "fair")+"/"+c.vector+"/"+c.score, func(t *testing.T) {
			n, others := map[string]int{}, 0
			for draw := range draws {
				rng := rand.New(rand.NewPCG(uint64(draw), 42))
				island, from, change, key := base.Islands()[rng.IntN(6)], photos, "", ""
				frames := map[string]*datasets.Frame{"generated": some(rng, fair, perCell, "", nil, nil)}
				if of := injected[c.generator]; of != nil {
					k := rng.IntN(len(of))
					one := of[k]
					island, key = one.island, fmt.Sprint(c.generator, k)
					frames["generated"] = some(rng, fair, perCell, island, one.images, nil)
				}
				var scenes []string
				if c.photos != "" {
					from, change = damaged[c.photos], island
				}
				if strings.Contains(c.photos, "scenes") {
					for _, i := range rng.Perm(6)[:3] {
						scenes = append(scenes, base.Scenes()[i])
					}
				}
				frames["real"] = some(rng, photos, perCell, change, from, scenes)
				frames["acquisition"] = acquisition(cmp.Or(c.photos, "half the scenes"), change, key,
					frames["generated"])
				out := evaluated(t, "whose-gap", fmt.Sprintf(`{"by":["region"],"vector":%q,"scores":[%q],"seed":%d}`,
					c.vector, c.score, draw), frames)
				for i, region := range out.Texts("region") {
					switch verdict := out.Texts("verdict")[i]; {
					case region == island:
						n[verdict]++
					case verdict != disparity.NoGap && verdict != disparity.AboveOthers:
						others++
					}
				}
			}
			share := func(verdict string) float64 { return 100 * float64(n[verdict]) / float64(draws) }
			t.Logf("| %s | %s | %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |", cmp.Or(c.photos, "good"),
				cmp.Or(c.generator, "fair"), c.vector, c.score, share(disparity.FromGenerator),
				share(disparity.FromReference), share(disparity.FromCamera), share("undecided"),
				share(disparity.NoGap)+share(disparity.AboveOthers), 100*float64(others)/float64(draws))
			if blamed := share(disparity.FromReference) + share(disparity.FromCamera); c.vector != "full" &&
				(c.photos == all && blamed < 95 || c.generator != "" && share(disparity.FromGenerator) < 95) {
				t.Error("blamed too rarely")
			}
		})
	}
}

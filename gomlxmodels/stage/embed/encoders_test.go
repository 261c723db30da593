package embed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/stagetest"
	"antipode/test/testbackend"
)

func encoderArgs(folder, vector, text string) gomlxmodels.EmbedArgs {
	args := blip2Args("", vector, "", text)
	args.Model, _ = filepath.Abs(filepath.Join("../..", folder))
	return args
}

// TestPrecisions: a model that is open in float32 is not used for bfloat16.
func TestPrecisions(t *testing.T) {
	env := stagetest.NewEnv(t, testbackend.XLA(t))
	scene := stagetest.Scenes(t, 1)[0]
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
		table.ImageColumn("image", []table.Image{scene})}}
	var vectors [][]float32
	for _, precision := range []string{"float32", "bfloat16"} {
		args := encoderArgs("clip/testdata/siglip", "", "")
		args.Precision = precision
		got := stagetest.Run(t, stagetest.Start(t, env, gomlxmodels.EmbedOp, args), f, []int{0}, 1)
		vectors = append(vectors, got[0][0].Vector)
	}
	if slices.Equal(vectors[0], vectors[1]) || near.Compare(vectors[0], vectors[1], 0.1, 0.1) != nil {
		t.Errorf("float32 %v, bfloat16 %v", vectors[0][:4], vectors[1][:4])
	}
}

// TestEncoders embeds images and texts with the folders of DINOv2 and SigLIP without further options: the decomposed
// vectors where there are masks, and SigLIP's image vector as full and as clip_image.
func TestEncoders(t *testing.T) {
	env := stagetest.NewEnv(t, testbackend.Go(t))
	scene := stagetest.Scenes(t, 1)[0]
	rgb := modeltest.Open(t, "../../clip/testdata/siglip").Image("picture")
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c"}),
		table.ImageColumn("image", []table.Image{stagetest.Image(t, rgb), scene, {}}),
		table.TextColumn("caption", []string{"a cat", "on the sea on the sea on the sea on the sea", ""}),
		table.TextColumn("outcome", []string{"", "", "refused"})}}
	run := func(folder, vector, text string, f *table.Frame) map[int][]table.Value {
		return stagetest.Run(t, stagetest.Start(t, env, gomlxmodels.EmbedOp, encoderArgs(folder, vector, text)), f,
			stagetest.All(f), 2)
	}
	const siglip, openCLIP = "clip/testdata/siglip", "clip/testdata/open-clip"
	const clip = "clip/testdata/quickgelu-legacy-end"
	full, image := run(siglip, "", "", f), run(siglip, gomlxmodels.ClipImage, "", f)
	golden := modeltest.Open(t, "../../clip/testdata/siglip")
	near.Check(t, "full", full[0][0].Vector, golden.Values("picture.projected"), 1e-4, 1e-4)
	for i := range 2 {
		near.Check(t, "clip_image", image[i][0].Vector, full[i][0].Vector, 1e-5, 1e-6)
	}
	texts := run(siglip, gomlxmodels.ClipText, "caption", f)
	near.Check(t, "clip_text", texts[0][0].Vector, golden.Rows("text.projected")[0], 1e-4, 1e-5)
	if cut := texts[1][4].Number; cut < 1 || texts[0][4].Number != 0 || texts[2][0].Vector != nil {
		t.Errorf("%v tokens of a long text are cut; %+v", cut, texts)
	}
	open := modeltest.Open(t, "../../clip/testdata/open-clip")
	f.Columns[1] = table.ImageColumn("image", []table.Image{stagetest.Image(t, open.Image("picture")), scene, {}})
	near.Check(t, "open_clip", run(openCLIP, gomlxmodels.ClipImage, "", f)[0][0].Vector,
		open.Values("picture.projected"), 1e-4, 1e-4)
	near.Check(t, "open_clip, full", run(openCLIP, "", "", f)[0][0].Vector, open.Values("picture.projected"), 1e-4,
		1e-4)
	rows := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b"}),
		table.ImageColumn("image", []table.Image{scene, scene}),
		table.MaskColumn("mask", []table.Mask{leftHalf(t, scene), {}})}}
	for _, folder := range []string{siglip, openCLIP, clip, "vit/testdata/dinov2-down",
		"vit/testdata/dinov2-registers-up"} {
		got := run(folder, "", "", rows)
		v := got[0]
		if len(v) != 5 || v[3].Number < 1 || v[4].Number < 1 || got[1][1].Vector != nil || got[1][0].Vector == nil {
			t.Errorf("%s: %+v", folder, got)
			continue
		}
		near.Check(t, "full", got[1][0].Vector, v[0].Vector, 1e-4, 1e-5)
		if near.Compare(v[1].Vector, v[2].Vector, 1e-2, 1e-2) == nil {
			t.Errorf("%s: object and background have one vector", folder)
		}
		if folder == clip {
			whole := run(clip, gomlxmodels.ClipImage, "", rows)
			near.Check(t, "full of a CLIP", v[0].Vector, whole[0][0].Vector, 1e-5, 1e-6)
		}
	}
}

func leftHalf(t *testing.T, img table.Image) table.Mask {
	t.Helper()
	rgb := must.Get(stage.ReadImage(img))(t)
	b := mask.Bitmap{Width: rgb.Width, Height: rgb.Height, Pix: make([]bool, rgb.Width*rgb.Height)}
	for i := range b.Pix {
		b.Pix[i] = i%b.Width < b.Width/2
	}
	return mask.Encode(b)
}

// TestInceptionWhole opens a checkpoint of zeros: it embeds no parts of images, makes the vector logits too, and takes
// no options of others.
func TestInceptionWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "inception")
	must.Do(t, os.Mkdir(dir, 0o700))
	narrow := must.Get(weights.OpenFiles("../../inception/testdata/fid/pt_inception-2015-12-05-6726825d.pth"))(t)
	header, at := []string{}, 0
	for _, name := range narrow.Names() {
		if strings.HasSuffix(name, "num_batches_tracked") {
			continue
		}
		info, _ := narrow.Info(name)
		shape, n := slices.Clone(info.Shape), 4
		for i, d := range shape {
			if i < 2 && d != 1008 && !(i == 1 && strings.HasPrefix(name, "Conv2d_1a")) {
				shape[i] = 16 * d // the published widths
			}
			n *= shape[i]
		}
		header = append(header, fmt.Sprintf(`%q:{"dtype":"F32","shape":%s,"data_offsets":[%d,%d]}`, name,
			must.Get(json.Marshal(shape))(t), at, at+n))
		at += n
	}
	text := "{" + strings.Join(header, ",") + "}"
	file := must.Get(os.Create(filepath.Join(dir, "pt_inception-2015-12-05.pth")))(t)
	defer file.Close()
	must.Get(file.Write(append([]byte{byte(len(text)), byte(len(text) >> 8), byte(len(text) >> 16), 0, 0, 0, 0, 0},
		text...)))(t)
	must.Do(t, file.Truncate(int64(8+len(text)+at)))
	env := stagetest.NewEnv(t, nil)
	args := encoderArgs("", "", "")
	args.Model = dir
	columns := []table.ColumnSpec{{Name: "id", Kind: table.KindText}, {Name: "image", Kind: table.KindImage},
		{Name: "mask", Kind: table.KindMask}}
	for vector, want := range map[string]string{"": "embeds whole images, without", gomlxmodels.Logits: ""} {
		args.Vector = vector
		w := must.Get(stagetest.Open(t, env, gomlxmodels.EmbedOp, args))(t)
		if err := w.Check(columns); want != "" {
			must.Fail(err)(t, want)
		} else if err != nil || !slices.Equal(w.Outputs(columns), gomlxmodels.EmbedColumns(vector, true)) {
			t.Errorf("logits: %v, %v", err, w.Outputs(columns))
		}
	}
	must.EqualSlices(t, gomlxmodels.Vectors(dir), []string{"full", "logits"}, "vectors")
	args.Pooling = "patches"
	must.Fail(stagetest.Open(t, env, gomlxmodels.EmbedOp, args))(t, `pooling "patches"`)
	args.Pooling, args.Preprocess = "", "public-code"
	must.Fail(stagetest.Open(t, env, gomlxmodels.EmbedOp, args))(t, `preprocess "public-code" is for a ViT`)
}

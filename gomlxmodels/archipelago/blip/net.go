package blip

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/readout"
	"antipode/gomlxmodels/archipelago/weights"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/vit"
)

// shape is the captioner's. The tower is archipelago-vit's.
var shape = func() blip.Config {
	c := blip.DefaultConfig()
	c.Vision.HiddenSize, c.Vision.Layers, c.Vision.Heads, c.Vision.IntermediateSize = 128, 6, 4, 512
	c.Vision.ImageSize, c.Vision.PatchSize = examples.Size, 16
	c.Text.HiddenSize, c.Text.Layers, c.Text.Heads, c.Text.IntermediateSize = 128, 3, 4, 512
	c.Text.VocabSize, c.Text.Positions = len(vocabulary), positions
	c.Text.StartToken, c.Text.EndToken = tokenID(tokenStart), tokenID(tokenEnd)
	return c
}()

// lossGraph is the cross-entropy of the tokens that follow, over all that is scored, and the losses of linear readers of the tower, see package readout. Its
// parts are those of things, of figures, of the questions about figures' groups, and of the readers.
//
// Shapes: in = pixels [B,3,H,W] float; ids and next tokens, int32, of things [B/2,Q], of figures [B/2,Q] and of questions [B,Q]; the readers'
// answers → [] and [5].
func lossGraph(scope *model.Scope, in []*Node) (total, parts *Node) {
	g := in[0].Graph()
	image := blip.ForwardImage(scope, &shape, in[0], blip.GraphOptions{})
	things, pictures := in[1].Shape().Dim(0), in[0].Shape().Dim(0)
	sum, n := Scalar(g, dtypes.Float32, 0), Scalar(g, dtypes.Float32, 0)
	var means []*Node
	for kind, rows := range [][2]int{{0, things}, {things, pictures}, {things, pictures}} {
		s, k := textLoss(scope, look(image.Context, rows[0], rows[1]), in[1+2*kind], in[2+2*kind])
		sum, n = Add(sum, s), Add(n, k)
		means = append(means, Div(s, k))
	}
	patches, class := readout.Loss(scope, image.Tokens, in[7], in[8])
	return Add(Div(sum, n), Add(patches, class)), Stack(append(means, patches, class), 0)
}

// look takes the contexts of some pictures.
func look(context []*Node, from, to int) []*Node {
	out := make([]*Node, len(context))
	for i, c := range context {
		out[i] = Slice(c, AxisRange(from, to))
	}
	return out
}

// textLoss is the cross-entropy summed over the tokens that are scored, and their number, both [].
//
// Shapes: context as blip.Image has it, of B pictures; ids, next [R,Q] int32, B divides R.
func textLoss(scope *model.Scope, context []*Node, ids, next *Node) (sum, n *Node) {
	r, q := ids.Shape().Dim(0), ids.Shape().Dim(1)
	logits := blip.ForwardText(scope, &shape, decode.Inputs{IDs: ids, Positions: Iota(ids.Graph(), shapes.Make(dtypes.Int32, r, q), 1),
		Context: context, Cache: decode.NewCache(q)}, blip.GraphOptions{Stages: true}).Logits
	scored := GreaterOrEqual(next, ZerosLike(next))
	truth := OneHot(MaxScalar(next, int32(0)), shape.Text.VocabSize, dtypes.Float32)
	each := Neg(ReduceSum(Mul(truth, LogSoftmax(logits)), -1)) // [R,Q]
	return ReduceAllSum(Where(scored, each, ZerosLike(each))), ReduceAllSum(ConvertDType(scored, dtypes.Float32))
}

// tower is the model that the captioner's tower starts from, unpacked into a folder that the caller removes.
func tower() (m *vit.Model, digest, dir string, err error) {
	files, err := fs.Sub(weights.FS(), weights.ViT)
	if err != nil {
		return nil, "", "", err
	}
	raw, err := fs.ReadFile(files, "model.safetensors")
	if err != nil {
		return nil, "", "", err
	}
	if dir, err = os.MkdirTemp("", weights.ViT+"-"); err != nil {
		return nil, "", "", err
	}
	if err = os.CopyFS(dir, files); err == nil {
		m, err = vit.Open(dir)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, "", "", err
	}
	return m, fmt.Sprintf("%s %x", weights.ViT, sha256.Sum256(raw))[:len(weights.ViT)+1+16], dir, nil
}

// start puts archipelago-vit's weights into the tower.
func start(store *model.Store) error {
	m, _, dir, err := tower()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return m.Load(store.RootScope().At("vision"), dtypes.Float32)
}

package blip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/pack"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/weights"
)

// Encoded is the result of [ForwardQuestion].
type Encoded struct {
	// keys and values of the decoder's cross-attention, block by block, [R,H,Q,d] each, and which tokens of the
	// question it may attend to, [R,1,1,Q] bool
	Context []*Node
	Hidden  *Node // [R,Q,D] float32, after the last block
}

// ForwardQuestion encodes questions about images. It panics on wrong shapes.
//
// Shapes: ids [R,Q] int32, of which the first count [R,1] int32 are a question; image is the Context of [Image], with
// B = R → [Encoded].
func ForwardQuestion(scope *model.Scope, cfg *Config, ids, count *Node, image []*Node, o GraphOptions) (out Encoded) {
	c, dtype := &cfg.Text, nn.DType(o.DType)
	places := Iota(ids.Graph(), ids.Shape(), 1)
	keep := InsertAxes(LessThan(places, BroadcastToDims(count, ids.Shape().Dimensions...)), 1, 1)
	x, _ := embed(scope.At("question"), c, ids, places, dtype)
	all := func(k, v *Node) (keys, values, mask *Node) { return k, v, keep }
	for i := range c.Layers {
		x = block(scope.At("question").At("block_%d", i), c, x, all, image[2*i], image[2*i+1], nil)
	}
	return Encoded{Context: append(contexts(scope.At("text"), c, x), keep), Hidden: nn.Float32(x)}
}

// likelihood returns the sum of the log-probabilities of the tokens that follow others.
//
// Shapes: logits [R,Q,V]; targets [R,Q] int32, −1 = padding → [R].
func likelihood(logits, targets *Node) *Node {
	logits = Sub(logits, ReduceAndKeep(logits, ReduceMax, -1))
	all := BroadcastToShape(InsertAxes(targets, -1), shapes.Make(dtypes.Int32, logits.Shape().Dimensions...))
	is := Equal(all, Iota(logits.Graph(), all.Shape(), 2))
	p := Sub(ReduceSum(Where(is, logits, ZerosLike(logits)), -1), Log(ReduceSum(Exp(logits), -1)))
	return ReduceSum(Where(GreaterOrEqual(targets, ZerosLike(targets)), p, ZerosLike(p)), -1)
}

// AnswerTokens is the largest number of tokens of an answer that the model writes itself.
const AnswerTokens = 10

// Question is a question about an image.
type Question struct {
	Pixels []float32 // as [Model.Prepare] returns them
	// Image identifies the pixels: consecutive questions about one image encode it once. "" = different from all others
	Image   string
	Tokens  []int32   // as [Model.Question] returns them
	Choices [][]int32 // as [Model.Choice] returns them; none = only a written answer
}

// Answer is the answer to a [Question].
type Answer struct {
	LogProbs []float64 // log-likelihood of each choice, its end included
	Written  []int32   // the answer that the model writes, greedily, without regard to the choices
}

// Answerer is a model that answers questions, on a device. It is for the goroutine that owns the device.
type Answerer struct {
	m *Model
	*runner.Runner
	image, question, rank *runner.Graph
	generator             *textgen.Generator
	compiled              []*Graph // of image and question
	last                  string   // the image encoded last
	context               []*tensors.Tensor
}

// NewAnswerer reads the weights of a model of [OpenQuestions]. It computes in float32.
func NewAnswerer(backend compute.Backend, m *Model) (a *Answerer, err error) {
	defer runner.Recovered("blip", &err)
	if backend == nil || m == nil || !m.cfg.questions {
		return nil, errors.New("blip: an answerer needs a backend and a model that answers questions")
	}
	a = &Answerer{m: m, Runner: runner.New(backend, "blip", "answerer")}
	net := a.Net(func(s *model.Store) error {
		return weights.Load(s.RootScope(), m.Weights, table(m.cfg), dtypes.Float32)
	})
	if err := net.Load(); err != nil {
		a.Runner.Close()
		return nil, err
	}
	a.image = net.Graph("blip/image", func(s *model.Scope, in []*Node) []*Node {
		return ForwardImage(s, m.cfg, in[0], GraphOptions{}).Context
	})
	a.question = net.Graph("blip/question", func(s *model.Scope, in []*Node) []*Node {
		return ForwardQuestion(s, m.cfg, in[0], in[1], in[2:], GraphOptions{}).Context
	})
	a.rank = net.Graph("blip/rank", func(s *model.Scope, in []*Node) []*Node {
		ids := in[0]
		text := ForwardText(s, m.cfg, textgen.Inputs{IDs: ids, Positions: Iota(ids.Graph(), ids.Shape(), 1),
			Context: in[2:], Cache: textgen.NewCache(ids.Shape().Dim(1))}, GraphOptions{AllLogits: true})
		return []*Node{likelihood(text.Logits, in[1])}
	})
	a.generator = textgen.NewGenerator(net, m.Network().Decoder(dtypes.Float32))
	return a, nil
}

// Close releases weights and compiled graphs. The answerer cannot be used afterwards; a second call does nothing.
func (a *Answerer) Close() {
	var ignored error
	defer runner.Recovered("blip", &ignored)
	release(a.context)
	a.context = nil
	a.Runner.Close()
}

func release(list []*tensors.Tensor) {
	for _, t := range list {
		t.FinalizeAll()
	}
}

// Answer answers questions, in order, one by one: an answer does not depend on the other questions. ctx is checked
// before every question and token. Errors name the question by its number.
func (a *Answerer) Answer(ctx context.Context, questions []Question) (out []Answer, err error) {
	defer runner.Recovered("blip", &err)
	if err := a.Closed(); err != nil {
		return nil, err
	}
	c, side := &a.m.cfg.Text, a.m.cfg.Vision.ImageSize
	for i, q := range questions {
		if err := runner.Pixels(i, q.Pixels, 3*side*side); err != nil {
			return nil, err
		}
		for k, ids := range append([][]int32{q.Tokens}, q.Choices...) {
			err := pack.Check(ids, c.Positions, c.VocabSize)
			if err == nil && len(ids) < 2 {
				err = errors.New("it has one token, not even start and end")
			}
			if err != nil && k > 0 {
				err = fmt.Errorf("choice %d: %w", k, err)
			}
			if err != nil {
				return nil, fmt.Errorf("question %d: %w", i+1, err)
			}
		}
	}
	for i, q := range questions {
		answer, err := a.answer(ctx, &q)
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		out = append(out, answer)
	}
	return out, nil
}

func (a *Answerer) answer(ctx context.Context, q *Question) (out Answer, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	c, side := &a.m.cfg.Text, a.m.cfg.Vision.ImageSize
	if a.context == nil || q.Image == "" || q.Image != a.last {
		pixels := tensors.FromFlatDataAndDimensions(q.Pixels, 1, 3, side, side)
		defer pixels.FinalizeAll()
		context, err := a.image.Run(pixels)
		if err != nil {
			return out, err
		}
		release(a.context)
		a.context, a.last = context, q.Image
	}
	size := min(multiple(len(q.Tokens), 16), c.Positions)
	ids := make([]int32, size)
	copy(ids, q.Tokens)
	inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ids, 1, size),
		tensors.FromFlatDataAndDimensions([]int32{int32(len(q.Tokens))}, 1, 1)}
	defer release(inputs)
	encoded, err := a.question.Run(slices.Concat(inputs, a.context)...)
	if err != nil {
		return out, err
	}
	defer release(encoded)
	if a.compiled == nil {
		of := func(list ...*tensors.Tensor) (out []shapes.Shape) {
			for _, t := range list {
				out = append(out, t.Shape())
			}
			return out
		}
		image, err := a.image.Compile(shapes.Make(dtypes.Float32, 1, 3, side, side))
		question, err2 := a.question.Compile(of(slices.Concat(inputs, a.context)...)...)
		if err := cmp.Or(err, err2); err != nil {
			return out, err
		}
		a.compiled = []*Graph{image, question}
	}
	texts, err := a.generator.Generate(ctx, encoded, []textgen.Request{{Prompt: []int32{int32(c.StartToken)}}},
		textgen.Options{MaxTokens: min(AnswerTokens, c.Positions), Ends: []int32{int32(c.EndToken)}}, a.compiled...)
	if err != nil {
		return out, err
	}
	out.Written = texts[0][0].Tokens
	out.LogProbs, err = a.likelihoods(q.Choices, encoded)
	return out, err
}

// multiple returns the smallest multiple of a step that is not below n.
func multiple(n, step int) int { return (n + step - 1) / step * step }

// rankTokens is the largest number of tokens per call that choices are filled up to, unless one is longer.
const rankTokens = 128

// likelihoods returns the log-likelihood of each choice, given the encoded question.
func (a *Answerer) likelihoods(choices [][]int32, encoded []*tensors.Tensor) (out []float64, err error) {
	longest := 1
	for _, ids := range choices {
		longest = max(longest, len(ids)-1)
	}
	size := min(multiple(longest, 8), a.m.cfg.Text.Positions)
	for part := range slices.Chunk(choices, max(1, rankTokens/size)) {
		rows := 1
		for rows < len(part) {
			rows *= 2
		}
		ids, targets := make([]int32, rows*size), slices.Repeat([]int32{-1}, rows*size)
		for i, choice := range part {
			copy(ids[i*size:], choice[:len(choice)-1])
			copy(targets[i*size:], choice[1:])
		}
		inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ids, rows, size),
			tensors.FromFlatDataAndDimensions(targets, rows, size)}
		results, err := a.rank.Run(slices.Concat(inputs, encoded)...)
		release(inputs)
		if err != nil {
			return nil, err
		}
		flat, err := tensors.CopyFlatData[float32](results[0])
		release(results)
		if err != nil {
			return nil, err
		}
		for i := range part {
			p, err := runner.Row(flat, i, rows)
			if err != nil {
				return nil, err
			}
			out = append(out, float64(p[0]))
		}
	}
	return out, nil
}

// Question returns the tokens of a question, its special tokens included. What the vocabulary lacks is an error, and so
// is a folder without a tokenizer.
func (m *Model) Question(text string) ([]int32, error) { return m.tokens("question", text) }

// Choice returns the tokens of a possible answer: the start token, its own, the end token. Errors are those of
// [Model.Question].
func (m *Model) Choice(text string) ([]int32, error) {
	ids, err := m.tokens("choice", text)
	if err == nil {
		ids[0], ids[len(ids)-1] = int32(m.cfg.Text.StartToken), int32(m.cfg.Text.EndToken)
	}
	return ids, err
}

// tokens returns those of a text, which errors call by a name.
func (m *Model) tokens(name, text string) (ids []int32, err error) {
	defer runner.Recovered("blip", &err)
	t, err := m.Tokenizer()
	if err != nil {
		return nil, err
	}
	e, err := t.Encode(text, -1)
	if err == nil {
		err = m.marked(e)
	}
	switch {
	case err != nil:
		return nil, err
	case e.Unknown > 0:
		return nil, fmt.Errorf("%s %q: the model's vocabulary lacks part of it", name, text)
	case len(e.IDs) > m.cfg.Text.Positions:
		return nil, fmt.Errorf("%s %.60q: %d tokens, the model takes at most %d", name, text, len(e.IDs),
			m.cfg.Text.Positions)
	}
	return e.IDs, nil
}

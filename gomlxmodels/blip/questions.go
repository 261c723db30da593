package blip

import (
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

// ForwardQuestion encodes questions about images, or with a [MatchClass] texts. It panics on wrong shapes.
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
	if out.Hidden = nn.Float32(x); cfg.class == QuestionClass {
		out.Context = append(contexts(scope.At("text"), c, x), keep)
	}
	return out
}

// ForwardMatch is the head of a [MatchClass]: from the first token of the encoded text.
//
// Shapes: hidden [R,Q,D] float32 → [R,2] float32, the logits of "no" and "yes", the text describes the image.
func ForwardMatch(scope *model.Scope, hidden *Node) *Node {
	first := Squeeze(Slice(hidden, AxisRange(), AxisElem(0)), 1)
	return nn.Dense(scope.At("match"), first, 2, true)
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

// Question is a question about an image. For a [CaptionClass] it is the begin of a caption, which the choices continue
// ("the animal is": "a cat", "a dog"); for a [MatchClass] a text that may describe the image: the choices are [No] and
// [Yes].
type Question struct {
	Pixels []float32 // as [Model.Prepare] returns them
	// Image identifies the pixels: consecutive questions about one image encode it once. "" = different from all others
	Image   string
	Tokens  []int32   // as [Model.Question] returns them
	Choices [][]int32 // as [Model.Choice] returns them; none = only a written answer; none for a [MatchClass]
}

// The choices of a [MatchClass], in this order.
const (
	No  = "no"
	Yes = "yes"
)

// Answer is the answer to a [Question].
type Answer struct {
	LogProbs []float64 // log-likelihood of each choice, its end included; of a [MatchClass] of its two choices
	// Written is the answer that the model writes, greedily, without regard to the choices; a [MatchClass] writes none.
	Written []int32
}

// Answerer is a model that answers questions, on a device. It is for the goroutine that owns the device.
type Answerer struct {
	m *Model
	*runner.Runner
	image, question, rank *runner.Graph // question returns the logits of a [MatchClass]
	generator             *textgen.Generator
	compiled              []*Graph // of image and, of a [QuestionClass], of question
	last                  string   // the image encoded last
	context               []*tensors.Tensor
}

// NewAnswerer reads the weights of a model of [OpenQuestions]. It computes in float32.
func NewAnswerer(backend compute.Backend, m *Model) (a *Answerer, err error) {
	defer runner.Recovered("blip", &err)
	if backend == nil || m == nil {
		return nil, errors.New("blip: an answerer needs a backend and a model")
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
		encoded := ForwardQuestion(s, m.cfg, in[0], in[1], in[2:], GraphOptions{})
		if m.cfg.class == MatchClass {
			return []*Node{LogSoftmax(ForwardMatch(s, encoded.Hidden))}
		}
		return encoded.Context
	})
	if m.cfg.class == MatchClass {
		return a, nil
	}
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
	runner.Release(a.context...)
	a.context = nil
	a.Runner.Close()
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
			if given := a.given(&q); err == nil && k > 0 && len(ids) <= given {
				err = fmt.Errorf("it has %d tokens, no more than the %d that are given", len(ids), given)
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
		runner.Release(a.context...)
		a.context, a.last = context, q.Image
	}
	encoded, prompt := a.context, q.Tokens
	if a.m.cfg.encodes() {
		inputs := a.inputs(q.Tokens)
		defer runner.Release(inputs...)
		if encoded, err = a.question.Run(slices.Concat(inputs, a.context)...); err != nil {
			return out, err
		}
		defer runner.Release(encoded...)
		prompt = []int32{int32(c.StartToken)}
	}
	if a.m.cfg.class == MatchClass {
		flat, err := runner.Numbers(encoded[0])
		if err != nil {
			return out, err
		}
		p, err := runner.Row(flat, 0, 1)
		if err != nil {
			return out, err
		}
		return Answer{LogProbs: []float64{float64(p[0]), float64(p[1])}}, nil
	}
	if a.compiled == nil {
		if err := a.compile(q.Tokens); err != nil {
			return out, err
		}
	}
	texts, err := a.generator.Generate(ctx, encoded, []textgen.Request{{Prompt: prompt}},
		textgen.Options{MaxTokens: min(AnswerTokens, c.Positions), Ends: []int32{int32(c.EndToken)}}, a.compiled...)
	if err != nil {
		return out, err
	}
	out.Written = texts[0][0].Tokens
	out.LogProbs, err = a.likelihoods(q.Choices, encoded, a.given(q))
	return out, err
}

// given is the number of tokens that a choice begins with and whose likelihood does not count.
func (a *Answerer) given(q *Question) int {
	if !a.m.cfg.encodes() {
		return len(q.Tokens)
	}
	return 1
}

// inputs are those of the encoder of questions, without the image.
func (a *Answerer) inputs(question []int32) []*tensors.Tensor {
	size := min(multiple(len(question), 16), a.m.cfg.Text.Positions)
	ids := make([]int32, size)
	copy(ids, question)
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ids, 1, size),
		tensors.FromFlatDataAndDimensions([]int32{int32(len(question))}, 1, 1)}
}

// compile compiles the graphs that encode an image and a question: they show the generator which weights are used.
func (a *Answerer) compile(question []int32) error {
	side := a.m.cfg.Vision.ImageSize
	image, err := a.image.Compile(shapes.Make(dtypes.Float32, 1, 3, side, side))
	if err != nil {
		return err
	}
	a.compiled = []*Graph{image}
	if !a.m.cfg.encodes() {
		return nil
	}
	inputs := a.inputs(question)
	defer runner.Release(inputs...)
	var of []shapes.Shape
	for _, t := range slices.Concat(inputs, a.context) {
		of = append(of, t.Shape())
	}
	encoder, err := a.question.Compile(of...)
	a.compiled = append(a.compiled, encoder)
	return err
}

// multiple returns the smallest multiple of a step that is not below n.
func multiple(n, step int) int { return (n + step - 1) / step * step }

// rankTokens is the largest number of tokens per call that choices are filled up to, unless one is longer.
const rankTokens = 128

// likelihoods returns the log-likelihood of each choice after its given tokens.
func (a *Answerer) likelihoods(choices [][]int32, encoded []*tensors.Tensor, given int) (out []float64, err error) {
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
			copy(targets[i*size+given-1:], choice[given:])
		}
		inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ids, rows, size),
			tensors.FromFlatDataAndDimensions(targets, rows, size)}
		results, err := a.rank.Run(slices.Concat(inputs, encoded)...)
		runner.Release(inputs...)
		if err != nil {
			return nil, err
		}
		flat, err := runner.Numbers(results[0])
		runner.Release(results...)
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
func (m *Model) Question(text string) ([]int32, error) {
	if !m.cfg.encodes() {
		return m.Prompt(text)
	}
	return m.tokens("question", text)
}

// Choice returns the tokens of a possible answer to a question: the start token, of a [CaptionClass] the question's,
// its own, the end token. Errors are those of [Model.Question].
func (m *Model) Choice(question, text string) ([]int32, error) {
	if !m.cfg.encodes() {
		text = question + " " + text
	}
	ids, err := m.tokens("choice", text)
	if err == nil {
		ids[0], ids[len(ids)-1] = int32(m.cfg.Text.StartToken), int32(m.cfg.Text.EndToken)
	}
	return ids, err
}

// Matches reports whether the model answers whether a text describes an image; its choices are [No] and [Yes] then.
func (m *Model) Matches() bool { return m.cfg.class == MatchClass }

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

package gomlxmodels

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"antipode/datasets"
	"antipode/datasets/table"
)

// AskOp is the operation of [Ask] in a plan.
const AskOp = "ask"

// Chat is the prefix of the name of a model behind an OpenAI-compatible chat API: "chat:qwen3-vl".
const Chat = "chat:"

// The forms of a question to a chat model, of [ChatOptions].Format.
const (
	FormatLetters = "letters"
	FormatWords   = "words"
	FormatPlain   = "plain"
)

// AskOptions are the options of [Ask].
type AskOptions struct {
	// Question is the question about each image, for example "Is a person visible?". A name in braces stands for the
	// row's text in that column: "Does this show {prompt}?". Default: each row's text in the column question.
	Question string `json:"question,omitempty" help:"the question about each image; {COLUMN} stands for the row's text in it; default the column question"`

	// Choices are the answers of which the model chooses one, 2 to 64. A choice such as "cannot tell" lets it choose
	// none of the others. Default: those of the row in the column choices, with | between them.
	Choices []string `json:"choices,omitempty" help:"the answers to choose from; default the column choices, with | between them"`

	// System is the system message, for models that take one; default none.
	System string `json:"system,omitempty" help:"the system message, for models that take one"`

	// Column is the name of the column of the answer, with which the names of the others start; default "answer".
	Column string `json:"column" default:"answer" help:"the name of the answer's column, with which the others start"`

	// Seed is the seed of answers that are sampled and of Shuffle, 0 (default) to 2^53.
	Seed int64 `json:"seed,omitempty" min:"0" max:"9007199254740992" help:"the seed of answers that are sampled, and of --shuffle"`

	// Permute asks twice, with the choices in their order and reversed: models prefer the choice at some positions. The
	// probabilities are averaged, and the answer is the most probable choice. Without probabilities it is the choice
	// of both orders, and none if they differ, with a reason.
	Permute bool `json:"permute,omitempty" help:"ask twice, with the choices reversed too, and average the probabilities"`

	// Shuffle lists the choices in an order that depends on Seed, the image and the question, so that a preference for
	// a position does not favor one choice. With Permute the second order is its reverse.
	Shuffle bool `json:"shuffle,omitempty" help:"list the choices in an order that depends on the seed and the image"`

	// Chat are the options of a model behind a chat API (a model named chat:NAME).
	Chat ChatOptions `json:"chat,omitzero" group:"Chat servers (chat:NAME)" for:"chat"`

	// Exec are the options of the program.
	Exec ExecOptions `json:"exec,omitzero" group:"Programs (exec:PATH)" for:"exec"`
}

// ChatOptions are the options of a model behind an OpenAI-compatible chat API. Those with the names of [APIOptions]
// have their meaning.
type ChatOptions struct {
	BaseURL        string  `json:"base_url,omitempty" flag:"api-base" help:"the URL of a server with a chat API; default OPENAI_BASE_URL, then OpenAI's"`
	Price          float64 `json:"price,omitempty" min:">0" help:"what an answer costs in US dollars"`
	Budget         float64 `json:"budget,omitempty" min:"0" help:"largest cost in US dollars, with --price; 0 = no limit"`
	BudgetRequests int     `json:"budget_requests,omitempty" min:"0" help:"largest number of paid answers; 0 = no limit"`
	PerMinute      int     `json:"per_minute,omitempty" min:"0" help:"requests per minute at most; 0 = no limit but the server's"`
	ModelDigest    string  `json:"model_digest,omitempty" help:"any text that identifies the weights of this server's model, under which answers are stored; default its URL"`

	// ImageSize is the longer edge, in pixels, of the images that are sent: larger ones are resized; default 1024.
	ImageSize int `json:"image_size,omitempty" zero:"1024" min:"32" max:"4096" help:"longer edge in pixels of the images as they are sent; larger ones are resized"`

	// MaxTokens is the largest number of tokens of an answer; default 64. A model that reasons first needs thousands.
	MaxTokens int `json:"max_tokens,omitempty" zero:"64" min:"1" max:"100000" help:"tokens of an answer at most; a model that reasons first needs thousands"`

	// Samples is the number of answers, sampled with the seeds Seed, Seed + 1, …, whose shares are the probabilities;
	// it is for servers without log-probabilities. Default 0: one answer, and the log-probabilities of its tokens.
	Samples int `json:"samples,omitempty" min:"0" max:"1000" help:"sample so many answers, whose shares are the probabilities; 0 = one answer, with the probabilities of its tokens"`

	// Format is how the question is put: "letters" (default) lists the choices as A, B, … and requests a letter,
	// "words" lists them and requests one of them, "plain" sends the question alone, which names the answers itself.
	Format string `json:"format,omitempty" zero:"letters" values:"letters,words,plain" help:"letters lists the choices as A, B, …; words requests one of them; plain sends the question alone"`
}

// AskArgs are the arguments of an ask stage in a plan.
type AskArgs struct {
	Model string `json:"model"` // a program, a chat model or a BLIP
	AskOptions
}

// Ask asks a model a question about each image, with fixed choices. The model is "chat:NAME", one behind an
// OpenAI-compatible chat API whose key is the environment variable OPENAI_API_KEY, a program ("exec:PATH", see
// docs/adapters.md), for example one that runs a vision-language model, or a BLIP, by name or folder:
//
//   - a BlipForQuestionAnswering ("blip-vqa-base") ranks the choices by their likelihood;
//   - a BlipForConditionalGeneration, which writes captions ("archipelago-blip"), ranks the captions that begin with
//     the question and end with a choice: "the crest is", with the choices "round" and "pointed";
//   - a BlipForImageTextRetrieval tells whether the question, a text, describes the image, with the choices yes and no.
//
// An answer about a person is what the model perceives, not a fact about the person. Added are
//
//   - answer, one of the choices;
//   - answer_p_CHOICE, for each of [AskOptions].Choices its probability; they sum to 1, and are null if there is none;
//   - answer_source, where the probabilities come from: "logits" of the choices at the position of the answer, or of
//     their whole texts (BLIP), "samples", the shares of several answers, or "none";
//   - answer_text, what the model wrote; of a BLIP what it answers without regard to the choices;
//   - answer_outcome and answer_reason: "ok", "refused" or "failed", also of an answer that names no choice. The
//     columns outcome and reason of the image remain;
//   - answer_cost in US dollars, of a chat model.
//
// If the choices are those of the rows, answer_p is the probability of the answer, and answer_probabilities lists that
// of each choice, with | between them; answer_p_wanted is the probability of the row's text in the column wanted, and
// answer_correct is 1 or 0, whether the answer is that text. [datasets.Table.Questions] makes the rows of a table of
// questions.
//
// Columns of these names are replaced. A row without an image whose outcome is refused, failed or skipped has no answer
// and no outcome of it. The table needs the columns id and image. An answer that was paid for is never requested again.
func Ask(model string, images datasets.Table, o AskOptions) datasets.Table {
	fail := func(err error) datasets.Table { return datasets.Extend(images).Fail(fmt.Errorf("Ask: %w", err)).Table }
	args := AskArgs{model, o}
	err := invalid(args.Check())
	if err != nil {
		return fail(err)
	}
	chat := strings.HasPrefix(model, Chat)
	if chat {
		args.Chat.BaseURL = cmp.Or(o.Chat.BaseURL, os.Getenv("OPENAI_BASE_URL"))
	} else if args.Model, err = resolveModel(model, o.Exec); err != nil {
		return fail(err)
	}
	table := datasets.Extend(images)
	for _, c := range args.Needs() {
		table = table.Need(c.Name, c.Kind)
	}
	answers := table.Derive(AskOp, args, args.Columns()...)
	if chat {
		answers = answers.Secret(APIKey)
	}
	return execSecrets(answers.Table, model, o.Exec)
}

// placeholder is a column's name in a question.
var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// Needs returns the columns that the stage reads.
func (a *AskArgs) Needs() []table.ColumnSpec {
	columns := datasets.Columns("id:text", "image:image")
	if a.Question == "" {
		columns = append(columns, datasets.Columns("question:text")...)
	}
	for _, m := range placeholder.FindAllStringSubmatch(a.Question, -1) {
		columns = append(columns, datasets.Columns(m[1]+":text")...)
	}
	if a.Choices == nil {
		columns = append(columns, datasets.Columns("choices:text")...)
	}
	return columns
}

// QuestionOf returns a row's question; text returns its text in a column.
func (a *AskArgs) QuestionOf(text func(column string) string) string {
	if a.Question == "" {
		return text("question")
	}
	return placeholder.ReplaceAllStringFunc(a.Question, func(m string) string { return text(m[1 : len(m)-1]) })
}

// Check completes and validates the arguments.
func (a *AskArgs) Check() error {
	kind := kindOf(a.Model, "encoder")
	if strings.HasPrefix(a.Model, Chat) {
		kind = "chat"
	}
	known, is := Find(a.Model)
	if err := check(&a.AskOptions, kind); err != nil {
		return err
	}
	switch {
	case kind == "chat" && a.Model == Chat:
		return errors.New("name the chat model as its server lists it: chat:NAME")
	case a.Model == "" || is && !strings.HasPrefix(known.Architecture, "BlipFor"):
		return fmt.Errorf("model %q: questions are for chat models (chat:NAME), programs (exec:PATH) and BLIP "+
			"(blip-vqa-base or a folder); no other model answers them", a.Model)
	case kind == "encoder" && (a.System != "" || a.Permute || a.Shuffle):
		return errors.New("a BLIP reads neither a system message nor the choices, whose likelihood it gives; " +
			"leave out System, Permute and Shuffle")
	case a.Question != "" && strings.TrimSpace(a.Question) == "":
		return errors.New("the question is blank")
	case kind == "chat" && a.Chat.Format == FormatPlain && (a.Permute || a.Shuffle):
		return errors.New("format plain lists no choices, whose order could change; leave out Permute and Shuffle")
	case a.Choices == nil:
		return nil
	}
	return CheckChoices(a.Choices)
}

// CheckChoices validates the choices of a question.
func CheckChoices(choices []string) error {
	if len(choices) < 2 || len(choices) > 64 {
		return fmt.Errorf("%d choices: give 2 to 64", len(choices))
	}
	for i, c := range choices {
		if c == "" || c != strings.TrimSpace(c) || strings.ContainsFunc(c, unicode.IsControl) ||
			slices.Contains(choices[:i], c) {
			return fmt.Errorf("choice %q: choices are different texts on one line, without space around them", c)
		}
	}
	return nil
}

// Columns returns the columns that the stage adds.
func (a *AskArgs) Columns() []table.ColumnSpec {
	columns := []table.ColumnSpec{{Name: a.Column, Kind: table.KindText}}
	for _, c := range a.Choices {
		columns = append(columns, table.ColumnSpec{Name: a.Column + "_p_" + c, Kind: table.KindNumber})
	}
	rest := datasets.Columns("_source:text", "_text:text", "_outcome:text", "_reason:text")
	if a.Choices == nil {
		rest = append(datasets.Columns("_p:number", "_p_wanted:number", "_correct:number", "_probabilities:text"),
			rest...)
	}
	if strings.HasPrefix(a.Model, Chat) {
		rest = append(rest, datasets.Columns("_cost:number")...)
	}
	for _, c := range rest {
		columns = append(columns, table.ColumnSpec{Name: a.Column + c.Name, Kind: c.Kind})
	}
	return columns
}

// Requests returns the number of requests for a row.
func (a *AskArgs) Requests() int {
	n := max(1, a.Chat.Samples)
	if a.Permute {
		n *= 2
	}
	return n
}

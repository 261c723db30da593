package commands

import (
	"fmt"
	"strings"
)

// examples are shown first in the help of commands; "" are those of `antipode help`.
var examples = map[string][]string{
	"": {
		"antipode run notebooks/tour.ipynb",
		`antipode generate --prompt "a boat"`,
		"antipode new mine.ipynb",
	},
	"run":    {"antipode run notebooks/tour.ipynb -p n=2"},
	"export": {"antipode export notebooks/tour.ipynb --to figures --width 3.25"},
	"record": {"antipode record notebooks/words.ipynb --out record"},
	"diff":   {"antipode diff before.csv after.csv --on region"},
	"compare": {
		`antipode compare --a old.parquet --b new.parquet --metric precision-coverage --real photos.parquet --by region \
        --margin 0.05`,
		`antipode compare --a old.csv --b new.csv --metric clustered-mean --value answer_correct --better higher \
        --margin 0.02 --strict`,
		"antipode compare --a old.parquet --b new.parquet --audit decomposed_dig --real photos.parquet --margin 0.1",
	},
	"view": {
		"antipode view images.parquet --tags good,wrong",
		"antipode view before.parquet --compare after.parquet --by region --export both.html",
	},
	"new": {"antipode new mine.ipynb", "antipode new --audit entigen --images images.csv mine.ipynb",
		"antipode new --audit dig -p photos=geode -p generator=stable-diffusion-v1-5 mine.ipynb"},
	"generate": {
		`antipode generate --prompt "a boat"`,
		"antipode generate --model archipelago-diffusion --prompts prompts.csv --n 4 --out images.parquet",
		"antipode generate --model api:gpt-image-2 --prompts prompts.csv --budget 5 --out images.parquet",
	},
	"segment": {
		"antipode segment --model archipelago-clipseg --object object --in images.parquet --out masked.parquet",
		"antipode segment --masks masks --in images.parquet --out masked.parquet",
	},
	"embed": {
		"antipode embed --model archipelago-vit --in masked.parquet --out embedded.parquet",
		"antipode embed --model archipelago-clip --vector clip_image --in images.parquet --out embedded.parquet",
		"antipode embed --model archipelago-clip --vector clip_text --text prompt --in prompts.csv --out texts.parquet",
	},
	"tokenize": {
		"antipode tokenize --model archipelago-diffusion --in prompts.csv --out tokens.csv",
	},
	"caption": {
		"antipode caption --model archipelago-blip --in images.parquet --out captions.csv",
		"antipode caption --model archipelago-blip --decode nucleus --n 5 --in images.parquet --out captions.csv",
	},
	"ask": {
		`antipode ask --model chat:qwen3-vl --api-base http://localhost:8080/v1 --questions questions.csv \
        --in images.csv --out answers.csv`,
		`antipode ask --model exec:./adapter --question "Is it day?" --choices yes,no --in images.csv --out answers.csv`,
	},
	"score": {
		"antipode score --metric precision-coverage --real photos.parquet --gen embedded.parquet --by region",
		"antipode score --metric agreement --in ratings.csv --out - | head",
	},
	"table": {
		`antipode table --in images.parquet --where "region == Ilvanar" --out some.csv`,
		"antipode table --in images.parquet --sample 10 --by region --out some.csv",
	},
	"import": {
		"antipode import --dir images --model name --out images.csv",
		"antipode import --dir images --midjourney --model midjourney --out images.csv",
	},
}

// common are the flags that help lists before the others, in this order.
var common = strings.Fields("metric model prompt prompts masks object text vector in real gen dir where apply by n " +
	"steps seed question choices questions on p o html out")

// printExamples prints the examples of a command, if it has any.
func printExamples(lines []string) {
	for _, line := range lines {
		fmt.Println("    " + line)
	}
	if lines != nil {
		fmt.Println()
	}
}

package lesson

// exercise is what [Check] knows of one exercise.
type exercise struct {
	right     string   // the answer, where no cell computes it
	choices   []string // the words to choose from; none = a number or names
	tolerance float64  // of a number
	hint      string   // what to inspect
	slips     []string // hints for the values of Check's slips or, with choices, for each of them
}

var exercises = map[string]exercise{
	"1a": {tolerance: 0.005,
		hint:  "Take the squares one by one: is it inside at least one circle? Divide by the number of squares.",
		slips: []string{"That is the share of circles. Precision is a share of the generated images."}},
	"1b": {tolerance: 0.005,
		hint:  "Take the circles one by one: is there a square inside? Divide by the number of circles.",
		slips: []string{"That is the share of squares. Coverage is a share of the reference images."}},
	"1c": {tolerance: 0.005,
		hint: "How far is the copied image from any other image, compared with the radius of that one's ball?",
		slips: []string{"That counts the image that was copied. Is its copy outside the balls of the other nine? How " +
			"large are they?"}},
	"1d": {choices: []string{"precision", "coverage", "both", "neither"}, right: "coverage",
		hint: "Compare the left and the right end of each line."},
	"1e": {choices: []string{"faithful", "narrow", "shifted"},
		hint: "Read the column precision of the table, and cover the other one with your hand."},
	"1f": {hint: "Coverage is the vertical axis. Read the name next to the mark that is lowest."},
	"2a": {hint: "Count the squares of (b) that are not white, row by row.",
		slips: []string{"Those are the background patches."}},
	"2b": {hint: "A cosine of 1 to all decimals is the same vector. Which row differs from it?"},
	"2c": {hint: "Which pixels does each way change or remove, and are there any of them in an object patch? " +
		"Inspect the border in figure (b).",
		slips: []string{"That one does. Inspect the border in figure (b): are there pixels that another way changes?"}},
	"2d": {hint: "Count image (a) in this figure and in the first one of the lesson.",
		slips: []string{"The sign: the mask became smaller.", "That is the number left, not the change."}},
	"2e": {hint: "Compare the two bars of each island: which pair differs most in length?"},
	"3a": {tolerance: 0.05,
		hint: "Divide the width of an interval with few images by that with many, for the same island. The width is " +
			"the upper end minus the lower end.",
		slips: []string{"That is the ratio of the numbers of images. Read the widths from the table."}},
	"3b": {tolerance: 0.01,
		hint: "The probability that one test raises no alarm is 0.95. All twelve must raise none.",
		slips: []string{"That adds the probabilities, which counts studies with two alarms twice. Compute the " +
			"probability of no alarm at all first.",
			"That is the probability of no alarm at all."}},
	"3c": {tolerance: 0.0005,
		hint: "Sort the p-values. The smallest is multiplied by the number of tests, the next by one less.",
		slips: []string{"That multiplies by the number of all tests, as Bonferroni does. One is already decided.",
			"That is not corrected."}},
	"3d": {tolerance: 0.002,
		hint: "If each has the level p, all six are right with probability p to the power of six. That must be 0.95.",
		slips: []string{"That is the level of all six together.",
			"With that level they would be right together less often than each. It must be the other way round."}},
	"4a": {hint: "Where does the line cross 0.8 and stay above it? Only sizes that were tried count.",
		slips: []string{"That is the number of images in total. Read the horizontal axis."}},
	"4b": {hint: "A cell is one object on one island. How many cells has the world?",
		slips: []string{"That is the number in one cell.", "That counts the islands only. There is a cell for each " +
			"object on each island."}},
	"4c": {choices: []string{"no disparity", "too few images", "a false alarm"}, right: "too few images",
		hint: "In this experiment the disparity exists: it was injected. What did the study fail to do?",
		slips: []string{"It exists: half of the images come from the generator with the disparity.", "",
			"A false alarm is a finding without a disparity. Here is a disparity without a finding."}},
	"4d": {tolerance: 0.005,
		hint:  "How many tests do ten studies make? Each raises an alarm with probability 0.05.",
		slips: []string{"That is for one study."}},
	"4e": {tolerance: 25,
		hint:  "Change n and run the cell until the difference it prints is 0.1. It shrinks with the square root of n.",
		slips: []string{"That is enough for a difference of 0.2. For half of it twice as many are too few."}},
	"5a": {tolerance: 0.01,
		hint: "Take the rows whose perceived crest is round. In which share did the judge answer round?",
		slips: []string{"That is the share of all images. Take those with a round crest only.",
			"That is the share of errors."}},
	"5b": {tolerance: 0.005,
		hint: "Apply the judge to each share first: of the round crests it sees 60 %, of the pointed ones none. Then " +
			"subtract.",
		slips: []string{"That would be a judge without errors.", "That is a share, not a gap: subtract the other."}},
	"5c": {tolerance: 0.03,
		hint: "The judge's share is the true share times the sensitivity. Solve for the true share.",
		slips: []string{"That is the share according to the judge.",
			"That applies the error a second time. Undo it."}},
	"5d": {choices: []string{"generator", "judge", "chance"}, right: "judge",
		hint: "What differs between the potter and the others: the images, or what the judge was shown of them?",
		slips: []string{"Compare with the bars of the truth.", "",
			"Compare the lengths of the whiskers with the difference of the bars."}},
	"5e": {hint: "Compare the two panels: which mark is filled in one of them only, and on the left of the line?",
		slips: []string{"That one is found with the exact masks, too: it is in the images."}},
	"5f": {choices: []string{"object", "background", "neither"}, right: "object",
		hint: "Without a mask the whole image is compared as background. What does it contain that others lack?",
		slips: []string{"", "The backgrounds of this island are like the others: see the panel of the exact masks.",
			"The vector is of the whole image. What is in it?"}},
}

package segment

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/execmodel"
)

// program finds objects with a program of the user: an item for each object of an image. An image's result is their
// answers.
type program struct {
	*execmodel.Model
	args gomlxmodels.SegmentArgs
}

func (w *worker) openProgram(ctx context.Context) error {
	m, err := execmodel.Open(ctx, w.env, w.args.Model, w.args.Exec, execmodel.Segment, nil)
	if err == nil {
		w.finder, w.Release, w.name = &program{m, w.args}, m.Release, m.Ready.Name
	}
	return err
}

func (p *program) contents() string { return p.Digest() }
func (p *program) batch() int       { return p.Batch() }

func (p *program) load(context.Context) (stage.Release, error) {
	return p.Release, nil
}

func (p *program) prepare(*preprocess.RGB, *item) error { return nil }

func (p *program) segment(ctx context.Context, images []*item) ([]func() (found, error), error) {
	rows := make([][]execmodel.Item, len(images))
	for i, it := range images {
		for k, name := range it.prompts {
			rows[i] = append(rows[i], execmodel.Item{ID: fmt.Sprintf("%s/%d", it.id, k+1), Image: it.image.Path,
				SHA256: it.image.SHA256, Text: name, Width: it.width, Height: it.height})
		}
	}
	answers, err := p.RunRows(ctx, rows)
	masks := make([]func() (found, error), len(images))
	for i, of := range answers {
		if of != nil {
			masks[i] = func() (found, error) { return p.find(images[i], of) }
		}
	}
	return masks, err
}

func (p *program) find(it *item, answers []execmodel.Answer) (found, error) {
	f := found{score: math.NaN()}
	var masks []execmodel.Mask
	var why string
	list, sum, area := []listed{}, 0.0, 0.0
	for i, a := range answers {
		if a.Outcome != execmodel.OK {
			f.outcome, f.reason = a.Result()
			return f, nil
		}
		if a.Reason != "" {
			why += ": " + a.Reason
		}
		for _, m := range a.Masks {
			n, err := mask.Area(m.Mask)
			if err != nil {
				return found{}, err
			}
			score := math.NaN()
			if m.Score != nil {
				score = *m.Score
			}
			if m.Box != nil {
				list = append(list, listed{Object: it.names[i], Label: m.Label, Score: score, Box: *m.Box})
			}
			if masks = append(masks, m); n > 0 {
				sum, area = sum+float64(n)*score, area+float64(n)
			}
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return found{}, err
	}
	f.boxes = string(text)
	united, err := execmodel.Union(masks, it.width, it.height)
	if err == nil {
		err = f.cut(it, &p.args, united)
	}
	switch {
	case err != nil:
		return found{}, err
	case f.mask.Counts != "":
		f.score = sum / area
	case f.components == 0:
		f.reason = fmt.Sprintf("%s finds no %q%s", p.Ready.Name, short(it.objects), why)
	}
	return f, nil
}

// Keep stores every answer but the transient ones of a program.
func (w *worker) Keep(values []table.Value) bool {
	_, is := w.finder.(*program)
	return !is || !strings.HasPrefix(values[5].Text, execmodel.Transient)
}

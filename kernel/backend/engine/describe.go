package engine

import (
	"context"
	"fmt"
	"slices"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
)

// Described is what the results of a plan's stages depend on, besides its arguments and tables.
type Described struct {
	Models map[string]string `json:"models,omitempty"` // model → digest
	Stages map[string]int    `json:"stages,omitempty"` // stage → version
}

// Describe opens the stages of a plan, those operations that stages lists, without their models' weights. It reads no
// table and computes nothing.
func (e *Engine) Describe(ctx context.Context, plan *table.Plan, stages []string) (d Described, err error) {
	defer e.Store.Use()()
	err = protect(func() error {
		r := e.newRun(ctx, client.Request{}, func(table.Progress) {}, e.Store)
		d = Described{Models: r.models, Stages: map[string]int{}}
		for p := range plan.All() {
			if !slices.Contains(stages, p.Op) {
				continue
			}
			st, known := stage.Find(p.Op)
			if !known {
				return fmt.Errorf("no operation %q", p.Op)
			}
			w, err := st.Open(r.ctx, env{r}, p.Args)
			if err != nil {
				return err
			}
			w.Close()
			d.Stages[st.Name] = st.Version
		}
		return nil
	})
	return d, err
}

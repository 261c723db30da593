package audits_test

import (
	"os"
	"path/filepath"
	"testing"

	"antipode/audits/cococrola"
	"antipode/audits/dig"
	"antipode/audits/entigen"
	"antipode/audits/indictti"
	"antipode/audits/visage"
	"antipode/datasets"
	"antipode/internal/must"
	"antipode/test/testengine"
)

// A name in a list of the study that matches nothing is an error with the nearest one, before any image is generated.
func TestLists(t *testing.T) {
	testengine.Use(t)
	photos := filepath.Join(t.TempDir(), "photos.csv")
	must.Do(t, os.WriteFile(photos, []byte("id,image,object,region\na,photos.csv,boat,Ondulay\n"+
		"b,photos.csv,boat,\n"), 0o600))
	for hint, table := range map[string]datasets.Table{
		`no row has "kiet" in column "object"; did you mean "kite"?`: dig.Audit{N: 1,
			Objects: []string{"boat", "kiet"}}.Images(dig.Original),
		`no row has "baot" in column "object"; did you mean "boat"?`: dig.Audit{Photos: photos,
			Objects: []string{"baot"}}.Candidates(),
		`in column "code"; `:     indictti.Audit{Languages: "Ilvan"}.Prompts(),
		`in column "identity"; `: visage.Audit{Identities: []string{"Nobodies"}}.Images(),
		`no row has "kiet" in column "concept"; did you mean "kite"?`: cococrola.Audit{
			Templates: []string{"boat", "kiet"}}.Images(),
		`in column "language"; `:  cococrola.Audit{Languages: []string{"xx"}}.Images(),
		`in column "attribute"; `: entigen.Audit{Attributes: []string{"doctr"}}.Images(),
	} {
		must.Fail(table.Rows(t.Context()))(t, hint)
	}
	prompts := testengine.Rows(t, "photographs without a region", dig.Audit{Photos: photos}.Prompts(dig.Original))
	must.EqualSlices(t, prompts.Texts("prompt"), []string{"boat in Ondulay"}, "prompts of the others")
	first := must.Get(entigen.Audit{}.Raters().Plan())(t)
	for range 20 {
		must.Equal(t, must.Get(entigen.Audit{}.Raters().Plan())(t).Digest(), first.Digest(), "plans of the raters")
	}
}

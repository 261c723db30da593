package commands

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"antipode/audits/entigen"
	"antipode/datasets"
	"antipode/internal/must"
)

// TestCompareAudits: every audit by its name, of images of the built-in world without and with injected disparities.
// The disparity is a regression; a table is not worse than itself.
func TestCompareAudits(t *testing.T) {
	run := inProcess(t)
	pools := must.Get(filepath.Abs("../../notebooks/truth_pools"))(t)
	t.Chdir(t.TempDir())
	save := func(name string, rows datasets.Table) string {
		must.Get(rows.SaveE(t.Context(), name))(t)
		return name
	}
	objects := []string{"boat", "kite"} // of eight
	photos := save("photos.parquet", datasets.Parquet(pools+"/regions-fair.parquet").Where("object", "in", objects))
	prompts := save("prompts.parquet", datasets.Parquet(pools+"/captions-fair.parquet").
		Where("language", "==", "en").Where("id", "contains", "#1").Select("id", "prompt_id", "full"))
	for _, state := range []string{"fair", "injected"} {
		concepts := datasets.Parquet(pools + "/concepts-" + state + ".parquet")
		save("concepts-"+state+".parquet", concepts.With("model", "m"))
		save("regions-"+state+".parquet", datasets.Parquet(pools+"/regions-"+state+".parquet").
			Where("object", "in", objects))
		name := map[string]string{"fair": entigen.SamplerFair, "injected": entigen.Sampler}[state]
		save("ratings-"+state+".csv", entigen.Audit{Generator: name, N: 40}.Labels())
	}
	for name, c := range map[string]struct{ a, b, more, worse string }{
		"decomposed_dig": {"regions-fair.parquet", "regions-injected.parquet",
			"--real " + photos, "Ondulay, object_only       precision  regression"},
		"indictti": {pools + "/captions-fair.parquet", pools + "/captions-injected.parquet",
			"--reference " + prompts, "qac_Arab  igc    regression"},
		"visage": {pools + "/peoples-fair.parquet", pools + "/peoples-injected.parquet", "",
			"Mirrowen  l_stereo  regression"},
		"cococrola": {"concepts-fair.parquet", "concepts-injected.parquet", "", "qab_Deva  value  regression"},
		"entigen axes=perceived_crest=round/pointed,perceived_banner=light/dark": {"ratings-fair.csv",
			"ratings-injected.csv", "", "diversity  regression"},
	} {
		for _, b := range []string{c.a, c.b} {
			args := append([]string{"compare", "--audit", name, "--margin", "0.05", "--resamples", "20", "--moved", "0",
				"--a", c.a, "--b", b}, strings.Fields(c.more)...)
			printed, err := run(args...)
			var exit exitError
			worse := errors.As(err, &exit) && exit.status == exitRegression
			if worse != (b == c.b) || strings.Contains(printed, c.worse) != worse || err != nil && !worse {
				t.Errorf("%s, %s: %v\n%s", name, b, err, printed)
			}
		}
	}
	for line, want := range map[string]string{
		"--audit nose": "there is no such audit; use dig, indictti, visage, cococrola, entigen, or a chain",
		"--a x.parquet --b x.parquet --audit dig": "--audit: give --real TABLE: reference images",
	} {
		misused(run(append([]string{"compare"}, strings.Fields(line)...)...))(t, want)
	}
}

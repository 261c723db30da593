package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
)

// TestVerifyShutDown: a result with images by a model that was shut down is verified with the stored answers, and
// marked. Without them it is not verifiable.
func TestVerifyShutDown(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	home := t.TempDir()
	t.Setenv(client.HomeVar, home)
	run := inProcess(t)
	e := must.Get(all.NewEngine(home, "test"))(t)
	client.Register(e)
	var file bytes.Buffer
	must.Do(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 8, 8))))
	blob := must.Get(e.Store.PutBlob(file.Bytes(), ".png"))(t)
	sum := sha256.Sum256([]byte("api dall-e-3 1024x1024 standard \x00\"house\" 0"))
	answer := filepath.Join(home, "models", "api", hex.EncodeToString(sum[:])+".json")
	must.Do(t, os.MkdirAll(filepath.Dir(answer), 0o755))
	path := must.Get(filepath.Rel(filepath.Dir(answer), blob.Path))(t)
	text := fmt.Sprintf(`{"image": {"path": %q, "sha256": %q}, "outcome": "ok", "cost": 0.04}`, path, blob.SHA256)
	must.Do(t, os.WriteFile(answer, []byte(text), 0o644))
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("p.csv", []byte("id,prompt\na,house\n"), 0o644))
	line := "generate --model api:dall-e-3 --prompts p.csv --size 1024x1024 --quality standard --out o.csv"
	_ = must.Get(run(strings.Fields(line)...))(t)
	records, err := e.Store.Records()
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	id := records[0].ID
	const mark = "not repeatable: model shut down 2026-05-12"
	prints(run("store", "verify", id))(t, "identical when recomputed", mark)
	must.Do(t, os.Remove(answer))
	_, err = run("store", "verify", id)
	if !errors.Is(err, engine.ErrNotVerifiable) || !strings.HasSuffix(err.Error(), mark) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("without the answer: %v", err)
	}
}

func TestNotRepeatable(t *testing.T) {
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	by := func(model, base string) *table.Plan {
		args := must.Get(json.Marshal(gomlxmodels.GenerateArgs{Model: model,
			GenerateOptions: gomlxmodels.GenerateOptions{API: gomlxmodels.APIOptions{BaseURL: base}}}))(t)
		return &table.Plan{Op: "embed", Inputs: []*table.Plan{{Op: "csv"}, {Op: gomlxmodels.GenerateOp, Args: args}}}
	}
	for _, c := range []struct{ model, base, want string }{
		{"api:gpt-image-1", "", "not repeatable: model shut down 2026-10-23"},
		{"api:gpt-image-1", "http://localhost:8080/v1", ""},
		{"api:gpt-image-1-mini", "", ""}, // until 2026-12-01
		{"api:gpt-image-2", "", ""},
		{"gpt-image-1", "", ""}, // a model of this machine
	} {
		must.Equal(t, notRepeatable(by(c.model, c.base), now), c.want, c.model, "at", c.base)
	}
}

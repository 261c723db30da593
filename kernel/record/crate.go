package record

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entity is an object of the crate's JSON-LD graph.
type entity map[string]any

// crate is the content of ro-crate-metadata.json.
type crate struct {
	Context []string `json:"@context"`
	Graph   []entity `json:"@graph"`
}

// What a record follows, and who made it.
const (
	specification = "https://w3id.org/ro/crate/1.2"
	isoTime       = "2006-01-02T15:04:05-07:00"
	software      = "urn:go:antipode" // the module has no public home
)

func ref(id string) map[string]string { return map[string]string{"@id": id} }

func refs(entities []entity) []map[string]string {
	out := []map[string]string{}
	for _, e := range entities {
		out = append(out, ref(e["@id"].(string)))
	}
	return out
}

// properties returns an entity for each NAME=VALUE.
func properties(kind string, values []string) (out []entity) {
	for i, p := range values {
		name, value, _ := strings.Cut(p, "=")
		out = append(out, entity{"@id": fmt.Sprintf("#%s-%d", kind, i+1), "@type": "PropertyValue", "name": name,
			"value": value})
	}
	return out
}

// mediaTypes are the encoding formats of a record's files, by extension.
var mediaTypes = map[string]string{".json": "application/json", ".csv": "text/csv", ".html": "text/html",
	".ipynb": "application/x-ipynb+json", ".parquet": "application/vnd.apache.parquet", ".png": "image/png",
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}

func (w *writer) writeMetadata() error {
	about := map[string]string{conclusionsFile: "verdicts in all results", filesFile: "files that were read",
		licensesFile: "data sets and models with their licenses"}
	for _, r := range w.results {
		what := cmp.Or(r.Saved, r.Plan.Op)
		about[r.file(".csv")], about[r.file(".json")] = "rows of "+what, "plan and provenance of "+what
	}
	var files []entity
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		files = append(files, entity{"@id": name, "@type": "File", "name": path.Base(name),
			"description": cmp.Or(about[name], "part of the executed notebook"), "sha256": w.files[name].sha256,
			"contentSize": w.files[name].size, "encodingFormat": mediaTypes[strings.ToLower(path.Ext(name))]})
	}
	return w.putJSON(metadataFile, crate{[]string{specification + "/context",
		"https://w3id.org/ro/terms/workflow-run/context"}, slices.Concat(w.contextual(files), w.used, files)})
}

// contextual returns the entities of the crate itself, the run, the software and the machine.
func (w *writer) contextual(files []entity) []entity {
	notebook, license := filepath.Base(w.Notebook), "#license"
	if strings.HasPrefix(w.License, "https://") || strings.HasPrefix(w.License, "http://") {
		license = w.License
	}
	images := "Images are in images/: share them only where their licenses allow it."
	if !w.Images {
		images = "Images are not included, because of licenses and size: tables hold their SHA-256. " +
			"`antipode record --images` includes those of the results."
	}
	root := entity{"@id": "./", "@type": "Dataset", "name": "Record of " + notebook,
		"datePublished": w.Ended.Format(time.DateOnly), "license": ref(license), "hasPart": refs(files),
		"mentions": ref("#run"),
		"description": fmt.Sprintf("What the conclusions of %s rest on: %d results with plans, inputs and models. "+
			"`antipode store verify --record DIR` recomputes them. %s", notebook, len(w.results), images)}
	params, environment := properties("parameter", w.Params), properties("environment", w.Environment)
	run := entity{"@id": "#run", "@type": "CreateAction", "name": "Run of " + notebook, "instrument": ref(software),
		"description": strings.Join(append([]string{"antipode record", notebook}, w.Params...), " "),
		"startTime":   w.Started.UTC().Format(isoTime), "endTime": w.Ended.UTC().Format(isoTime),
		"object": refs(append(params, w.used...)), "environment": refs(environment), "result": refs(files)}
	graph := []entity{
		{"@id": metadataFile, "@type": "CreativeWork", "conformsTo": ref(specification), "about": ref("./")}, root,
		{"@id": license, "@type": "CreativeWork", "name": cmp.Or(w.License, "not stated"),
			"description": "of this record. Data sets and models have the licenses that " + licensesFile + " lists."},
		{"@id": software, "@type": "SoftwareApplication", "name": "antipode", "url": software,
			"version": w.Version}, run}
	if w.Author != "" {
		root["author"], root["publisher"], run["agent"] = ref("#author"), ref("#author"), ref("#author")
		graph = append(graph, entity{"@id": "#author", "@type": "Person", "name": w.Author})
	}
	return slices.Concat(graph, params, environment)
}

package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"antipode/kernel/backend/store"
)

// entity is an object of the crate's JSON-LD graph.
type entity map[string]any

type ref struct {
	ID string `json:"@id"`
}

func refs(ids ...string) []ref {
	out := []ref{}
	for _, id := range ids {
		out = append(out, ref{id})
	}
	return out
}

// crate is the content of ro-crate-metadata.json.
type crate struct {
	Context any      `json:"@context"`
	Graph   []entity `json:"@graph"`
}

// The specifications that a record follows.
const (
	specification = "https://w3id.org/ro/crate/1.2"
	profile       = "https://w3id.org/ro/wfrun/process/0.5"
	isoTime       = "2006-01-02T15:04:05-07:00"
)

// mediaTypes are the encoding formats of a record's files, by extension.
var mediaTypes = map[string]string{".json": "application/json", ".csv": "text/csv", ".ipynb": "application/x-ipynb+json",
	".html": "text/html", ".parquet": "application/vnd.apache.parquet", ".png": "image/png", ".jpg": "image/jpeg",
	".jpeg": "image/jpeg", ".webp": "image/webp"}

func (w *writer) writeMetadata() error {
	files, err := list(w.dir)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(files))
	var graph []entity
	var outputs, images []string
	for _, name := range names {
		sum, err := store.HashFile(filepath.Join(w.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		graph = append(graph, entity{"@id": name, "@type": "File", "name": path.Base(name),
			"description": w.titleOf(name), "sha256": sum,
			"contentSize": fmt.Sprint(files[name]), "encodingFormat": mediaTypes[strings.ToLower(path.Ext(name))]})
		if strings.HasPrefix(name, "images/") {
			images = append(images, name)
		} else if !strings.HasPrefix(name, "kept/") {
			outputs = append(outputs, name)
		}
	}
	graph = slices.Concat(w.contextual(names, append(outputs, images...)), w.used, graph)
	data, err := marshal(crate{[]string{specification + "/context", "https://w3id.org/ro/terms/workflow-run/context"},
		graph})
	if err != nil {
		return err
	}
	return w.put(metadataFile, data)
}

// titleOf returns what a file is, for people.
func (w *writer) titleOf(name string) string {
	for _, r := range w.results {
		if r.file(".csv") == name {
			return "rows of " + cmp.Or(r.Saved, r.Operation)
		} else if r.file(".json") == name {
			return "plan and provenance of " + cmp.Or(r.Saved, r.Operation)
		}
	}
	titles := map[string]string{conclusionsFile: "verdicts in all results",
		filesFile: "files that were read, with SHA-256", licensesFile: "data sets and models with their licenses"}
	switch path.Ext(name) {
	case ".ipynb":
		return "the executed notebook"
	case ".html":
		return "page of the executed notebook"
	}
	return cmp.Or(titles[name], path.Base(name))
}

// contextual returns the entities of the crate itself, the run, the software and the machine.
func (w *writer) contextual(files, outputs []string) []entity {
	notebook := filepath.Base(w.Notebook)
	var params, environment []entity
	for i, p := range w.Params {
		name, value, _ := strings.Cut(p, "=")
		params = append(params, property(fmt.Sprintf("#parameter-%d", i+1), name, value))
	}
	for i, p := range w.Environment {
		environment = append(environment, property(fmt.Sprintf("#environment-%d", i+1), p.Name, p.Value))
	}
	images := "Images are in images/, named by their SHA-256; whoever shares this folder needs the right to share them."
	if !w.Images {
		images = "Images are not included, because of their size and of the licenses of photographs: tables hold their " +
			"SHA-256. `antipode record --images` includes those of the results."
	}
	license := "#license"
	if strings.HasPrefix(w.License, "https://") || strings.HasPrefix(w.License, "http://") {
		license = w.License
	}
	graph := []entity{
		{"@id": metadataFile, "@type": "CreativeWork", "conformsTo": ref{specification}, "about": ref{"./"}},
		{"@id": "./", "@type": "Dataset", "name": "Record of " + notebook, "datePublished": w.Ended.Format(time.DateOnly),
			"description": fmt.Sprintf("What the conclusions of the notebook %s rest on: %d results with their plans, "+
				"inputs and models. `antipode store verify --record DIR` recomputes them. %s", notebook, len(w.results),
				images),
			"license": ref{license}, "hasPart": refs(files...), "mentions": ref{"#run"}, "conformsTo": ref{profile}},
		{"@id": profile, "@type": []string{"CreativeWork", "Profile"}, "name": "Process Run Crate", "version": "0.5"},
		{"@id": license, "@type": "CreativeWork", "name": cmp.Or(w.License, "not stated"),
			"description": "of this record. Data sets and models have the licenses that " + licensesFile + " lists."},
		{"@id": "urn:go:antipode", "@type": "SoftwareApplication", "name": w.Software.Name,
			"url": "urn:go:antipode", "version": w.Software.Value}, // the module has no public home
		{"@id": "#run", "@type": "CreateAction", "name": "Run of " + notebook,
			"instrument": ref{"urn:go:antipode"}, "description": strings.Join(append([]string{"antipode record", notebook},
				w.Params...), " "),
			"startTime": w.Started.UTC().Format(isoTime), "endTime": w.Ended.UTC().Format(isoTime),
			"object": refs(append(ids(params), ids(w.used)...)...), "environment": refs(ids(environment)...),
			"result": refs(outputs...)},
	}
	if w.Author != "" {
		author := ref{"#author"}
		graph[1]["author"], graph[1]["publisher"], graph[5]["agent"] = author, author, author
		graph = append(graph, entity{"@id": author.ID, "@type": "Person", "name": w.Author})
	}
	return append(append(graph, params...), environment...)
}

func property(id, name, value string) entity {
	return entity{"@id": id, "@type": "PropertyValue", "name": name, "value": value}
}

func ids(entities []entity) (ids []string) {
	for _, e := range entities {
		ids = append(ids, e["@id"].(string))
	}
	return ids
}

// files returns the SHA-256 and sizes of the files that a crate describes.
func (c crate) files() map[string][2]string {
	out := map[string][2]string{}
	for _, e := range c.Graph {
		if e["@type"] == "File" {
			out[fmt.Sprint(e["@id"])] = [2]string{fmt.Sprint(e["sha256"]), fmt.Sprint(e["contentSize"])}
		}
	}
	return out
}

func readCrate(dir string) (c crate, err error) {
	data, err := os.ReadFile(filepath.Join(dir, metadataFile))
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", metadataFile, err)
	}
	return c, nil
}

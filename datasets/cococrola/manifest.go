package cococrola

import (
	"antipode/datasets/manifest"
)

// Name is the name of the data set for `antipode data pull`.
const Name = "cococrola"

// The files this package reads.
const (
	conceptFile  = "benchmark/v0-1/concepts.csv"
	classFile    = "benchmark/v0-1/concept_classes.csv"
	templateFile = "benchmark/v0-1/prompts.json"
	spanishFile  = "experiments/correction/concepts_es_revised.csv"
	chineseFile  = "experiments/correction/concepts_zh_jp_revised.csv" // Chinese and Japanese
)

const (
	commit = "d37fba4f33c7f01531515672eca17a2c61288485"
	base   = "https://raw.githubusercontent.com/michaelsaxon/CoCoCroLa/" + commit + "/"
)

// Citation of the data set.
const Citation = "Saxon and Wang, ACL 2023, Multilingual Conceptual Coverage in Text-to-Image Models"

func init() {
	file := func(path, sum string, rows int, columns ...string) manifest.File {
		return manifest.File{Path: path, URL: base + path, Commit: commit, SHA256: sum, Rows: rows, Columns: columns}
	}
	manifest.Register(manifest.Manifest{
		Name: Name, Title: "CoCo-CroLa v0.1: concepts in seven languages and prompt templates",
		Origin: "https://github.com/michaelsaxon/CoCoCroLa", Version: "v0.1, commit " + commit[:7] + " (2024-01-15)",
		License: "no license file; the paper says \"distributed under the Wikipedia CC license\" (CC BY-SA, version " +
			"not stated): credit the authors, share derived lists under the same license",
		Citation: Citation,
		Warning:  "machine translations: some words are wrong, and some concepts share a word",
		Files: []manifest.File{
			file(conceptFile, "9c31b909c01ceb5dd22c2ad98ef01d7efa5551f4d2440df2b284b2eebf54132d", 193, Languages...),
			file(classFile, "b7d7d7d99a22216add048f2124a57272f1f1bcd17212c45eef6502cee0a055a3", 193, "en", "class",
				"subclass"),
			file(templateFile, "53372d99a3908e41fb6130870b17ee4ac7811994dbda2e28d48d8fa884f5aa33", 0),
			file(spanishFile, "99cd06585dbaf888c6c1ded8a8900a7be4d01829b020e905a5c662caaa07c290", 9, "en", "es"),
			file(chineseFile, "7e911acdc61dadebcfaaa97121a5d428ee871e114077f9cb045c1c562c712dab", 40, "en", "zh", "ja"),
		},
	})
	manifest.RegisterTable("cococrola-creative", Creative)
}

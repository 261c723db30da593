package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// renamer knows the old path and the new one, and what a mention of the old one looks like.
type renamer struct {
	dir, from, to string
	mention       *regexp.Regexp // of a package: the path before a folder of the module; groups: before, after
	named         *regexp.Regexp // "module PATH"; groups: before, after
}

func newRenamer(dir, to string) (*renamer, error) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("run this in the project's folder: %w", err)
	}
	r := &renamer{dir: dir, from: modfile.ModulePath(data), to: to}
	if r.from == "" {
		return nil, fmt.Errorf("%s names no module", filepath.Join(dir, "go.mod"))
	}
	if err := module.CheckImportPath(to); err != nil {
		return nil, fmt.Errorf("%q cannot be a module's path: %w", to, err)
	}
	if to == r.from {
		return nil, fmt.Errorf("the module is %s already", to)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders = append(folders, regexp.QuoteMeta(e.Name()))
		}
	}
	old := regexp.QuoteMeta(r.from)
	r.mention = regexp.MustCompile(`(^|[^\w./$-])` + old + `(/(?:` + strings.Join(folders, "|") + `)\b)`)
	r.named = regexp.MustCompile(`(\bmodule )` + old + `(\W|$)`)
	return r, nil
}

// textKinds are the files, next to Go's, in which the path is replaced.
var textKinds = []string{".md", ".mod", ".work", ".ipynb", ".py", ".sh", ".yml", ".yaml", ".json", ".txt", ""}

// files lists the committed files that may hold the path; where there is no git, all of them.
func (r *renamer) files() ([]string, error) {
	var names []string
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = r.dir
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		names = strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	} else {
		err := filepath.WalkDir(r.dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && d.Name() == ".git" {
					return fs.SkipDir
				}
				return err
			}
			rel, err := filepath.Rel(r.dir, p)
			names = append(names, filepath.ToSlash(rel))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(r.dir, name))
		if err != nil || !info.Mode().IsRegular() {
			return true
		}
		ext := path.Ext(name)
		if strings.HasPrefix(path.Base(name), ".") {
			ext = "" // .gitignore has no kind
		}
		return ext != ".go" && !slices.Contains(textKinds, ext)
	}), nil
}

// rename returns a file's new content and counts the changed places.
func (r *renamer) rename(name string, content []byte) ([]byte, int, error) {
	if bytes.IndexByte(content, 0) >= 0 {
		return content, 0, nil
	}
	switch path.Ext(name) {
	case ".go":
		return r.renameGo(name, content)
	case ".mod":
		return r.renameMod(name, content)
	}
	text, n := r.renameText(string(content))
	return []byte(text), n, nil
}

func (r *renamer) renameMod(name string, content []byte) ([]byte, int, error) {
	file, err := modfile.ParseLax(name, content, nil)
	if err != nil {
		return nil, 0, err
	}
	if file.Module == nil || file.Module.Mod.Path != r.from && !strings.HasPrefix(file.Module.Mod.Path, r.from+"/") {
		return content, 0, nil
	}
	// Only the one line changes: formatting the file anew might move others.
	line := file.Module.Syntax
	old := content[line.Start.Byte:line.End.Byte]
	renamed := append([]byte("module "), modfile.AutoQuote(r.to+strings.TrimPrefix(file.Module.Mod.Path, r.from))...)
	return slices.Concat(content[:line.Start.Byte], renamed, content[line.Start.Byte+len(old):]), 1, nil
}

// renameText replaces mentions of the module's packages and of the module itself.
func (r *renamer) renameText(text string) (string, int) {
	n := 0
	for _, re := range []*regexp.Regexp{r.mention, r.named} {
		n += len(re.FindAllStringIndex(text, -1))
		text = re.ReplaceAllString(text, "${1}"+strings.ReplaceAll(r.to, "$", "$$")+"${2}")
	}
	return text, n
}

// renameGo does so in a Go file's comments and literals, and in the two shapes that only code has: a literal that
// ends with the path and a slash, to which a package is added, and a literal that is the path, compared with a
// module's path.
func (r *renamer) renameGo(name string, content []byte) ([]byte, int, error) {
	var out bytes.Buffer
	var s scanner.Scanner
	var failed error
	files := token.NewFileSet()
	file := files.AddFile(name, files.Base(), len(content))
	s.Init(file, content, func(pos token.Position, msg string) { failed = fmt.Errorf("%s: %s", pos, msg) },
		scanner.ScanComments)
	n, copied := 0, 0
	before := "" // the source of the line up to here
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind != token.STRING && kind != token.COMMENT {
			continue
		}
		at := file.Offset(pos)
		if !bytes.HasPrefix(content[at:], []byte(literal)) { // a comment with carriage returns
			continue
		}
		before = string(content[bytes.LastIndexByte(content[:at], '\n')+1 : at])
		renamed, m := r.renameText(literal)
		if kind == token.STRING {
			quote := literal[len(literal)-1:]
			if strings.HasSuffix(renamed, r.from+"/"+quote) &&
				!strings.HasSuffix(strings.TrimSuffix(renamed, r.from+"/"+quote), "/") {
				renamed, m = strings.TrimSuffix(renamed, r.from+"/"+quote)+r.to+"/"+quote, m+1
			}
			if renamed == quote+r.from+quote && comparesPath.MatchString(before) {
				renamed, m = quote+r.to+quote, m+1
			}
		}
		if m > 0 {
			out.Write(content[copied:at])
			out.WriteString(renamed)
			copied = at + len(literal)
			n += m
		}
	}
	if failed != nil {
		return nil, 0, failed
	}
	if n == 0 {
		return content, 0, nil
	}
	out.Write(content[copied:])
	formatted, err := format.Source(out.Bytes()) // sorts imports
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	return formatted, n, nil
}

// comparesPath matches the code before a literal that is compared with a module path.
var comparesPath = regexp.MustCompile(`(?:\.Path|ModulePath\([^()]*\)|modulePath)\s*[!=]=\s*$`)

package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// imageExtensions are the extensions of image files. The format is detected from the content.
var imageExtensions = []string{".jpg", ".jpeg", ".jfif", ".png", ".gif", ".webp", ".tif", ".tiff", ".bmp"}

// ImageFiles lists the files of a folder and its subfolders.
type ImageFiles struct {
	Paths  []string       // of images, relative to the folder, with /, in the order of fs.WalkDir
	Unread map[string]int // numbers of other files by kind, such as "HEIC" for the extension .heic

	Tables   []string // .parquet files, likewise
	Archives []string // .tar files
	Metadata []string // files metadata.csv and metadata.jsonl
}

// ListImageFiles lists the images in a folder and its subfolders. Files and folders whose names begin with a dot are
// ignored. Links to folders are not followed and count as unread.
func ListImageFiles(folder fs.FS) (ImageFiles, error) {
	files := ImageFiles{Unread: map[string]int{}}
	err := fs.WalkDir(folder, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := file != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden || d.IsDir():
		case d.Type()&fs.ModeSymlink != 0 && !IsImage(file):
			files.Unread["link"]++
		default:
			files.add(file)
		}
		return nil
	})
	return files, err
}

// ImageFilesOf lists the images among the paths of a folder's files, which are relative to it, with /, as
// [ListImageFiles] does.
func ImageFilesOf(paths []string) ImageFiles {
	files := ImageFiles{Unread: map[string]int{}}
	for _, file := range paths {
		if !strings.Contains("/"+file, "/.") {
			files.add(file)
		}
	}
	slices.SortFunc(files.Paths, func(a, b string) int { // folder by folder
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	return files
}

// IsArchive reports whether a file has the extension of an archive that [Folder] reads.
func IsArchive(file string) bool { return strings.EqualFold(path.Ext(file), ".tar") }

// IsImage reports whether a file has the extension of an image that [Folder] reads.
func IsImage(file string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(path.Ext(file)))
}

func (f *ImageFiles) add(file string) {
	if IsImage(file) {
		f.Paths = append(f.Paths, file)
		return
	}
	f.Unread[extensionKind(file)]++
	switch name := path.Base(file); {
	case path.Ext(name) == ".parquet":
		f.Tables = append(f.Tables, file)
	case IsArchive(name):
		f.Archives = append(f.Archives, file)
	case name == "metadata.csv" || name == "metadata.jsonl":
		f.Metadata = append(f.Metadata, file)
	}
}

// Without removes a file that is read from Unread.
func (f ImageFiles) Without(file string) {
	kind := extensionKind(file)
	if f.Unread[kind]--; f.Unread[kind] <= 0 {
		delete(f.Unread, kind)
	}
}

// extensionKind returns the kind of a file that is not an image.
func extensionKind(file string) string {
	if ext := path.Ext(file); len(ext) > 1 && len(ext) <= 12 {
		return strings.ToUpper(ext[1:])
	}
	return "without an extension"
}

// Note returns a line about the files that are not read, "" if there are none: "photos: 12 images; not read: 3 HEIC, 1
// PDF".
func (f ImageFiles) Note(folder string) string {
	if len(f.Unread) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d images; not read: %s", folder, len(f.Paths), f.unread())
}

// unread lists the kinds of unread files, the most frequent first.
func (f ImageFiles) unread() string {
	const most = 8
	kinds := slices.SortedFunc(maps.Keys(f.Unread), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.Unread[b], f.Unread[a]), cmp.Compare(a, b))
	})
	var list []string
	others := 0
	for i, kind := range kinds {
		if i < most {
			list = append(list, fmt.Sprintf("%d %s", f.Unread[kind], kind))
		} else {
			others += f.Unread[kind]
		}
	}
	if others > 0 {
		list = append(list, fmt.Sprintf("%d of %d other kinds", others, len(kinds)-most))
	}
	return strings.Join(list, ", ")
}

// None returns an error for a folder without images, with its content and the fix; nil otherwise.
func (f ImageFiles) None(folder string) error {
	if len(f.Paths) > 0 {
		return nil
	}
	found, fix := "", ""
	if len(f.Unread) > 0 {
		found = "; not read: " + f.unread()
	}
	switch {
	case f.Unread["PARQUET"]+f.Unread["CSV"] > 0:
		fix = "; a table is given by its own name"
	case f.Unread["HEIC"]+f.Unread["HEIF"]+f.Unread["AVIF"]+f.Unread["JP2"]+f.Unread["JXL"] > 0:
		fix = "; convert them to PNG or JPEG"
	}
	return fmt.Errorf("no images (%s) in the folder %s%s%s", strings.Join(imageExtensions, " "), folder, found, fix)
}

package view

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
	"antipode/plots/browse"
)

// servedPolicy permits what the server itself serves.
const servedPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeOptions are the options of [Gallery.Serve].
type ServeOptions struct {
	Port  int      // 0 = any that is free
	Proxy *url.URL // under which a proxy on another host serves this port; nil = none
	Tags  []string // that the keys 1 to 9 set; at most nine
	Saved *Tags    // where tags are stored; nil = there are none
	Dir   string   // where copies of a selection are made; "" = the current folder
}

type server struct {
	*Gallery
	o      ServeOptions
	token  string
	cookie string
	hosts  []string
	routes http.Handler // of requests that are not refused
}

// Serve serves the page on 127.0.0.1 until ctx is done. ready gets the page's address, with its token.
func (g *Gallery) Serve(ctx context.Context, o ServeOptions, ready func(address string)) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", o.Port))
	if err != nil {
		return fmt.Errorf("cannot serve the page on port %d: %w", o.Port, err)
	}
	s, err := g.server(o, listener.Addr().(*net.TCPAddr).Port)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { web.Close() })
	base := "http://" + s.hosts[0] + "/"
	if o.Proxy != nil {
		base = o.Proxy.String()
	}
	ready(base + "?token=" + s.token)
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (g *Gallery) server(o ServeOptions, port int) (*server, error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	s := &server{Gallery: g, o: o, token: hex.EncodeToString(random), cookie: fmt.Sprintf("antipode-view-%d", port),
		hosts: []string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("localhost:%d", port)}}
	s.routes = s.mux()
	return s, nil
}

// ServeHTTP refuses what does not come from the page, and answers the rest.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", servedPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	origin, own, at := r.Header.Get("Origin"), "http://"+r.Host, "/"
	known, secure := slices.Contains(s.hosts, r.Host), false
	if p := s.o.Proxy; p != nil && r.Host == p.Host {
		own, at, known, secure = p.Scheme+"://"+p.Host, p.Path, true, p.Scheme == "https"
		if rest, whole := strings.CutPrefix(r.URL.Path, p.Path); whole { // some proxies leave the path as it is
			r.URL.Path = "/" + rest
		}
	}
	same := func(token string) bool { return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1 }
	cookie, err := r.Cookie(s.cookie)
	switch {
	case !known, origin != "" && origin != own:
		http.Error(w, "this page is not for other hosts or origins", http.StatusForbidden)
	case r.URL.Path == "/" && same(r.URL.Query().Get("token")):
		http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.token, Path: at, HttpOnly: true, Secure: secure,
			SameSite: http.SameSiteStrictMode})
		h.Set("Location", "./") // relative: a proxy may have added a path before it
		w.WriteHeader(http.StatusSeeOther)
	case err != nil || !same(cookie.Value):
		http.Error(w, "open the address that `antipode view` printed: its token is missing here, or belongs to a page "+
			"that was closed", http.StatusForbidden)
	default:
		s.routes.ServeHTTP(w, r)
	}
}

func (s *server) mux() http.Handler {
	mux := http.NewServeMux()
	file := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, text)
		}
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(browse.Served(s.Title))
	})
	mux.HandleFunc("GET /page.js", file("text/javascript; charset=utf-8", browse.Script))
	mux.HandleFunc("GET /page.css", file("text/css; charset=utf-8", browse.Style))
	mux.HandleFunc("GET /data.json", s.data)
	mux.HandleFunc("GET /thumb/{row}/{image}", s.thumb)
	mux.HandleFunc("GET /image/{row}/{image}", s.original)
	mux.HandleFunc("GET /near/{row}", s.nearest)
	mux.HandleFunc("GET /reference/{row}", s.reference)
	mux.HandleFunc("GET /reference/{row}/thumb", s.referenceThumb)
	mux.HandleFunc("POST /tags", s.tag)
	mux.HandleFunc("POST /copies", s.copies)
	return mux
}

func (s *server) data(w http.ResponseWriter, r *http.Request) {
	p := s.Page()
	if p.Tags = s.o.Tags; s.o.Saved != nil {
		p.Rater, p.Tagged = s.o.Saved.rater, s.o.Saved.list()
	}
	if s.real != nil {
		p.Reference = s.vector
	}
	data, err := json.Marshal(p)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	out := gzip.NewWriter(w)
	out.Write(data)
	out.Close()
}

func (s *server) place(r *http.Request) (row int, column string, img table.Image, err error) {
	row, err = strconv.Atoi(r.PathValue("row"))
	k, bad := strconv.Atoi(r.PathValue("image"))
	if err != nil || bad != nil || row < 0 || row >= s.Len() || k < 0 || k >= len(s.Images) {
		return 0, "", img, errors.New("there is no such image")
	}
	if img = s.Rows.Images(s.Images[k])[row]; img.Path == "" {
		err = errors.New("there is no image")
	}
	return row, s.Images[k], img, err
}

func (s *server) thumb(w http.ResponseWriter, r *http.Request) {
	row, column, _, err := s.place(r)
	if err == nil {
		side, _ := strconv.Atoi(r.URL.Query().Get("side"))
		var data []byte
		var kind string
		if data, kind, err = s.Thumbnail(row, column, r.URL.Query().Get("part"), min(max(side, 32), 1024)); err == nil {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", "private, max-age=3600")
			w.Write(data)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusNotFound)
}

// original sends the bytes of an image of a format that browsers show, others encoded anew.
func (s *server) original(w http.ResponseWriter, r *http.Request) {
	row, column, img, err := s.place(r)
	var data []byte
	if err == nil {
		data, err = os.ReadFile(img.Path)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	kind := http.DetectContentType(data)
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) {
		if data, kind, err = s.Thumbnail(row, column, "", 4096); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
	}
	w.Header().Set("Content-Type", kind)
	w.Write(data)
}

func (s *server) nearest(w http.ResponseWriter, r *http.Request) {
	row, err := strconv.Atoi(r.PathValue("row"))
	if err != nil {
		http.Error(w, "there is no such row", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(s.near(row, r.URL.Query().Get("vector"), 8))
}

// rows reads the rows of a request from its body.
func (s *server) rows(w http.ResponseWriter, r *http.Request, to any, rows *[]*int) (at []int, ok bool) {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<20)).Decode(to)
	for _, row := range *rows {
		if row == nil || *row < 0 || *row >= s.Len() { // null is no row
			err = errors.New("there is no such row")
			break
		}
		at = append(at, *row)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return at, err == nil
}

func (s *server) tag(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Rows []*int
		Tag  string
		On   bool
	}
	rows, ok := s.rows(w, r, &request, &request.Rows)
	if !ok {
		return
	}
	if !slices.Contains(s.o.Tags, request.Tag) || s.o.Saved == nil {
		http.Error(w, "there is no such tag", http.StatusBadRequest)
		return
	}
	ids, all := make([]string, len(rows)), s.IDs()
	for i, row := range rows {
		ids[i] = all[row]
	}
	if err := s.o.Saved.set(ids, request.Tag, request.On, time.Now()); err != nil {
		http.Error(w, "the tag is not stored: "+err.Error(), http.StatusInternalServerError)
	}
}

// copies copies the images of rows into a new folder, with a table of their texts and numbers.
func (s *server) copies(w http.ResponseWriter, r *http.Request) {
	var request struct{ Rows []*int }
	rows, ok := s.rows(w, r, &request, &request.Rows)
	if !ok {
		return
	}
	dir, n, failed, err := s.copy(rows)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintf(w, "%d images copied to %s, with the table images.csv", n, dir)
	if failed > 0 {
		fmt.Fprintf(w, "; %d cannot be read", failed)
	}
}

func (s *server) copy(rows []int) (dir string, n, failed int, err error) {
	for k := 1; ; k++ {
		dir = filepath.Join(s.o.Dir, fmt.Sprintf("selection-%d", k))
		if err = os.Mkdir(dir, 0o755); !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", 0, 0, err
	}
	names := map[int][]string{}
	for _, row := range rows {
		names[row] = make([]string, len(s.Images))
		for k, column := range s.Images {
			img := s.Rows.Images(column)[row]
			if img.Path == "" {
				continue
			}
			data, err := os.ReadFile(img.Path)
			if err != nil {
				failed++
				continue
			}
			names[row][k] = fmt.Sprintf("%d%s%s", row+1, strings.Repeat(second, k), extension(data))
			if err := os.WriteFile(filepath.Join(dir, names[row][k]), data, 0o644); err != nil {
				return "", n, failed, err
			}
			n++
		}
	}
	return dir, n, failed, s.writeTable(filepath.Join(dir, "images.csv"), rows, names)
}

// extension is that of an image file's format.
func extension(data []byte) string {
	switch http.DetectContentType(data) {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	case "image/bmp":
		return ".bmp"
	}
	return ".img"
}

// writeTable writes texts and numbers of rows as CSV, with the names of their images.
func (g *Gallery) writeTable(path string, rows []int, names map[int][]string) error {
	return atomicfile.Replace(path, 0o644, func(w io.Writer) error {
		out := csv.NewWriter(w)
		var head []string
		for k := range g.Images {
			head = append(head, "image"+strings.Repeat(second, k))
		}
		var columns []*table.Column
		for i := range g.Rows.Columns {
			if c := &g.Rows.Columns[i]; c.Kind == table.KindText || c.Kind == table.KindNumber {
				head, columns = append(head, c.Name), append(columns, c)
			}
		}
		out.Write(head)
		for _, row := range rows {
			cells := slices.Clone(names[row])
			for _, c := range columns {
				cells = append(cells, c.CSV(row))
			}
			out.Write(cells)
		}
		out.Flush()
		return out.Error()
	})
}

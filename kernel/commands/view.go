package commands

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"antipode/datasets/table"
	"antipode/kernel/view"
	"antipode/metrics"
	"antipode/metrics/disparity"
)

const viewArgs = "TABLE [--compare TABLE] [--real TABLE] [--export PAGE.html] [--port N] [--proxy URL] [--no-browser]"

// viewOptions are the options of view.
type viewOptions struct {
	Compare   string   `json:"compare" kind:"TABLE" help:"a TABLE whose images are shown next to those of the first"`
	On        []string `json:"on" kind:"A,B" help:"of --compare: the columns A,B that identify a row in both; default prompt_id,seed, else id"`
	Real      string   `json:"real" kind:"TABLE" help:"a TABLE of reference images: the large view shows the nearest, and whether the image is in a ball (precision) or covers one (coverage)"`
	By        []string `json:"by" kind:"A,B" help:"of --real: the columns A,B of the groups that are compared with their own reference images; of --compare: a table of the groups before and after"`
	Vector    string   `json:"vector" help:"of --compare and --real: the vector column whose distance is computed; default the first that both have"`
	Root      string   `json:"root" kind:"DIR" help:"a parent DIR that images may be in"`
	Export    string   `json:"export" kind:"PAGE.html" help:"write the PAGE.html that works without a server, and exit"`
	Side      int      `json:"side" default:"256" min:"32" max:"1024" help:"of --export: the longer side of its thumbnails in pixels"`
	Port      int      `json:"port" help:"the port on 127.0.0.1; 0 = any that is free"`
	NoBrowser bool     `json:"no_browser" help:"only print the page's address"`
	Tags      []string `json:"tags" help:"what the keys 1 to 9 say of an image, A,B,…"`
	Rater     string   `json:"rater" kind:"NAME" help:"the NAME under which tags are stored, in TABLE.tags-NAME.csv; default the user's"`
}

// viewTable shows the images of a table in the browser, or writes the page.
func viewTable(ctx context.Context, args []string) error {
	var o viewOptions
	var serve view.ServeOptions
	fs := flags("view", "")
	addOwn(fs, &o)
	fs.Func("proxy", "the `URL` under which a proxy, as of JupyterHub, serves --port", func(u string) (err error) {
		serve.Proxy, err = proxied(u)
		return err
	})
	rest, err := parseN(fs, args, 1, "antipode view "+viewArgs)
	if err != nil {
		return err
	}
	path := rest[0]
	switch serve.Tags, serve.Port = o.Tags, o.Port; {
	case len(o.Tags) > 9:
		return usage("--tags: %d tags; keys 1 to 9 set nine at most", len(o.Tags))
	case serve.Proxy != nil && o.Port == 0:
		return usage("--proxy: give --port, which the proxy serves, too")
	case o.Export != "" && (o.Port != 0 || serve.Proxy != nil):
		return usage("--port and --proxy are a server's; leave out --export")
	case o.On != nil && o.Compare == "":
		return usage("--on needs --compare")
	case o.Export != "" && o.Real != "":
		return usage("--real needs a server; leave out --export")
	case o.Export != "" && o.Tags != nil:
		return usage("--tags need a server; leave out --export")
	}
	gallery, err := o.gallery(ctx, path)
	if err != nil {
		return err
	}
	if o.Export != "" {
		size, err := gallery.Export(o.Export, o.Side)
		if err == nil {
			fmt.Printf("wrote %s, %d rows, %.1f MB\n", o.Export, gallery.Len(), float64(size)/1e6)
		}
		return err
	}
	if len(o.Tags) > 0 {
		if serve.Saved, err = openTags(path, o.Rater); err != nil {
			return err
		}
	}
	return gallery.Serve(ctx, serve, func(address string) {
		fmt.Printf("%d rows: %s (Ctrl-C closes it)\n", gallery.Len(), address)
		line := tunnel(address, os.Getenv("SSH_CONNECTION"), os.Getenv("JUPYTERHUB_SERVICE_PREFIX"))
		if line != "" && serve.Proxy == nil {
			fmt.Println(line)
		} else if line == "" && !o.NoBrowser {
			browse(address)
		}
	})
}

// gallery reads the tables.
func (o *viewOptions) gallery(ctx context.Context, path string) (*view.Gallery, error) {
	shown := view.Options{On: o.On, By: o.By, Vector: o.Vector, Title: filepath.Base(path)}
	images, err := rows(ctx, path, o.Root)
	if err == nil && o.Compare != "" {
		shown.Compare, err = rows(ctx, o.Compare, o.Root)
		shown.Title += " and " + filepath.Base(o.Compare)
	}
	if err == nil && o.Real != "" {
		err = readReference(ctx, &shown, images, path, o.Real, o.Root)
	}
	if err != nil {
		return nil, err
	}
	return view.New(images, shown)
}

// openTags opens the file of a person's tags next to a table; without a name they are the user's.
func openTags(path, rater string) (*view.Tags, error) {
	if rater == "" {
		rater = "rater"
		if u, err := user.Current(); err == nil {
			rater = filepath.Base(u.Username)
		}
	}
	if strings.ContainsAny(rater, `/\`) {
		return nil, usage("--rater %q: use a name without a slash", rater)
	}
	file := strings.TrimSuffix(filepath.Clean(path), filepath.Ext(path)) + ".tags-" + rater + ".csv"
	tags, err := view.OpenTags(file, rater)
	if err == nil {
		fmt.Println("tags: " + file)
	}
	return tags, err
}

// proxied reads the address under which a proxy serves the page: that of a folder.
func proxied(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return nil, errors.New("use the form https://HOST/user/NAME/proxy/PORT/")
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/"
	return u, nil
}

// tunnel returns the line for the user's own machine, where the command runs over ssh: the page listens on this one
// only. connection is what ssh calls SSH_CONNECTION, whose third word is the address of this machine. In JupyterHub it
// returns the options that do the same through jupyter-server-proxy; prefix is its JUPYTERHUB_SERVICE_PREFIX.
func tunnel(address, connection, prefix string) string {
	words := strings.Fields(connection)
	u, err := url.Parse(address)
	if err == nil && prefix != "" {
		return fmt.Sprintf("in JupyterHub, with jupyter-server-proxy: --port %[1]s "+
			"--proxy https://HUB%[2]sproxy/%[1]s/", u.Port(), prefix)
	}
	if err != nil || len(words) != 4 {
		return ""
	}
	return fmt.Sprintf("on your own machine: ssh -N -L %[1]s:127.0.0.1:%[1]s %[2]s, then open the address there",
		u.Port(), words[2])
}

// readReference reads the reference images of a view, and the balls around them.
func readReference(ctx context.Context, o *view.Options, images *table.Frame, path, real, root string) error {
	reference, err := open(real, root)
	if err != nil {
		return err
	}
	if o.Real, err = evaluated(ctx, reference); err != nil {
		return err
	}
	for _, c := range images.Columns {
		if o.Vector == "" && c.Kind == table.KindVector && o.Real.Vectors(c.Name) != nil {
			o.Vector = c.Name
		}
	}
	if o.Vector == "" {
		return usage("--real %s: both tables need a column of vectors (antipode embed)", real)
	}
	generated, err := open(path, root)
	if err == nil {
		o.Spheres, err = evaluated(ctx, disparity.Hyperspheres(metrics.Sets{Real: reference, Generated: generated},
			disparity.HyperspheresOptions{By: o.By, Vector: o.Vector}))
	}
	return err
}

// browse opens an address in the user's browser, if there is one.
func browse(address string) {
	name, args := "xdg-open", []string{address}
	if runtime.GOOS == "darwin" {
		name = "open"
	} else if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if cmd := exec.Command(name, args...); cmd.Start() == nil {
		go cmd.Wait()
	}
}

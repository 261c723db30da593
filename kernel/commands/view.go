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

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/kernel/view"
	"antipode/metrics"
	"antipode/metrics/disparity"
)

const viewArgs = "TABLE [--compare TABLE] [--real TABLE] [--export PAGE.html] [--port N] [--proxy URL] [--no-browser]"

// viewTable shows the images of a table in the browser, or writes the page.
func viewTable(ctx context.Context, args []string) error {
	var o view.Options
	var serve view.ServeOptions
	var against, real, by, root, on, export, tags, rater string
	var side int
	var quiet bool
	fs := flags("view", "")
	fs.StringVar(&against, "compare", "", "a `TABLE` whose images are shown next to those of the first")
	fs.StringVar(&on, "on", "", "of --compare: the columns `A,B` that identify a row in both; default "+
		"prompt_id,seed, else id")
	fs.StringVar(&real, "real", "", "a `TABLE` of reference images: the large view shows the nearest, and whether "+
		"the image is in a ball (precision) or covers one (coverage)")
	fs.StringVar(&by, "by", "", "of --real: the columns `A,B` of the groups that are compared with their own "+
		"reference images; of --compare: a table of the groups before and after")
	fs.StringVar(&o.Vector, "vector", "", "of --compare and --real: the vector column whose distance is computed; "+
		"default the first that both have")
	fs.StringVar(&root, "root", "", "a parent `DIR` that images may be in")
	fs.StringVar(&export, "export", "", "write the `PAGE.html` that works without a server, and exit")
	fs.IntVar(&side, "side", 256, "of --export: the longer side of its thumbnails in pixels")
	fs.IntVar(&serve.Port, "port", 0, "the port on 127.0.0.1; 0 = any that is free")
	fs.Func("proxy", "the `URL` under which a proxy, as of JupyterHub, serves --port", func(u string) (err error) {
		serve.Proxy, err = proxied(u)
		return err
	})
	fs.BoolVar(&quiet, "no-browser", false, "only print the page's address")
	fs.StringVar(&tags, "tags", "", "what the keys 1 to 9 say of an image, `A,B,…`")
	fs.StringVar(&rater, "rater", "", "the `NAME` under which tags are stored, in TABLE.tags-NAME.csv; default the "+
		"user's")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage("antipode view %s", viewArgs)
	}
	path := rest[0]
	switch serve.Tags = datasets.SplitColumns(tags); {
	case len(serve.Tags) > 9:
		return usage("--tags: %d tags; keys 1 to 9 set nine at most", len(serve.Tags))
	case side < 32 || side > 1024:
		return usage("--side %d: use 32 to 1024 pixels", side)
	case serve.Proxy != nil && serve.Port == 0:
		return usage("--proxy: give --port, which the proxy serves, too")
	case export != "" && real != "":
		return usage("--real needs a server; leave out --export")
	case export != "" && tags != "":
		return usage("--tags need a server; leave out --export")
	}
	o.On, o.By, o.Title = datasets.SplitColumns(on), datasets.SplitColumns(by), filepath.Base(path)
	images, err := rows(ctx, path, root)
	if err != nil {
		return err
	}
	if against != "" {
		if o.Compare, err = rows(ctx, against, root); err != nil {
			return err
		}
		o.Title += " and " + filepath.Base(against)
	}
	if real != "" {
		if err := readReference(ctx, &o, images, path, real, root); err != nil {
			return err
		}
	}
	gallery, err := view.New(images, o)
	if err != nil {
		return err
	}
	if export != "" {
		size, err := gallery.Export(export, side)
		if err == nil {
			fmt.Printf("wrote %s, %d rows, %.1f MB\n", export, gallery.Len(), float64(size)/1e6)
		}
		return err
	}
	if len(serve.Tags) > 0 {
		if rater == "" {
			rater = "rater"
			if u, err := user.Current(); err == nil {
				rater = filepath.Base(u.Username)
			}
		}
		if strings.ContainsAny(rater, `/\`) {
			return usage("--rater %q: use a name without a slash", rater)
		}
		file := strings.TrimSuffix(filepath.Clean(path), filepath.Ext(path)) + ".tags-" + rater + ".csv"
		if serve.Saved, err = view.OpenTags(file, rater); err != nil {
			return err
		}
		fmt.Println("tags: " + file)
	}
	return gallery.Serve(ctx, serve, func(address string) {
		fmt.Printf("%d rows: %s (Ctrl-C closes it)\n", gallery.Len(), address)
		line := tunnel(address, os.Getenv("SSH_CONNECTION"), os.Getenv("JUPYTERHUB_SERVICE_PREFIX"))
		if line != "" && serve.Proxy == nil {
			fmt.Println(line)
		} else if line == "" && !quiet {
			browse(address)
		}
	})
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

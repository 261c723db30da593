package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// reply is the body of a reply. It ends where the backend closes the connection.
type reply struct {
	*bufio.Reader
	close func() error
}

func (r *reply) Close() error { return r.close() }

// send sends a request to the backend over a connection of its own, which ends with the context, and returns the status
// of the reply, such as "200 OK", and its body. It is a client of HTTP/1.0, whose replies have no chunks. The program
// of every notebook cell contains it; net/http would add a third to the time of linking one.
func (b *Backend) send(ctx context.Context, method, path string, body []byte) (status string, _ *reply, err error) {
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "unix", b.socket())
	if err != nil {
		return "", nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	in := &reply{bufio.NewReaderSize(conn, 1<<16), func() error { stop(); return conn.Close() }}
	header := fmt.Sprintf("%s %s HTTP/1.0\r\nContent-Length: %d\r\n\r\n", method, path, len(body))
	if _, err = conn.Write(append([]byte(header), body...)); err == nil {
		status, err = in.header()
	}
	if err != nil {
		in.Close()
		return "", nil, err
	}
	return status, in, nil
}

// header reads the reply up to its body and returns the status.
func (r *reply) header() (status string, err error) {
	line, err := r.ReadString('\n')
	version, status, _ := strings.Cut(strings.TrimSpace(line), " ")
	if err == nil && !strings.HasPrefix(version, "HTTP/") {
		err = errors.New("the reply is not HTTP")
	}
	for err == nil && strings.TrimSpace(line) != "" {
		line, err = r.ReadString('\n')
	}
	return status, err
}

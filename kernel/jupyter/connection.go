package jupyter

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// connection is the content of a connection file: the addresses of a kernel and the key that signs its messages.
type connection struct {
	Transport       string `json:"transport"` // "tcp" or "ipc"
	IP              string `json:"ip"`        // with "ipc": the common prefix of the socket paths
	ShellPort       int    `json:"shell_port"`
	ControlPort     int    `json:"control_port"`
	StdinPort       int    `json:"stdin_port"`
	IOPubPort       int    `json:"iopub_port"`
	HBPort          int    `json:"hb_port"`
	SignatureScheme string `json:"signature_scheme"`
	Key             string `json:"key"`
	KernelName      string `json:"kernel_name,omitempty"`
}

// readConnection reads a connection file.
func readConnection(path string) (connection, error) {
	var c connection
	data, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("jupyter: connection file: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("jupyter: connection file %s is not valid JSON: %w", path, err)
	}
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return c, fmt.Errorf("jupyter: connection file %s: transport %q is not tcp or ipc", path, c.Transport)
	}
	if c.SignatureScheme != "" && c.SignatureScheme != "hmac-sha256" {
		return c, fmt.Errorf("jupyter: connection file %s: signature scheme %q is not hmac-sha256", path,
			c.SignatureScheme)
	}
	return c, nil
}

// privateConnection returns a connection of Unix sockets in dir, which only the user can access.
func privateConnection(dir string) (connection, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return connection{}, err
	}
	return connection{
		Transport: "ipc", IP: filepath.Join(dir, "k"),
		ShellPort: 1, ControlPort: 2, StdinPort: 3, IOPubPort: 4, HBPort: 5,
		SignatureScheme: "hmac-sha256", Key: hex.EncodeToString(key),
	}, nil
}

// write writes the connection file, readable by the user only.
func (c connection) write(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// ports returns the ports of the five sockets: shell, control, stdin, iopub, heartbeat.
func (c connection) ports() [5]int {
	return [5]int{c.ShellPort, c.ControlPort, c.StdinPort, c.IOPubPort, c.HBPort}
}

// endpoint returns the ZeroMQ address of a port.
func (c connection) endpoint(port int) string {
	if c.Transport == "ipc" {
		return "ipc://" + c.IP + "-" + strconv.Itoa(port)
	}
	return "tcp://" + c.IP + ":" + strconv.Itoa(port)
}

// address returns the address of a port for package net.
func (c connection) address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + strconv.Itoa(port)
	}
	return "tcp", c.IP + ":" + strconv.Itoa(port)
}

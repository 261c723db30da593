package jupyter

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Header identifies a message.
type Header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
}

// Message is one message of the Jupyter protocol.
type Message struct {
	Header   Header
	Parent   Header          // of the request it belongs to; zero without one
	Metadata json.RawMessage // empty: {}
	Content  json.RawMessage // one of the *Content types, by Header.Type
	Buffers  [][]byte

	raw    json.RawMessage // the header as received, which replies repeat with its unknown fields
	parent json.RawMessage // the parent header as it is sent; empty: {}
	prefix [][]byte        // frames before the delimiter: the topic of a published message
}

// StreamContent is the content of a "stream" message.
type StreamContent struct {
	Name string `json:"name"` // "stdout" or "stderr"
	Text string `json:"text"`
}

// DisplayContent is the content of "display_data", "update_display_data" and "execute_result".
type DisplayContent struct {
	Data           map[string]any `json:"data"`
	Metadata       map[string]any `json:"metadata"`
	Transient      Transient      `json:"transient"`
	ExecutionCount *int           `json:"execution_count,omitempty"`
}

// Transient is the part of a display that notebooks do not store.
type Transient struct {
	DisplayID string `json:"display_id,omitempty"`
}

// ErrorContent is the content of "error", and part of a reply with status "error".
type ErrorContent struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// ReplyContent is the content of "execute_reply".
type ReplyContent struct {
	Status         string `json:"status"` // "ok", "error" or "aborted"
	ExecutionCount *int   `json:"execution_count"`
	ErrorContent
}

// ClearContent is the content of "clear_output".
type ClearContent struct {
	Wait bool `json:"wait"`
}

const protocolVersion = "5.4"

var delimiter = []byte("<IDS|MSG>")

var emptyObject = json.RawMessage("{}")

// newMessage returns a message of a session. parent is the request that it belongs to, nil for a new request.
func newMessage(session, kind string, content any, parent *Message) (Message, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return Message{}, err
	}
	m := Message{
		Header: Header{
			ID: newID(), Session: session, Username: "antipode", Type: kind, Version: protocolVersion,
			Date: time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		},
		Content: raw,
	}
	if parent != nil {
		m.Parent, m.parent = parent.Header, parent.raw
	}
	return m, nil
}

// frames returns the signed ZeroMQ frames of the message.
func (m Message) frames(key []byte) ([][]byte, error) {
	header, err := json.Marshal(m.Header)
	if err != nil {
		return nil, err
	}
	body := [][]byte{header, orEmpty(m.parent), orEmpty(m.Metadata), orEmpty(m.Content)}
	frames := append([][]byte{}, m.prefix...)
	frames = append(append(frames, delimiter, sign(key, body)), body...)
	return append(frames, m.Buffers...), nil
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return emptyObject
	}
	return raw
}

var errBadMessage = errors.New("jupyter: not a message of the Jupyter protocol")

// parseMessage decodes frames and verifies their signature.
func parseMessage(frames [][]byte, key []byte) (Message, error) {
	var m Message
	at := 0
	for at < len(frames) && !bytes.Equal(frames[at], delimiter) {
		at++ // the topic, or the return identities
	}
	if len(frames) < at+6 {
		return m, errBadMessage
	}
	body := frames[at+2 : at+6]
	if len(key) > 0 && !hmac.Equal(sign(key, body), frames[at+1]) {
		return m, fmt.Errorf("%w: wrong signature", errBadMessage)
	}
	if err := json.Unmarshal(body[0], &m.Header); err != nil {
		return m, fmt.Errorf("%w: header: %w", errBadMessage, err)
	}
	if err := json.Unmarshal(body[1], &m.Parent); err != nil {
		return m, fmt.Errorf("%w: parent header: %w", errBadMessage, err)
	}
	m.raw, m.parent, m.Metadata, m.Content = body[0], body[1], body[2], body[3]
	m.Buffers = frames[at+6:]
	return m, nil
}

// sign returns the hex HMAC-SHA256 of the four parts, or nil without a key.
func sign(key []byte, parts [][]byte) []byte {
	if len(key) == 0 {
		return nil
	}
	mac := hmac.New(sha256.New, key)
	for _, p := range parts {
		mac.Write(p)
	}
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

// newID returns a random identifier.
func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

package hold

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/relay"
)

// MaxBody is the maximum size in bytes of a message to hold, including its framing.
const MaxBody = 1 << 20

// A Message is a message that is or was held.
type Message struct {
	ID       uint64 // counted from 1
	Answer   bool   // else it is a request
	Since    time.Time
	Exchange *capture.Exchange // secrets included

	// AgentLeft means that the agent has closed the connection meanwhile. The Line reconnects when the request
	// continues.
	AgentLeft bool
}

// request returns an exchange with the request on the wire, and how many bytes of it are copied.
func request(wire []byte, agent capture.Peer, client string) (x *capture.Exchange, copied int) {
	head, rest := cutHead(wire)
	h := capture.ParseRequestHead(head)
	if strings.EqualFold(h.Fields.Get("Transfer-Encoding"), "chunked") {
		if body, err := unchunked(wire); err == nil {
			rest, copied = body, cap(body)
		}
	}
	return &capture.Exchange{
		Started: time.Now().UTC(), Ended: capture.NotKnown, State: capture.StateOpen, Agent: agent,
		Client:  capture.Peer{Name: client},
		Request: capture.Request{Head: head, Body: whole(rest)},
	}, copied
}

// unchunked returns the body of a chunked request, without chunk framing.
func unchunked(wire []byte) ([]byte, error) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(wire)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r.Body)
}

// cutHead cuts a message after the blank line of its head.
func cutHead(wire []byte) (head, rest []byte) {
	at := 0
	for at < len(wire) {
		n := bytes.IndexByte(wire[at:], '\n') + 1
		if n == 0 {
			break
		}
		line := bytes.TrimRight(wire[at:at+n], "\r\n")
		if at += n; len(line) == 0 {
			return wire[:at:at], wire[at:]
		}
	}
	return wire, nil
}

func whole(body []byte) capture.Body {
	return capture.Body{Data: body, Size: int64(len(body)), Complete: true}
}

// answered returns an exchange with its answer.
func answered(x *capture.Exchange, head, body []byte) *capture.Exchange {
	x = x.Copy()
	x.Response = &capture.Response{Head: head, Body: whole(body)}
	return x
}

// framed returns the bytes of a message whose head and body were changed: its length is declared, and header fields
// about the old body are removed. The error is for the author of the head.
func framed(head, body []byte, answer bool) ([]byte, error) {
	what := "request"
	edit := rawhead.NewEdit(head)
	var h capture.Head
	switch {
	case answer:
		what, h = "answer", capture.ParseResponseHead(head)
	default:
		h = capture.ParseRequestHead(head)
	}
	switch _, rest := cutHead(head); {
	case !bytes.HasSuffix(head, []byte("\r\n\r\n")), len(rest) > 0:
		return nil, fmt.Errorf("the head of the %s does not end with one blank line", what)
	case answer && (h.Status < 200 || h.Status > 599):
		return nil, fmt.Errorf("%.60q is not a status line; write HTTP/1.1 CODE REASON, with a code from 200 to 599", h.Line)
	case !answer && (h.Method == "" || h.Target == "" || !strings.HasPrefix(h.Version, "HTTP/1.")):
		return nil, fmt.Errorf("%.60q is not a request line; write METHOD /PATH HTTP/1.1", h.Line)
	case len(h.Bad) > 0:
		return nil, fmt.Errorf("the header %.60q cannot be sent: %s", h.Bad[0].Text, h.Bad[0].Why)
	case len(body) > 0 && answer && (h.Status == 204 || h.Status == 304):
		return nil, fmt.Errorf("an answer with the status %d has no body", h.Status)
	case h.Fields.Has("Upgrade"):
		return nil, errors.New("an upgrade to another protocol cannot be sent; leave out the header Upgrade")
	}
	for _, name := range []string{"Transfer-Encoding", "Content-Encoding", "Trailer", "Content-Length"} {
		edit.Drop(name)
	}
	rawhead.DropDigests(edit)
	if len(body) > 0 || answer && h.Status != 204 && h.Status != 304 || !answer && h.Method != "GET" && h.Method != "HEAD" {
		edit.Set("Content-Length", fmt.Sprint(len(body)))
	}
	return append(bytes.Clone(edit.Bytes()), body...), nil
}

// changes names the parts in which another head and body differ from a message's.
func changes(m *Message, head, body []byte) string {
	was, b := m.Exchange.Request.Head, &m.Exchange.Request.Body
	h := capture.ParseRequestHead(was)
	if m.Answer {
		was, b = m.Exchange.Response.Head, &m.Exchange.Response.Body
		h = capture.ParseResponseHead(was)
	}
	var parts []string
	if !bytes.Equal(rawhead.StartLine(was), rawhead.StartLine(head)) {
		parts = append(parts, "first line")
	}
	now, _ := capture.ParseFields(afterFirstLine(head))
	for _, fields := range []capture.Fields{h.Fields, now} {
		for _, f := range fields {
			name := "header " + f.Name
			if framing[strings.ToLower(f.Name)] || strings.Contains(strings.Join(parts, ", ")+",", name+",") {
				continue
			}
			if strings.Join(h.Fields.Values(f.Name), "\x00") != strings.Join(now.Values(f.Name), "\x00") {
				parts = append(parts, name)
			}
		}
	}
	if old, err := b.Decode(&h); err != nil || !bytes.Equal(old, body) {
		parts = append(parts, "body")
	}
	return strings.Join(parts, ", ")
}

var framing = map[string]bool{"content-length": true, "transfer-encoding": true, "content-encoding": true, "trailer": true}

func afterFirstLine(head []byte) []byte {
	_, rest, _ := bytes.Cut(head, []byte("\n"))
	return rest
}

// holdable returns why an answer with this scanned head cannot be held; "" if it can.
func holdable(head []byte, s *relay.AnswerScanner) string {
	h := capture.ParseResponseHead(head)
	media := h.Fields.MediaType()
	switch {
	case media == "text/event-stream":
		return "streams are not held"
	case (s.Chunked() || s.UntilClose()) && !rawhead.IsJSON(media):
		return "answers without a length that are not JSON are not held"
	}
	return ""
}

const tooLong = "messages of more than 1 MiB are not held"

// noRoom explains why held messages continue.
const noRoom = "too many messages are held: the oldest one was released"

package inspector

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

// editHelp precedes a request in the editor.
const editHelp = `Save and leave the editor to send this; you will be asked to confirm. Without a change nothing is
sent. Content-Length and Host are set automatically. Replace the placeholders of secrets by their values.
`

// requestText returns the request of an exchange for an editor: as a transcript, with the body formatted if it is JSON.
func requestText(x *capture.Exchange) ([]byte, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Body.Decode(&head)
	if err != nil {
		return nil, fmt.Errorf("the body of exchange %d cannot be decoded: %w", x.Seq, err)
	}
	if _, is := head.GRPC(); is { // transcripts have messages as JSON
		body = x.Request.Body.Data
	} else if laid := jsontext.Value(bytes.Clone(body)); len(body) > 0 && laid.Indent() == nil {
		body = append(laid, '\n')
	}
	shown := &capture.Exchange{
		Seq: x.Seq, Started: x.Started, Ended: capture.NotKnown, Client: capture.Peer{Name: "client"}, Agent: x.Agent,
		Request: capture.Request{
			Head: withoutFields(x.Request.Head, framing...),
			Body: capture.Body{Data: body, Size: int64(len(body)), Complete: true},
		},
	}
	sections := transcript.Format(&transcript.Transcript{Comment: editHelp, Exchanges: []*capture.Exchange{shown}})
	if i := bytes.Index(sections, fmt.Appendf(nil, "-- %d.meta --\n", x.Seq)); i >= 0 {
		sections = append(sections[:i], bodyFlags(sections[i:], "request")...)
	}
	return sections, nil
}

// bodyFlags returns the lines of the section meta about the form of a request's or response's body. It returns nothing
// for a plain body.
func bodyFlags(meta []byte, of string) []byte {
	first, rest, _ := bytes.Cut(meta, []byte("\n"))
	for l := range bytes.Lines(rest) {
		if bytes.HasPrefix(l, []byte(of+".body:")) {
			return append(append(bytes.Clone(first), '\n'), l...)
		}
	}
	return nil
}

// withoutFields returns a head without the fields with these names. All other bytes stay.
func withoutFields(head []byte, names ...string) []byte {
	var out []byte
	for l := range bytes.Lines(head) {
		name, _, _ := strings.Cut(string(l), ":")
		dropped := false
		for _, n := range names {
			dropped = dropped || strings.EqualFold(strings.TrimSpace(name), n)
		}
		if !dropped {
			out = append(out, l...)
		}
	}
	return out
}

// readRequest parses the edited requestText, and returns the exchange with the edited request. Errors name the line.
func readRequest(text []byte, x *capture.Exchange) (*capture.Exchange, error) {
	t, err := transcript.Parse("request", text)
	if err != nil {
		return nil, err
	}
	if len(t.Exchanges) != 1 || t.Exchanges[0].Request.Head == nil {
		return nil, fmt.Errorf("request:1: expected one section, %d.request; nothing else is sent", x.Seq)
	}
	edited := *x
	edited.Request = t.Exchanges[0].Request
	head := capture.ParseRequestHead(edited.Request.Head)
	switch {
	case head.Method == "" || !capture.IsToken(head.Method) || !strings.HasPrefix(head.Version, "HTTP/"):
		return nil, fmt.Errorf("request: %.60q is not a request line; write METHOD /PATH HTTP/1.1", head.Line)
	case len(head.Bad) > 0:
		return nil, fmt.Errorf("request: the header %.60q cannot be sent: %s", head.Bad[0].Text, head.Bad[0].Why)
	}
	edited.Request.Body.Complete, edited.Request.Body.Decoded, edited.Request.Body.Dropped = true, true, 0
	edited.Lost = 0
	return &edited, nil
}

package player

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/replay/playback"
)

// An edited source is a capture in which some exchanges have the answers of files.
type edited struct {
	capture.Source
	answers map[uint64]*editedAnswer
}

// An editedAnswer is an answer from a file.
type editedAnswer struct {
	flag     string // N=FILE
	file     string
	response *capture.Response
}

// edit returns the capture with the answers of --answer. It reports bodies that are not what their heads say.
func (o *Flags) edit(ctx context.Context, e cli.Env, src capture.Source) (*edited, error) {
	all := &edited{src, map[uint64]*editedAnswer{}}
	for _, flag := range o.answer {
		number, file, found := strings.Cut(flag, "=")
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil || n == 0 || !found || file == "" {
			return nil, cli.Usage("--answer %s: write the number of an exchange and a file, such as 12=answer.json", flag)
		}
		if all.answers[n] != nil {
			return nil, cli.Usage("--answer %s: exchange %d already has an answer from %s; use one", flag, n, all.answers[n].file)
		}
		x, err := src.Exchange(ctx, n)
		switch {
		case errors.Is(err, capture.ErrNotFound):
			return nil, cli.Usage("--answer %s: the capture has no exchange %d", flag, n)
		case err != nil:
			return nil, fmt.Errorf("--answer %s: %w", flag, err)
		case x.Response == nil:
			return nil, cli.Usage("--answer %s: exchange %d has no answer in the capture that could be replaced", flag, n)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, cli.Usage("--answer %s: %w", flag, err)
		}
		response, doubt, err := editedResponse(x.Response, text)
		if err != nil {
			return nil, cli.Usage("--answer %s: %w", flag, err)
		}
		if doubt != "" {
			e.Notice(fmt.Sprintf("playback: %s: %s; it is played as it is", file, doubt))
		}
		all.answers[n] = &editedAnswer{flag, file, response}
	}
	return all, nil
}

// editedResponse returns an answer with the body of a file, and the head if the file begins with a status line. It also
// returns why the body may not be what its client expects.
func editedResponse(was *capture.Response, text []byte) (now *capture.Response, doubt string, err error) {
	head, body := was.Head, text
	if capture.IsGRPC(mediaType(head)) {
		return nil, "", errors.New("the recorded answer is gRPC; only answers over plain HTTP can be replaced")
	}
	isJSON := json.Valid(body)
	if bytes.HasPrefix(text, []byte("HTTP/")) {
		head, body = cutMessage(text)
		if isJSON = json.Valid(body); isJSON && mediaType(head) == "" {
			head = withField(head, "Content-Type", "application/json")
		}
	} else if isJSON && was.Stream {
		head = withField(head, "Content-Type", "application/json")
	}
	head = withField(head, "Content-Encoding", "")
	read := capture.ParseResponseHead(head)
	switch {
	case len(read.Bad) > 0:
		return nil, "", fmt.Errorf("line %d, %q: %s", read.Bad[0].N, read.Bad[0].Text, read.Bad[0].Why)
	case read.Status < 200:
		return nil, "", fmt.Errorf("status %d does not end an answer; use one from 200 on", read.Status)
	}
	now = &capture.Response{At: was.At, Head: head, Body: capture.Body{Size: int64(len(body)), Complete: true, At: was.At}}
	if read.Fields.MediaType() == "text/event-stream" {
		var s capture.Splitter
		now.Stream, now.Events = true, append(slices.Clone(s.Write(body)), s.Flush()...)
		for i := range now.Events {
			now.Events[i].At = was.At
		}
		return now, "", nil
	}
	now.Body.Data = append([]byte{}, body...)
	if strings.HasSuffix(read.Fields.MediaType(), "json") && !isJSON {
		doubt = fmt.Sprintf("the body is not JSON, although its media type is %s", read.Fields.MediaType())
	}
	return now, doubt, nil
}

func mediaType(head []byte) string {
	h := capture.ParseResponseHead(head)
	return h.Fields.MediaType()
}

// cutMessage returns the head of an HTTP message, whose lines may end with LF, and its body.
func cutMessage(text []byte) (head, body []byte) {
	for line := range bytes.Lines(text) {
		text = text[len(line):]
		head = append(append(head, bytes.TrimRight(line, "\r\n")...), "\r\n"...)
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return head, text
		}
	}
	return append(head, "\r\n"...), nil
}

// withField returns a raw head with another value of a field; without the field if the value is empty.
func withField(head []byte, name, value string) []byte {
	var out []byte
	for line := range bytes.Lines(head) {
		field, _, _ := bytes.Cut(line, []byte(":"))
		switch {
		case strings.EqualFold(string(field), name):
			continue
		case value != "" && len(bytes.TrimRight(line, "\r\n")) == 0:
			out = append(out, name+": "+value+"\r\n"...)
		}
		out = append(out, line...)
	}
	return out
}

// source is the capture for a player. The others are as recorded.
func (s *edited) source() capture.Source {
	if len(s.answers) == 0 {
		return s.Source
	}
	return s
}

func (s *edited) replace(x *capture.Exchange) *capture.Exchange {
	a := s.answers[x.Seq]
	if a == nil {
		return x
	}
	now := *x
	now.Response, now.Fault, now.Ends = a.response, nil, nil
	return &now
}

// Exchanges implements capture.Source.
func (s *edited) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for x, err := range s.Source.Exchanges(ctx, from) {
			if err == nil {
				x = s.replace(x)
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

// Exchange implements capture.Source.
func (s *edited) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	x, err := s.Source.Exchange(ctx, seq)
	if err != nil {
		return nil, err
	}
	return s.replace(x), nil
}

// check returns an error if an answer belongs to an exchange that is not played.
func (s *edited) check(p *playback.Player) error {
	if len(s.answers) == 0 {
		return nil
	}
	calls := p.Report().Calls
	for n, a := range s.answers {
		if !slices.ContainsFunc(calls, func(c playback.Call) bool { return c.Exchange == n }) {
			return cli.Usage("--answer %s: exchange %d is not played: it asks nothing, or --serve, --live or --filter leave it out",
				a.flag, n)
		}
	}
	return nil
}

package refagent

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 16 << 20

// answer applies the fault and writes.
func (a *Agent) answer(w http.ResponseWriter, c *wire.Call, out *wire.Answer) {
	if a.hooks.Answer != nil {
		a.hooks.Answer(c, out)
	}
	out.Write(w)
}

// perform runs the decoded request of c, with the fault's hooks before and after.
func (s *service) perform(ctx context.Context, c *wire.Call) (model.Reply, *model.Failure) {
	var r model.Reply
	var f *model.Failure
	if s.hooks.Admit != nil {
		f = s.hooks.Admit(c)
	}
	if f == nil {
		f = s.lacking(c.Op)
	}
	if f == nil {
		f = s.admitTenant(c.Request)
	}
	if f == nil {
		r, f = s.operate(ctx, c.Request)
	}
	if f != nil && s.hooks.Refuse != nil {
		f = s.hooks.Refuse(c, f)
	}
	if f == nil && s.hooks.Reply != nil {
		s.hooks.Reply(c, &r)
	}
	return r, f
}

// streamEvents writes a stream: each event is flushed at once, and the body ends after the last one of the stream.
func (a *Agent) streamEvents(ctx context.Context, w http.ResponseWriter, c *wire.Call, s *model.Stream) {
	head := wire.NewAnswer(http.StatusOK, "text/event-stream", nil)
	head.Header.Set("Cache-Control", "no-cache")
	a.stream(ctx, w, c, head, s, serverEvent) //nolint:errcheck // events can be written as they are
}

// stream writes a stream after a head, with encode for its events, and returns encode's error.
func (a *Agent) stream(ctx context.Context, w http.ResponseWriter, c *wire.Call, head *wire.Answer, s *model.Stream,
	encode func(*wire.Frame) ([]byte, error),
) error {
	head.Stream = true
	if a.hooks.Answer != nil {
		a.hooks.Answer(c, head)
	}
	head.WriteHead(w)
	var hook func(*wire.Frame) []*wire.Frame
	if a.hooks.Events != nil {
		hook = a.hooks.Events(c)
	}
	e, rest := s.First, s.Rest
	for {
		f := &wire.Frame{Event: e, Body: c.FrameBody(e), Last: rest == nil || c.Ends(e)}
		if c.Named {
			f.Name = model.LegacyName(e)
		}
		done, err := writeFrames(w, f, hook, encode)
		if done || err != nil {
			return err
		}
		if e, rest, err = rest.Wait(ctx); err != nil {
			if a.hooks.Left != nil {
				a.hooks.Left(a.engineOf(c.Request), s.First)
			}
			return nil
		}
	}
}

// writeFrames writes an event, or the fault's version of it, and reports whether the stream is over.
func writeFrames(w http.ResponseWriter, f *wire.Frame, hook func(*wire.Frame) []*wire.Frame,
	encode func(*wire.Frame) ([]byte, error),
) (done bool, err error) {
	frames := []*wire.Frame{f}
	if hook != nil {
		frames = hook(f)
	}
	done = f.Last
	for _, f := range frames {
		text, err := encode(f)
		if err != nil {
			return true, err
		}
		if _, err := w.Write(text); err != nil {
			return true, nil
		}
		done = done || f.Last
	}
	return http.NewResponseController(w).Flush() != nil || done, nil
}

// serverEvent writes an event as a server-sent event.
func serverEvent(f *wire.Frame) ([]byte, error) {
	if f.Text != nil {
		return f.Text, nil
	}
	var head []byte
	if f.Name != "" {
		head = append(head, "event: "+f.Name+"\n"...)
	}
	return append(jsonvalue.Append(append(head, "data: "...), f.Body), "\n\n"...), nil
}

// readBody returns a request's body, or a failure because of its size or media type.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *model.Failure) {
	if t := r.Header.Get("Content-Type"); t != "" && !isJSON(t) {
		f := model.Fail(model.CodeInvalidRequest,
			"Unsupported Content-Type "+strconv.Quote(t)+"; expected application/json")
		f.HTTP = http.StatusUnsupportedMediaType
		return nil, f
	}
	body, f := readBounded(w, r, "The request body is larger than 16 MiB")
	if f == nil && body == nil {
		f = model.Fail(model.CodeParse, "The request body could not be read")
	}
	return body, f
}

// readBounded returns a body of any type, nil if it could not be read, or a failure because of its size.
func readBounded(w http.ResponseWriter, r *http.Request, tooLarge string) ([]byte, *model.Failure) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		f := model.Fail(model.CodeInvalidRequest, tooLarge)
		f.HTTP = http.StatusRequestEntityTooLarge
		return nil, f
	}
	if err != nil {
		return nil, nil
	}
	return body, nil
}

func isJSON(contentType string) bool {
	essence, _, err := mime.ParseMediaType(contentType)
	return err == nil && (essence == "application/json" || strings.HasSuffix(essence, "+json"))
}

// version returns the protocol version that a request names, as Major.Minor: from the header, or else from the query
// (A2A 1.0 §3.6.1). Patch numbers are ignored (§3.6). Empty means that the request names none.
func version(r *http.Request) string {
	v := cmp.Or(strings.TrimSpace(r.Header.Get("A2A-Version")), r.URL.Query().Get("A2A-Version"))
	if parts := strings.Split(v, "."); len(parts) == 3 {
		v = parts[0] + "." + parts[1]
	}
	return v
}

// checkVersion refuses versions that are not served here (A2A 1.0 §3.6.2). By the specification, no version means 0.3;
// since that is not served either, an unmistakable 1.0 request is accepted.
func (a *Agent) checkVersion(asked string, unmistakable bool) *model.Failure {
	if patch, ok := strings.CutPrefix(asked, "1.0."); ok && patch != "" && strings.Trim(patch, "0123456789") == "" {
		asked = "1.0" // patch numbers do not count (A2A 1.0 §3.6)
	}
	if !a.profile.versioned || asked == "1.0" || asked == "" && unmistakable {
		return nil
	}
	asked = cmp.Or(asked, "0.3, which no A2A-Version means,")
	return model.Fail(model.CodeVersion, "A2A version "+asked+" is not supported here; this agent speaks 1.0")
}

// readHeader reads the header fields that operations need.
func (a *Agent) readHeader(into *model.Request, r *http.Request) {
	into.Authorization, into.Traceparent = r.Header.Get("Authorization"), r.Header.Get("Traceparent")
	into.Base = a.base(r)
	into.User, _ = a.userOf(r)
}

// userOf returns the user of a request; ok is false if it lacks the credentials that the agent requires.
func (s *service) userOf(r *http.Request) (user string, ok bool) {
	c := s.credentials("")
	if c == nil {
		return "", true
	}
	return c.Brought(r)
}

func (a *Agent) failREST(w http.ResponseWriter, c *wire.Call, f *model.Failure) {
	c.Failure = f
	out := wire.NewAnswer(f.HttpStatus(), c.MediaType, a.profile.rest.failed(c.Dialect, f))
	if f.Challenge != "" {
		out.Header.Set("WWW-Authenticate", f.Challenge)
	}
	if f.Allow != "" {
		out.Header.Set("Allow", f.Allow)
	}
	a.answer(w, c, out)
}

// failRPC answers with an error object (JSON-RPC 2.0 §5.1, A2A 1.0 §9.5).
func (a *Agent) failRPC(w http.ResponseWriter, c *wire.Call, f *model.Failure) {
	c.Failure = f
	status := http.StatusOK
	switch {
	case f.HTTP != 0:
		status = f.HTTP
	case f.Code == model.CodeStoreFull && c.Dialect.Code(f) == model.CodeInternal: // a generic code
		status = http.StatusTooManyRequests
	}
	out := wire.NewAnswer(status, c.MediaType, jsonvalue.Object{
		{"jsonrpc", "2.0"},
		{"id", c.ID},
		{"error", c.RPCError(f)},
	})
	if f.Challenge != "" {
		out.Header.Set("WWW-Authenticate", f.Challenge)
	}
	a.answer(w, c, out)
}

// refuseStranger refuses a request without an operation that also lacks the credentials, and reports whether it did.
func (a *Agent) refuseStranger(w http.ResponseWriter, r *http.Request) bool {
	f := a.authenticate(r)
	if f == nil {
		return false
	}
	if a.profile.dialect == nil {
		a.failREST(w, &wire.Call{Binding: wire.HTTPJSON, Dialect: a.profile.rest.dialect, MediaType: "application/json"}, f)
	} else {
		a.failRPC(w, &wire.Call{Binding: wire.JSONRPC, Dialect: a.profile.dialect, MediaType: "application/json"}, f)
	}
	return true
}

// authenticate refuses a request without the credentials that the agent requires. The public card needs none (A2A 1.0
// §8.2), nor does OPTIONS.
func (a *Agent) authenticate(r *http.Request) *model.Failure {
	c := a.credentials("")
	if _, ok := a.userOf(r); ok {
		return nil
	}
	challenge := "Bearer"
	switch c.Scheme {
	case BasicAuth:
		challenge = "Basic"
	case APIKeyAuth:
		challenge = "ApiKey"
	}
	return &model.Failure{
		Code: model.CodeUnauthenticated, Message: "Unauthorized", HTTP: http.StatusUnauthorized,
		Challenge: challenge + ` realm="` + a.profile.name + `"`,
	}
}

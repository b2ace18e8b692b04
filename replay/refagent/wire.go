package refagent

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 16 << 20

// answer applies the fault and writes.
func (a *Agent) answer(w http.ResponseWriter, c *call, out *answer) {
	if a.hooks.answer != nil {
		a.hooks.answer(c, out)
	}
	out.write(w)
}

// perform runs the decoded request of c, with the fault's say before and after.
func (a *Agent) perform(ctx context.Context, c *call) (reply, *failure) {
	var r reply
	var f *failure
	if a.hooks.admit != nil {
		f = a.hooks.admit(c)
	}
	if f == nil {
		f = a.admitTenant(c.request)
	}
	if f == nil {
		r, f = a.operate(ctx, c.request)
	}
	if f != nil && a.hooks.refuse != nil {
		f = a.hooks.refuse(c, f)
	}
	if f == nil && a.hooks.reply != nil {
		a.hooks.reply(c, &r)
	}
	return r, f
}

// streamEvents writes a stream: each event is flushed at once, and the body ends after the last one of the stream.
func (a *Agent) streamEvents(ctx context.Context, w http.ResponseWriter, c *call, s *stream) {
	head := newAnswer(http.StatusOK, "text/event-stream", nil)
	head.header.Set("Cache-Control", "no-cache")
	head.stream = true
	if a.hooks.answer != nil {
		a.hooks.answer(c, head)
	}
	for name, v := range head.header {
		w.Header()[name] = v
	}
	w.WriteHeader(head.status)
	var hook func(*frame) []*frame
	if a.hooks.events != nil {
		hook = a.hooks.events(c)
	}
	e, rest := s.first, s.rest
	for {
		f := &frame{event: e, body: c.frameBody(e), last: rest == nil || c.ends(e)}
		if c.named {
			f.name = legacyName(e)
		}
		if done := writeFrames(w, f, hook); done {
			return
		}
		var err error
		if e, rest, err = rest.wait(ctx); err != nil {
			return
		}
	}
}

// writeFrames writes an event, or what the fault makes of it, and says whether the stream is over.
func writeFrames(w http.ResponseWriter, f *frame, hook func(*frame) []*frame) (done bool) {
	frames := []*frame{f}
	if hook != nil {
		frames = hook(f)
	}
	done = f.last
	for _, f := range frames {
		text := f.text
		if text == nil {
			var head []byte
			if f.name != "" {
				head = append(head, "event: "+f.name+"\n"...)
			}
			text = append(appendJSON(append(head, "data: "...), f.body), "\n\n"...)
		}
		if _, err := w.Write(text); err != nil {
			return true
		}
		done = done || f.last
	}
	return http.NewResponseController(w).Flush() != nil || done
}

// readBody returns a request's body, or the failure that its size or its media type deserves.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *failure) {
	if t := r.Header.Get("Content-Type"); t != "" && !isJSON(t) {
		f := fail(codeInvalidRequest, "Unsupported Content-Type "+strconv.Quote(t)+"; expected application/json")
		f.http = http.StatusUnsupportedMediaType
		return nil, f
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		f := fail(codeInvalidRequest, "The request body is larger than 16 MiB")
		f.http = http.StatusRequestEntityTooLarge
		return nil, f
	}
	if err != nil {
		return nil, fail(codeParse, "The request body could not be read")
	}
	return body, nil
}

func isJSON(contentType string) bool {
	essence, _, err := mime.ParseMediaType(contentType)
	return err == nil && (essence == "application/json" || strings.HasSuffix(essence, "+json"))
}

// version returns the protocol version that a request asks for, as Major.Minor: from the header, else from the query
// (A2A 1.0 §3.6.1). Patch numbers do not count (§3.6). Empty means that it does not say.
func version(r *http.Request) string {
	v := strings.TrimSpace(r.Header.Get("A2A-Version"))
	if v == "" {
		v = r.URL.Query().Get("A2A-Version")
	}
	if parts := strings.Split(v, "."); len(parts) == 3 {
		v = parts[0] + "." + parts[1]
	}
	return v
}

// checkVersion refuses versions that are not served here (A2A 1.0 §3.6.2). No version means 0.3 by the rule; since
// that is not served either, a request that is unmistakably 1.0 is given the benefit of the doubt.
func (a *Agent) checkVersion(asked string, unmistakable bool) *failure {
	if patch, ok := strings.CutPrefix(asked, "1.0."); ok && patch != "" && strings.Trim(patch, "0123456789") == "" {
		asked = "1.0" // patch numbers do not count (A2A 1.0 §3.6)
	}
	if !a.profile.versioned || asked == "1.0" || asked == "" && unmistakable {
		return nil
	}
	if asked == "" {
		asked = "0.3, which no A2A-Version means,"
	}
	return fail(codeVersion, "A2A version "+asked+" is not supported here; this agent speaks 1.0")
}

// readHeader takes what operations need from the head of a request.
func (a *Agent) readHeader(into *request, r *http.Request) {
	into.authorization, into.traceparent = r.Header.Get("Authorization"), r.Header.Get("Traceparent")
	into.base = a.base(r)
}

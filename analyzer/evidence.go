package analyzer

import (
	"context"
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// An evidence is what the exchanges of other programs in a capture show of what these programs kept. It is one for a
// capture: a program that keeps a credential once leaves none out, and one that lists what every client sends lists
// everything.
type evidence uint8

const (
	keptCredentials evidence = 1 << iota
	keptRequests             // the header fields of requests, maybe without credentials
	keptAnswers              // the header fields of answers
	keptAll         = keptCredentials | keptRequests | keptAnswers
)

// From returns an option that lets the engine look through the capture that it is to judge, when it meets the first
// exchange of another program there: what such programs left out shows in the whole only. Without it, what has come so
// far decides.
func From(ctx context.Context, src capture.Source) EngineOption {
	return func(e *Engine) {
		e.lookThrough = func() evidence {
			var all evidence
			for x, err := range src.Exchanges(ctx, 1) {
				if err != nil || all == keptAll {
					break
				}
				if !capture.Foreign(x.ID) {
					continue
				}
				head := capture.ParseRequestHead(x.Request.Head)
				all |= shownByRequest(&head)
				if x.Response != nil {
					head = capture.ParseResponseHead(x.Response.Head)
					all |= shownByAnswer(&head)
				}
			}
			return all
		}
	}
}

// foreign gives an exchange of another program what is known of it.
func (e *Engine) foreign(x *Exchange) {
	if e.lookThrough != nil {
		e.evidence |= e.lookThrough()
		e.lookThrough = nil
	}
	x.evidence = &e.evidence
	e.evidence |= shownByRequest(&x.Request)
}

// shownByRequest returns what the fields of a request show. A body cannot be sent without its framing, and every client
// says something of itself or of the connection.
func shownByRequest(h *capture.Head) evidence {
	f := h.Fields
	for _, name := range [...]string{"Authorization", "Cookie"} { // those that programs leave out first
		for _, value := range f.Values(name) {
			if !standsFor(value) {
				return keptAll
			}
		}
	}
	framed := f.Has("Content-Length") || f.Has("Transfer-Encoding") || framesBodies(h)
	itself := f.Has("User-Agent") || f.Has("Accept") || f.Has("Accept-Encoding") || f.Has("Connection")
	if framed && itself {
		return keptRequests
	}
	return 0
}

// shownByAnswer returns what the fields of an answer show.
func shownByAnswer(h *capture.Head) evidence {
	f := h.Fields
	framed := f.Has("Content-Length") || f.Has("Transfer-Encoding") || f.Has("Connection") || framesBodies(h)
	if framed && f.Has("Date") {
		return keptAnswers
	}
	return 0
}

// framesBodies reports whether a message is of a version that needs no fields for the framing of bodies, and its
// pseudo-header fields are among the others, as a program writes them that keeps all.
func framesBodies(h *capture.Head) bool {
	return strings.HasPrefix(h.Version, "HTTP/2") && slices.ContainsFunc(h.Bad, func(b capture.BadLine) bool {
		return strings.HasPrefix(b.Text, ":")
	})
}

// standsFor reports whether a text stands where a credential was: "[REDACTED]", "Bearer ***".
func standsFor(value string) bool {
	if scheme, rest, ok := strings.Cut(strings.TrimSpace(value), " "); ok && scheme != "" {
		value = rest
	}
	if strings.Trim(value, " *xX.•…-_") == "" {
		return true
	}
	value = strings.ToLower(value)
	for _, word := range [...]string{"redact", "removed", "hidden", "masked", "filtered", "sanitized", "scrubbed"} {
		if strings.Contains(value, word) {
			return true
		}
	}
	return false
}

// HeadersKept reports whether what is not among the header fields of the request was not on the wire either, apart from
// credentials. The HARs of other programs may leave fields out: what is there shows whether they did. A head that is
// empty but for the host, which may be made of the URL, is taken for whole only where credentials were kept.
func (x *Exchange) HeadersKept() bool {
	return x.CredentialsKept() || x.kept(keptRequests) && len(x.Request.Fields) > 1
}

// AnswerHeadersKept is the same for the header fields of the answer.
func (x *Exchange) AnswerHeadersKept() bool {
	return x.CredentialsKept() || x.kept(keptAnswers) && len(x.Response.Fields) > 0
}

// CredentialsKept reports whether a credential that is not in the request was not on the wire either.
func (x *Brief) CredentialsKept() bool { return x.kept(keptCredentials) }

func (x *Brief) kept(what evidence) bool { return x.evidence == nil || *x.evidence&what != 0 }

package intake

import (
	"context"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// foreign tracks which data other programs stored in the exchanges that they wrote.
type foreign struct {
	kept   analysis.Kept
	looked bool // through the whole capture
}

// began adds the known facts about another program's exchange. all returns what that program recorded for the whole
// capture; it may be nil.
func (f *foreign) began(x *analysis.Exchange, all func() analysis.Kept) {
	if all != nil && !f.looked {
		f.kept, f.looked = f.kept|all(), true
	}
	x.Kept = &f.kept
	f.kept |= shownByRequest(&x.Request)
}

// answered records what an answer shows.
func (f *foreign) answered(x *analysis.Exchange) {
	if x.Kept != nil {
		f.kept |= shownByAnswer(&x.Response)
	}
}

// KeptIn returns which data other programs stored, as far as their exchanges in a capture show.
func KeptIn(ctx context.Context, src capture.Source) analysis.Kept {
	var all analysis.Kept
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil || all == analysis.KeptAll {
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

// shownByRequest returns which data the fields of a request prove to be stored. A body cannot be sent without its
// framing, and every client sends some field about itself or the connection.
func shownByRequest(h *capture.Head) analysis.Kept {
	f := h.Fields
	for _, name := range [...]string{"Authorization", "Cookie"} { // the fields that programs omit first
		for _, value := range f.Values(name) {
			if !standsFor(value) {
				return analysis.KeptAll
			}
		}
	}
	framed := f.Has("Content-Length") || f.Has("Transfer-Encoding") || framesBodies(h)
	itself := f.Has("User-Agent") || f.Has("Accept") || f.Has("Accept-Encoding") || f.Has("Connection")
	if framed && itself {
		return analysis.KeptRequests
	}
	return 0
}

// shownByAnswer returns which data the fields of an answer show to be stored.
func shownByAnswer(h *capture.Head) analysis.Kept {
	f := h.Fields
	framed := f.Has("Content-Length") || f.Has("Transfer-Encoding") || f.Has("Connection") || framesBodies(h)
	if framed && f.Has("Date") {
		return analysis.KeptAnswers
	}
	return 0
}

// framesBodies reports whether an HTTP version frames bodies without fields, and the fields include pseudo-header
// fields, which only a program that stores all fields keeps.
func framesBodies(h *capture.Head) bool {
	return strings.HasPrefix(h.Version, "HTTP/2") && slices.ContainsFunc(h.Bad, func(b capture.BadLine) bool {
		return strings.HasPrefix(b.Text, ":")
	})
}

// standsFor reports whether a text is a placeholder for a removed credential: "[REDACTED]", "Bearer ***".
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

package intake

import (
	"context"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// foreign knows what other programs kept of the exchanges that they wrote.
type foreign struct {
	kept   analysis.Kept
	looked bool // through the whole capture
}

// began gives an exchange of another program what is known of it. All tells it of the whole capture; it may be nil.
func (f *foreign) began(x *analysis.Exchange, all func() analysis.Kept) {
	if all != nil && !f.looked {
		f.kept, f.looked = f.kept|all(), true
	}
	x.Kept = &f.kept
	f.kept |= shownByRequest(&x.Request)
}

// answered takes what the answer to an exchange shows.
func (f *foreign) answered(x *analysis.Exchange) {
	if x.Kept != nil {
		f.kept |= shownByAnswer(&x.Response)
	}
}

// KeptIn returns what the exchanges of other programs in a capture show of what these kept.
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

// shownByRequest returns what the fields of a request show. A body cannot be sent without its framing, and every client
// says something of itself or of the connection.
func shownByRequest(h *capture.Head) analysis.Kept {
	f := h.Fields
	for _, name := range [...]string{"Authorization", "Cookie"} { // those that programs leave out first
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

// shownByAnswer returns what the fields of an answer show.
func shownByAnswer(h *capture.Head) analysis.Kept {
	f := h.Fields
	framed := f.Has("Content-Length") || f.Has("Transfer-Encoding") || f.Has("Connection") || framesBodies(h)
	if framed && f.Has("Date") {
		return analysis.KeptAnswers
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

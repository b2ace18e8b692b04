package intake

import (
	"net/http"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/cardfetch"
	"a2atap/analyzer/internal/directory"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// search looks for a card in the answer to a request that is not a call. It returns true if the exchange counts as a
// card fetch from this step on.
func (r *Reader) search(in *openExchange, s capture.Step) bool {
	x := in.X
	switch what := s.What.(type) {
	case capture.ResponseHead:
		h := headOf(s, what.Head, capture.ParseResponseHead)
		switch {
		case what.Stream:
		case cardfetch.MayAnswer(&h):
			in.found = &h
		case h.Status == http.StatusNotModified && r.endpoints.hasCard(x):
			r.fetches(in, a2a.Call{Operation: a2a.GetCard})
			return true
		}
	case capture.ResponseBody:
		if in.found != nil && !r.gatherFound(in, what) {
			r.forgetFound(in)
		}
	case capture.ResponseEnd:
		if in.found == nil {
			return false
		}
		h, b := *in.found, &in.response
		b.Size, b.Complete = what.Size, true
		text, doc, lacks := r.content(b, &h, s.Parsed)
		if lacks != "" || !a2a.MayHoldCard(text) {
			r.forgetFound(in)
			return false
		}
		if doc == nil {
			doc = parsed(text)
		}
		call, found := cardfetch.Find(x.Origin, x.Path, doc.Root)
		if doc.Err != nil || !found {
			r.forgetFound(in)
			return false
		}
		x.Response, x.Answered = h, true
		r.foreign.answered(x)
		r.fetches(in, call)
		return true
	}
	return false
}

// fetches makes a request count as a card fetch.
func (r *Reader) fetches(in *openExchange, call a2a.Call) {
	x := in.X
	call.Query, call.Version = x.Call.Query, strings.TrimSpace(x.Request.Fields.Get("A2A-Version"))
	x.Call, in.seeking, in.found = call, false, nil
	in.gathered.called(&x.Call)
	r.endpoints.place(&in.Case)
}

// gatherFound adds a piece of a body, and reports whether the body may still be a card.
func (r *Reader) gatherFound(in *openExchange, piece capture.ResponseBody) bool {
	b := &in.response
	coded := len(in.found.Fields.Codings()) > 0 && !piece.Decoded
	if piece.Dropped > 0 || len(b.Data)+len(piece.Data) > cardfetch.MaxBody ||
		len(b.Data) == 0 && !coded && !a2a.MayBeginCard(piece.Data) || !r.hold(in, len(piece.Data)) {
		return false
	}
	if b.Data == nil && piece.Data != nil {
		b.Data = piece.Data[:len(piece.Data):len(piece.Data)]
	} else {
		b.Data = append(b.Data, piece.Data...)
	}
	b.Decoded = b.Decoded || piece.Decoded
	return true
}

// forgetFound drops the body that may have been a card.
func (r *Reader) forgetFound(in *openExchange) {
	r.held -= len(in.response.Data)
	in.size -= len(in.response.Data)
	in.found, in.seeking, in.response = nil, false, capture.Body{}
}

// hasCard reports whether a card was fetched from the exchange's URL.
func (s *endpoints) hasCard(x *analysis.Exchange) bool {
	_, ok := s.cards.Get(directory.Key{URL: x.URL(), Version: strings.TrimSpace(x.Request.Fields.Get("A2A-Version"))})
	return ok
}

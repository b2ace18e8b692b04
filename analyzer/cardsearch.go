package analyzer

import (
	"net/http"
	"strings"

	"a2atap/analyzer/cardfetch"
	"a2atap/analyzer/directory"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// search looks for a card in what answers a request that is no call. It returns true if the step is to be taken as one
// of the fetch of a card from now on.
func (e *Engine) search(in *intake, s capture.Step) bool {
	x := in.x
	switch what := s.What.(type) {
	case capture.ResponseHead:
		h := headOf(s, what.Head, capture.ParseResponseHead)
		switch {
		case what.Stream:
		case cardfetch.MayAnswer(&h):
			in.found = &h
		case h.Status == http.StatusNotModified && e.endpoints.hasCard(x):
			e.fetches(in, a2a.Call{Operation: a2a.GetCard})
			return true
		}
	case capture.ResponseBody:
		if in.found != nil && !e.gatherFound(in, what) {
			e.forgetFound(in)
		}
	case capture.ResponseEnd:
		if in.found == nil {
			return false
		}
		h, b := *in.found, &in.response
		b.Size, b.Complete = what.Size, true
		text, doc, whole := content(b, &h, s.Parsed)
		if !whole || !a2a.MayHoldCard(text) {
			e.forgetFound(in)
			return false
		}
		if doc == nil {
			doc = parsed(text)
		}
		call, found := cardfetch.Find(x.Origin, x.Path, doc.Root)
		if doc.Err != nil || !found {
			e.forgetFound(in)
			return false
		}
		x.Response, x.Answered = h, true
		if x.evidence != nil {
			e.evidence |= shownByAnswer(&x.Response)
		}
		e.fetches(in, call)
		return true
	}
	return false
}

// fetches takes a request for the fetch of a card.
func (e *Engine) fetches(in *intake, call a2a.Call) {
	x := in.x
	call.Query, call.Version = x.Call.Query, strings.TrimSpace(x.Request.Fields.Get("A2A-Version"))
	x.Call, in.seeking, in.found = call, false, nil
	in.gathered.called(&x.Call)
	e.endpoints.place(x)
}

// gatherFound adds a piece of a body, and reports whether it may still be that of a card.
func (e *Engine) gatherFound(in *intake, piece capture.ResponseBody) bool {
	b := &in.response
	coded := len(in.found.Fields.Codings()) > 0 && !piece.Decoded
	if piece.Dropped > 0 || len(b.Data)+len(piece.Data) > cardfetch.MaxBody ||
		len(b.Data) == 0 && !coded && !a2a.MayBeginCard(piece.Data) || !e.hold(in, len(piece.Data)) {
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

// forgetFound gives up what may have been a card.
func (e *Engine) forgetFound(in *intake) {
	e.held -= len(in.response.Data)
	in.size -= len(in.response.Data)
	in.found, in.seeking, in.response = nil, false, capture.Body{}
}

// hasCard reports whether a card was fetched where the exchange asks.
func (s *endpoints) hasCard(x *Exchange) bool {
	_, ok := s.cards.Get(directory.Key{URL: x.URL(), Version: strings.TrimSpace(x.Request.Fields.Get("A2A-Version"))})
	return ok
}

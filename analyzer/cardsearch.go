package analyzer

import (
	"net/http"
	"strings"

	"a2atap/analyzer/address"
	"a2atap/analyzer/directory"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxFoundCard bounds the body of an answer, in bytes, that is looked at for a card where no path says that it is one.
const maxFoundCard = 1 << 20

// mayFetchCard reports whether a request that is no call may have fetched a card all the same.
func mayFetchCard(r *capture.Head, body []byte) bool {
	return r.Method == http.MethodGet && len(body) == 0
}

// mayBeCard reports whether an answer to one may be it.
func mayBeCard(h *capture.Head) bool {
	media := h.Fields.MediaType()
	return h.Status == http.StatusOK && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// foundCard returns what the fetch of a card asks that its answer alone shows to be one, and whether it does. It has to
// be the card of the agent that answers: a directory serves those of others, and what holds for an agent's own card does
// not hold for them. So an address in it has to be at the origin that was asked, or of the path that was asked, as an
// agent has it that does not know its public name; at the root of a host, any.
func foundCard(origin, path string, root a2a.Value) (a2a.Call, bool) {
	if !a2a.IsCard(root) {
		return a2a.Call{}, false
	}
	card := a2a.DecodeCard(root)
	at := address.Of(origin + path)
	own := strings.Trim(path, "/") == ""
	for _, i := range card.Interfaces {
		to := address.Of(i.URL)
		own = own || address.Origin(to) == address.Origin(at) ||
			strings.TrimPrefix(to, address.Origin(to)) == strings.TrimPrefix(at, address.Origin(at))
	}
	return a2a.Call{Operation: a2a.GetCard, Dialects: card.Shapes, Evidence: a2a.Hint}, own
}

// search looks for a card in what answers a request that is no call. It returns true if the step is to be taken as one
// of the fetch of a card from now on.
func (e *Engine) search(in *intake, s capture.Step) bool {
	x := in.x
	switch what := s.What.(type) {
	case capture.ResponseHead:
		h := headOf(s, what.Head, capture.ParseResponseHead)
		switch {
		case what.Stream:
		case mayBeCard(&h):
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
		call, found := foundCard(x.Origin, x.Path, doc.Root)
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
	e.endpoints.place(x)
}

// gatherFound adds a piece of a body, and reports whether it may still be that of a card.
func (e *Engine) gatherFound(in *intake, piece capture.ResponseBody) bool {
	b := &in.response
	coded := len(in.found.Fields.Codings()) > 0 && !piece.Decoded
	if piece.Dropped > 0 || len(b.Data)+len(piece.Data) > maxFoundCard ||
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

// search takes an answer that shows itself to be a card, of a request that does not ask for one by its path.
func (r *Reading) search(x *capture.Exchange, asked *capture.Head, p *capture.Parsed) {
	answer := partsOf(p)
	if answer.Head == nil {
		head := capture.ParseResponseHead(x.Response.Head)
		answer.Head = &head
	}
	if x.Response.Stream || !mayBeCard(answer.Head) || len(x.Response.Body.Data) > maxFoundCard {
		return
	}
	if answer.Text == nil {
		answer.Text, _ = x.Response.Body.Decode(answer.Head)
	}
	if !a2a.MayHoldCard(answer.Text) {
		return
	}
	if answer.Doc == nil {
		answer.Doc = parsed(answer.Text)
	}
	origin, path := address.Target(x.Agent.URL, asked.Target)
	call, found := foundCard(origin, path, answer.Doc.Root)
	if answer.Doc.Err != nil || !found {
		return
	}
	r.Call, r.Dialects = call, call.Dialects
	r.body(&answer)
}

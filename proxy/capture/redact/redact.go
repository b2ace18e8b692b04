// Package redact hides the secrets of what is recorded: New returns a Sink that puts placeholders in their place before
// it hands steps on, and tells the next Sink by which keys an exchange can be found.
//
// It knows HTTP, URLs, forms and JSON. Where the protocol has its secrets, a capture.Describer says.
package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// Options say what New hides, and for whom.
type Options struct {
	Key       []byte            // of the placeholders; random, and kept with the capture: equal secrets stay equal
	Describer capture.Describer // names the keys of exchanges and the places of their secrets; nil knows none
	Keep      bool              // keep secrets: describe only
	Extra     []Place           // what the user wants hidden besides
	MaxHeld   int64             // bytes of bodies that may wait for their end, of all exchanges; 0 stands for 256 MiB
}

const (
	defaultMaxHeld = 256 << 20
	// maxRemembered is the longest request body that a Describer still sees when it is asked about events and the
	// answer.
	maxRemembered = 1 << 20
)

// A Place is where the user wants something hidden: a header, or values in JSON.
type Place struct {
	header  string // in lower case; or
	pointer capture.Pointer
}

// ParsePlace reads a place to redact: "header:NAME", a header of requests and answers, or a JSON Pointer into their
// bodies and the data of events, in which "*" stands for any one name or index. A number at such a place becomes 0; of
// an object or a list all strings and numbers are hidden.
func ParsePlace(s string) (Place, error) {
	if name, ok := strings.CutPrefix(s, "header:"); ok {
		if !capture.IsToken(name) {
			return Place{}, fmt.Errorf("read redaction %q: %q is no name of a header", s, name)
		}
		return Place{header: strings.ToLower(name)}, nil
	}
	p, err := capture.ParsePointer(s)
	if err == nil && s == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return Place{}, fmt.Errorf("read redaction %q: %w; write header:NAME or a JSON Pointer such as /params/pin", s,
			err)
	}
	return Place{pointer: p}, nil
}

// String returns the redaction as ParsePlace reads it.
func (p Place) String() string {
	if p.header != "" {
		return "header:" + p.header
	}
	return p.pointer.String()
}

// New returns a Sink that hides secrets before it hands steps on to next, and asks the Describer for their keys.
//
// Hidden are credentials in headers, in queries and in the user information of URLs, cookies, tokens in the answers and
// forms of OAuth, what the Describer points at, and what the user names. A header carries credentials if key, token,
// secret, auth, cookie, password, credential or jwt is in its name, if it is DPoP, or if a card or the user says so;
// not Access-Control-*, Idempotency-Key, Sec-WebSocket-Key and quotas (RateLimit), and of a challenge
// (WWW-Authenticate) only what stands for its parameters. Page tokens are never hidden. In place of a secret stands
// "redacted." and 16 hexadecimal digits, the same wherever the same secret stood; the scheme of credentials, the names
// of cookies and parameters, and every other byte stay as they were. Empty values stay empty. Only JSON, forms and
// events are looked into; other bodies pass as they are.
//
// Bodies that may hold secrets (JSON, forms, and what looks like it) wait for their end and then come as one piece,
// with the offset of the last; so does an answer's end wait for the end of its request, since the request says what to
// look for. Events and other bodies pass at once. A compressed body in which something had to be hidden is handed on
// decoded. JSON that is broken is searched for the names of secrets without regard to its structure, and hides rather
// too much.
//
// Secrets come first: a body that cannot be searched, since the Describer panics, since it is enormous when decoded, or
// since too much is waiting already, is withheld: counted as dropped, with a note.
//
// While an exchange is open, the Describer sees its request as the client sent it, bodies decoded; of request bodies
// over 1 MiB only when the request itself is described. It sees no events but the one it is asked about, and of bodies
// that pass at once only how long they were.
func New(next capture.Sink, opts Options) capture.Sink {
	r := &redactor{
		next: next, opts: opts, maxHeld: opts.MaxHeld,
		open: make(map[uint64]*openExchange), agents: make(map[string]*learned), decodeLimit: capture.DefaultDecodeLimit,
		places: make(map[*string]*placeSet),
	}
	if r.maxHeld == 0 {
		r.maxHeld = defaultMaxHeld
	}
	r.mask = mask{
		key: slices.Clone(opts.Key), mac: hmac.New(sha256.New, opts.Key),
		headers: make(map[string]bool), lowered: make(map[string]string),
	}
	for _, extra := range opts.Extra {
		if extra.header != "" {
			r.mask.headers[extra.header] = true
		} else {
			r.mask.places = append(r.mask.places, secretPlace{extra.pointer, true})
		}
	}
	r.userPlaces = r.mask.placed(nil)
	return r
}

// redactor is the Sink that New returns.
type redactor struct {
	next    capture.Sink
	opts    Options
	mask    mask
	scoped  mask // with what is known of the agent at hand; see maskFor
	open    map[uint64]*openExchange
	agents  map[string]*learned // what cards said, by agent
	held    int64               // bytes of bodies in memory
	maxHeld int64
	places  map[*string]*placeSet // by the first of the pointers that the Describer named

	userPlaces *placeSet // that of the user alone

	decodeLimit int64 // of one body
}

// learned is what a Describer said about the credentials of an agent.
type learned struct {
	headers map[string]bool // in lower case
	query   map[string]bool // normalised
}

// Bounds of what is learned, for agents that name a new header in each card.
const (
	maxLearnedAgents = 1000
	maxLearnedNames  = 100
)

func (r *redactor) Append(steps ...capture.Step) error {
	out := make([]capture.Step, 0, len(steps)) // not reused: next takes it over
	for _, s := range steps {
		out = r.step(out, s)
	}
	if len(out) == 0 {
		return nil
	}
	return r.next.Append(out...)
}

// Close hands on what still waits for its end, and closes the next Sink.
func (r *redactor) Close() error {
	var out []capture.Step
	for _, seq := range slices.Sorted(maps.Keys(r.open)) {
		var keys []capture.Key
		if out, keys = r.finish(out, r.open[seq]); len(keys) > 0 {
			out = append(out, capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Fact{}, Keys: keys})
		}
	}
	var err error
	if len(out) > 0 {
		err = r.next.Append(out...)
	}
	return errors.Join(err, r.next.Close())
}

// step adds to out what becomes of a step: nothing as long as it waits.
func (r *redactor) step(out []capture.Step, s capture.Step) []capture.Step {
	switch what := s.What.(type) {
	case capture.Opened:
		return r.opened(out, s, what)
	case capture.RequestBody:
		return r.requestBody(out, s, what)
	case capture.RequestEnd:
		return r.requestEnd(out, s, what)
	case capture.Informational:
		what.Head = r.head(r.exchange(s), what.Head, answerHead)
		s.What = what
	case capture.ResponseHead:
		o := r.exchange(s)
		capture.Assemble(o.x, s)
		head := capture.ParseResponseHead(what.Head)
		o.response.head = &head
		what.Head, s.Parsed = r.parsedHead(o, what.Head, &head, answerHead)
		s.What = what
	case capture.ResponseBody:
		return r.responseBody(out, s, what)
	case capture.ResponseEvent:
		return r.event(out, s, what)
	case capture.ResponseEnd:
		return r.responseEnd(out, s, what)
	case capture.Fact:
		if o := r.open[s.Seq]; o != nil {
			capture.Assemble(o.x, s)
		}
		s.What = r.fact(what)
	case capture.Closed:
		return r.closed(out, s, what)
	}
	return append(out, s)
}

// exchange returns the state of the step's exchange, a new one where the record has a gap.
func (r *redactor) exchange(s capture.Step) *openExchange {
	o := r.open[s.Seq]
	if o == nil {
		o = &openExchange{r: r, x: capture.Assemble(nil, capture.Step{Seq: s.Seq})}
		r.open[s.Seq] = o
	}
	return o
}

func (r *redactor) opened(out []capture.Step, s capture.Step, what capture.Opened) []capture.Step {
	o := &openExchange{r: r, x: capture.Assemble(nil, s)}
	r.open[s.Seq] = o
	head := capture.ParseRequestHead(what.Head)
	o.request.head = &head
	what.Head, s.Parsed = r.parsedHead(o, what.Head, &head, requestHead)
	if !r.opts.Keep {
		what.Agent.URL = r.mask.url(what.Agent.URL)
	}
	s.What = what
	return append(out, s)
}

// head returns a head or trailer without its secrets.
func (r *redactor) head(o *openExchange, head []byte, kind headKind) []byte {
	if r.opts.Keep || head == nil {
		return head
	}
	return r.maskFor(o).head(head, kind)
}

// parsedHead returns a head without its secrets, and what it was parsed to if it has none.
func (r *redactor) parsedHead(o *openExchange, raw []byte, h *capture.Head, kind headKind) ([]byte, *capture.Parsed) {
	if !r.opts.Keep && !r.maskFor(o).harmlessHead(raw, h) {
		masked := r.scoped.head(raw, kind)
		if !bytes.Equal(masked, raw) {
			return masked, nil
		}
	}
	return raw, &capture.Parsed{Head: h}
}

// maskFor returns the mask for an exchange: what is hidden everywhere, and what its agent's card named. It is valid
// until the next call.
func (r *redactor) maskFor(o *openExchange) *mask {
	r.scoped = r.mask
	r.scoped.agent = r.agents[agentKey(o.x)]
	return &r.scoped
}

func agentKey(x *capture.Exchange) string {
	if x.Agent.Name != "" {
		return x.Agent.Name
	}
	return x.Agent.URL
}

// learn keeps the names of credentials for later exchanges with the same agent.
func (r *redactor) learn(x *capture.Exchange, d capture.Description) {
	if len(d.Headers) == 0 && len(d.Query) == 0 {
		return
	}
	key := agentKey(x)
	l := r.agents[key]
	if l == nil {
		if len(r.agents) >= maxLearnedAgents {
			return
		}
		l = &learned{headers: make(map[string]bool), query: make(map[string]bool)}
		r.agents[key] = l
	}
	for _, name := range d.Headers {
		if len(l.headers) < maxLearnedNames {
			l.headers[strings.ToLower(name)] = true
		}
	}
	for _, name := range d.Query {
		if len(l.query) < maxLearnedNames {
			l.query[credential.Normal(name)] = true
		}
	}
}

// fact hides what URLs in a fact hold.
func (r *redactor) fact(f capture.Fact) capture.Fact {
	if r.opts.Keep {
		return f
	}
	f.Note = r.mask.urls(f.Note)
	f.Client.URL = r.mask.url(f.Client.URL)
	f.Rewrites = slices.Clone(f.Rewrites)
	for i := range f.Rewrites {
		f.Rewrites[i].Was = r.mask.urls(f.Rewrites[i].Was)
		f.Rewrites[i].Now = r.mask.urls(f.Rewrites[i].Now)
	}
	return f
}

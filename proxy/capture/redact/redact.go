// Package redact hides the secrets in a recording: New returns a Sink that replaces secrets with placeholders before it
// hands steps on, and gives the next Sink the keys by which an exchange can be found.
//
// The package knows HTTP, URLs, forms, JSON and text. A capture.Describer names the places of the protocol's secrets.
// Package credential has the names that mark a secret, and docs/security.md describes what is hidden and what stays
// visible.
//
// What it promises:
//
//   - No step is handed on before it was searched, unless Options.Keep turns redaction off. What cannot be searched is
//     withheld, and the exchange has a note about that.
//   - Equal secrets have equal placeholders while the key is the same. The key is the user's and is never in the
//     capture.
//   - JSON stays valid JSON, and every byte that is not part of a secret stays unmodified.
//   - Memory is bounded (Options.MaxHeld): bodies that exceed it are withheld, and counted.
package redact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
)

// Options say what New hides, and for whom.
type Options struct {
	Key       []byte              // of the placeholders, see UserKey and ReadKey; nil is one that New makes and forgets
	Describer capture.Describer   // names the keys of exchanges and the places of their secrets; nil knows none
	Keep      bool                // keep secrets: describe only
	Extra     []Place             // what the user wants hidden besides
	Names     *Names              // what cards have named before, and where more is learned; nil knows none
	Urgency   *background.Urgency // of the work; may be nil
	MaxHeld   int64               // bytes of bodies that may wait for their end, of all exchanges; 0 means 24 MiB

	// OutOfTime reports whether there is no time left for long bodies: the recording ends. Bodies over 64 KiB are then
	// withheld rather than searched. It may be nil.
	OutOfTime func() bool
}

const (
	defaultMaxHeld = 24 << 20
	// maxRemembered is the longest request body that a Describer still sees when it is asked about events and the
	// answer.
	maxRemembered = 1 << 20
	// longBody is how long a body is that takes a while to search, so that there may be no time for it at the end.
	longBody = 64 << 10
)

// A Place is where the user wants something hidden: a header, or values in JSON.
type Place struct {
	header  string // in lower case; or
	pointer capture.Pointer
}

// ParsePlace reads a place to redact: "header:NAME", a header of requests and answers, or a JSON Pointer into their
// bodies and the data of events, in which "*" matches any one name or index. A number at such a place becomes 0. In an
// object or a list, all strings and numbers are hidden.
func ParsePlace(s string) (Place, error) {
	if name, ok := strings.CutPrefix(s, "header:"); ok {
		if !capture.IsToken(name) {
			return Place{}, fmt.Errorf("read redaction %q: %q is not the name of a header", s, name)
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
// New hides credentials in headers, in queries and in the user information of URLs; cookies; the places that the
// Describer or the user names; and the members of JSON and the fields of forms that have the name of a secret (see
// package credential). In any text, it hides what is recognizable by its form: bearer tokens, JSON Web Tokens, URLs,
// private keys. A placeholder (see package credential) replaces each secret; it is the same wherever the same secret
// was and the same key was used. The scheme of credentials, the names of cookies and parameters, and every other byte
// stay unmodified.
//
// Empty values stay empty, and page tokens stay unmodified. In a list or an object with the name of a secret, all
// strings are hidden, unless it is a security scheme of a card or a JSON Schema. A password that is a number becomes 0.
// Pictures, sound and other bodies that are not text pass unmodified. docs/security.md describes what stays visible.
//
// Bytes that are not HTTP/1 are neither searched nor kept. For HTTP/2, the record has its preface and the lengths of
// its frames; for other protocols, the number of bytes. The same holds for bytes of an agent that answer no request,
// unless they are whole answers.
//
// All texts may hold secrets. Bodies that may hold secrets wait for their end and are then handed on as one piece, with
// the offset of the last one. An answer's end waits for the end of its request, since the request determines what to
// look for. Events and other bodies pass at once. A compressed body in which something had to be hidden is handed on
// decoded. Broken JSON is searched for the names of secrets without regard to its structure, which may hide too much;
// it stays broken in the same way.
//
// Hiding secrets has priority over a complete record. A body that cannot be searched is withheld: counted as dropped,
// with a note. The reasons are:
//
//   - the Describer panics;
//   - the body is enormous when decoded;
//   - too much is waiting already;
//   - the body is long and the recording ends;
//   - it is multipart, or XML or HTML with the name of a secret in a tag;
//   - it would be another document without its secrets.
//
// While an exchange is open, the Describer sees its request as the client sent it, with bodies decoded. It sees request
// bodies over 1 MiB only when the request itself is described. It sees no events except the one to describe, and of
// bodies that pass at once only the length.
func New(next capture.Sink, opts Options) capture.Sink {
	r := &redactor{
		next: next, opts: opts, maxHeld: opts.MaxHeld,
		open: make(map[uint64]*openExchange), decodeLimit: capture.DefaultDecodeLimit,
		places: make(map[*string]*placeSet), work: background.Work{Urgency: opts.Urgency},
	}
	if r.names = opts.Names; r.names == nil {
		r.names = &Names{}
	}
	if r.maxHeld == 0 {
		r.maxHeld = defaultMaxHeld
	}
	if r.opts.Key == nil {
		r.opts.Key = NewKey()
	}
	r.mask = mask{key: slices.Clone(r.opts.Key), headers: make(map[string]bool), lowered: make(map[string]string)}
	r.mask.placeholder("") // makes what all copies of the mask share
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
	scoped  mask // with the known names of the current agent; see maskFor
	open    map[uint64]*openExchange
	spare   []*openExchange // empty ones
	heads   [2]lastHeads    // by kind
	names   *Names          // what cards said
	held    int64           // bytes of bodies in memory
	maxHeld int64
	places  map[*string]*placeSet // by the first of the pointers that the Describer named

	userPlaces *placeSet // that of the user alone

	decodeLimit int64 // of one body
	work        background.Work
}

func (r *redactor) Append(steps ...capture.Step) error {
	out := make([]capture.Step, 0, len(steps)) // not reused: next takes it over
	for _, s := range steps {
		out = r.step(out, s)
		switch s.What.(type) {
		case capture.RequestEnd, capture.ResponseEnd, capture.ResponseEvent: // which are much more work than all else
			r.work.GiveWay()
		}
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
		o := r.open[seq]
		if out, keys = r.finish(out, o); len(keys) > 0 {
			out = append(out, capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Fact{}, Keys: keys})
		}
		r.forget(o)
	}
	var err error
	if len(out) > 0 {
		err = r.next.Append(out...)
	}
	return errors.Join(err, r.next.Close())
}

// exchange returns the state of the step's exchange, a new one where the record has a gap.
func (r *redactor) exchange(s capture.Step) *openExchange {
	o := r.open[s.Seq]
	if o == nil {
		o = r.begin(s.Seq, capture.Opened{})
	}
	return o
}

// begin returns the state of an exchange of which nothing has come yet.
func (r *redactor) begin(seq uint64, what capture.Opened) *openExchange {
	var o *openExchange
	if n := len(r.spare); n > 0 {
		o, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		o = &openExchange{}
	}
	o.r, o.x = r, what.Exchange(seq)
	r.open[seq] = o
	return o
}

// maxSpare bounds the states that are kept for exchanges to come.
const maxSpare = 64

// forget gives up the state of an exchange.
func (r *redactor) forget(o *openExchange) {
	r.held -= o.remembered
	delete(r.open, o.x.Seq)
	if *o = (openExchange{}); len(r.spare) < maxSpare {
		r.spare = append(r.spare, o)
	}
}

func (r *redactor) opened(out []capture.Step, s capture.Step, what capture.Opened) []capture.Step {
	o := r.begin(s.Seq, what)
	head, now, note, parsed := r.readHead(o, what.Head, requestHead)
	o.request.head = head
	url := what.Agent.URL
	if !r.opts.Keep {
		url = r.mask.url(url)
	}
	if s.Parsed = parsed; !same(now, what.Head) || url != what.Agent.URL {
		what.Head, what.Agent.URL = now, url
		s.What = what
	}
	return withNote(append(out, s), note)
}

func (r *redactor) answered(out []capture.Step, s capture.Step, what capture.ResponseHead) []capture.Step {
	o := r.exchange(s)
	o.answer()
	capture.Assemble(&o.x, s)
	head, now, note, parsed := r.readHead(o, what.Head, answerHead)
	o.response.head = head
	if s.Parsed = parsed; !same(now, what.Head) {
		what.Head = now
		s.What = what
	}
	return withNote(append(out, s), note)
}

// withNote adds a note to the exchange of the last step, if there is something to say.
func withNote(out []capture.Step, note string) []capture.Step {
	if note == "" {
		return out
	}
	last := &out[len(out)-1]
	return append(out, capture.Step{Seq: last.Seq, Offset: last.Offset, What: capture.Fact{Note: note}})
}

// head returns a head or trailer without its secrets.
func (r *redactor) head(o *openExchange, head []byte, kind headKind) []byte {
	if r.opts.Keep || head == nil {
		return head
	}
	return r.maskFor(o).head(head, kind)
}

// maskFor returns the mask for an exchange: what is hidden everywhere, and what its agent's card named. It is valid
// until the next call.
func (r *redactor) maskFor(o *openExchange) *mask {
	r.scoped = r.mask
	r.scoped.agent = r.names.of(o.x.Agent)
	return &r.scoped
}

// search returns the search through a body of an exchange, or an event, with this description. It is valid for the same
// time as the result of maskFor.
func (r *redactor) search(o *openExchange, d capture.Description) search {
	return search{r.maskFor(o), r.described(d)}
}

// fact hides what URLs in a fact hold.
func (r *redactor) fact(f capture.Fact) capture.Fact {
	if r.opts.Keep {
		return f
	}
	f.Note = r.mask.text(f.Note)
	f.Client.URL = r.mask.url(f.Client.URL)
	f.Rewrites = slices.Clone(f.Rewrites)
	for i := range f.Rewrites {
		f.Rewrites[i].Was = r.mask.urls(f.Rewrites[i].Was)
		f.Rewrites[i].Now = r.mask.urls(f.Rewrites[i].Now)
	}
	return f
}

// openExchange is what the redactor knows of an exchange that is not over.
type openExchange struct {
	r *redactor
	x capture.Exchange // as the Describer sees it

	room              capture.Response // for that of x
	request, response held
	requestDone       bool         // the Describer was asked
	responseDone      bool         // the same
	answered          capture.Step // a ResponseEnd that waits for the request's end; without What if none does
	remembered        int64        // bytes of the request's body that count as held
	withheld          int64        // bytes of bodies that could not be searched
	pieced            pieced       // JSON texts that come in pieces
	noted             bool         // the exchange has its note about what was withheld
	unread            bool         // a message of the answer cannot be read, and the first one has its note
}

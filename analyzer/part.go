package analyzer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"strconv"
	"strings"

	"a2atap/analyzer/recent"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Part is one of the parts in which a capture is judged by engines that know nothing of each other. Join puts their
// results together. The zero Part is the whole.
type Part struct {
	Number int // from 1
	Of     int // how many there are; 0 for the whole
}

// MaxParts bounds how many parts a capture may have.
const MaxParts = 1000

// ParsePart reads the text form of a part, such as "2/4".
func ParsePart(text string) (Part, error) {
	number, of, _ := strings.Cut(text, "/")
	k, errK := strconv.Atoi(number)
	n, errN := strconv.Atoi(of)
	p := Part{k, n}
	if errK != nil || errN != nil || p.String() != text || k < 1 || k > n || n > MaxParts {
		return Part{}, fmt.Errorf("%s is no part; write K/N, as in 2/4: K from 1 to N, N at most %d",
			QuoteText(text), MaxParts)
	}
	return p, nil
}

// String returns the text form of a part, such as "2/4"; empty for the whole.
func (p Part) String() string {
	if p.IsWhole() {
		return ""
	}
	return strconv.Itoa(p.Number) + "/" + strconv.Itoa(p.Of)
}

// IsWhole reports whether the part is all there is.
func (p Part) IsWhole() bool { return p.Of == 0 }

// An Order says when a finding was made, compared with all others of a capture: those of parts have one.
type Order struct {
	Step  uint64 // that brought it, counted from 1; one above the last for those of the end
	Index int    // among all findings of the step
}

// InPart returns an option that lets the engine judge one part of the capture. Exchanges of one context belong to one
// part. The engine takes every step, and its trackers remember all of them: what a rule asks about earlier traffic does
// not end where the part does. Its counts are those of the whole but for Judged, and its findings carry their Order.
func InPart(p Part) EngineOption {
	return func(e *Engine) {
		if !p.IsWhole() {
			e.parts = &partition{Part: p, homes: recent.New[string, int](maxHomes), sum: sha256.New()}
		}
	}
}

// maxHomes bounds the contexts and tasks whose part is remembered. What is forgotten belongs to the part of its name.
const maxHomes = 50_000

// A partition is what an engine that judges a part knows of the division. All of it but Number is the same in every
// part, since it is made of what every part observes.
type partition struct {
	Part
	shared []bool                   // by number of the rule: it runs for all exchanges
	homes  *recent.Map[string, int] // of contexts and tasks that belong elsewhere than their name says
	own    []bool                   // of the findings of the step at hand: they are of this part
	cards  int                      // open exchanges that were answered with a card
	ending bool                     // the capture is over
	steps  uint64                   // that were taken
	sum    hash.Hash                // of all of them
	buffer []byte                   // for one of them
}

// share works out which rules run for the exchanges of all parts: those whose report depends on what was reported in
// other exchanges. That are the rules that report once at an endpoint or an origin; those that report once in an
// exchange and ask trackers, whose findings may stand in another exchange than the one at hand; and whatever covers
// them or is covered by them. All parts then agree on who is the first.
func (p *partition) share(e *Engine) {
	e.covers = closure(e.rules)
	number := make(map[string]int, len(e.rules))
	for i, r := range e.rules {
		number[r.ID] = i
	}
	scoped := make([]bool, len(e.rules))
	for i, r := range e.rules {
		scoped[i] = r.Once == PerEndpoint || r.Once == PerOrigin || r.Once == PerExchange && len(r.Needs) > 0
	}
	p.shared = make([]bool, len(e.rules))
	for i, r := range e.rules {
		p.shared[i] = p.shared[i] || scoped[i]
		for _, id := range e.covers[r.ID] {
			if j, known := number[id]; known {
				p.shared[i] = p.shared[i] || scoped[j]
				p.shared[j] = p.shared[j] || scoped[i]
			}
		}
	}
}

// judges reports whether an exchange is of this part, and whether all rules run for it all the same: what was said of a
// card is not said again, so all that is found while one is open has to be known, and at the end of a capture findings
// of all exchanges come at once.
func (e *Engine) judges(in *intake) (own, all bool) {
	p := e.parts
	if p == nil {
		return true, true
	}
	own = e.home(in) == p.Number
	return own, own || p.cards > 0 || p.ending
}

// home returns the part of an exchange, which is decided when it is asked for first: that of its context, else of its
// task, else by itself.
func (e *Engine) home(in *intake) int {
	if in.home != 0 {
		return in.home
	}
	x, p := in.x, e.parts
	switch {
	case x.Call.ContextID != "":
		in.home = p.homeOf(x.Call.ContextID)
	case x.Call.TaskID != "":
		in.home = p.homeOf(x.Call.TaskID)
	default:
		in.home = p.number(x.Link.String() + " " + strconv.FormatUint(x.Seq, 10))
	}
	return in.home
}

// place decides to which part a notification belongs, by what it says.
func (e *Engine) place(in *intake, p *a2a.Payload) {
	if e.parts == nil || in.home != 0 {
		return
	}
	ids := ofPayload(p)
	if id := cmp.Or(ids.context, ids.task); id != "" {
		in.home = e.parts.homeOf(id)
	}
}

// A conversation is what a message, or an update, says that it belongs to.
type conversation struct{ task, context string }

// ofPayload returns to what one object of the protocol belongs.
func ofPayload(p *a2a.Payload) conversation {
	switch p.Kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: p.Value}
		return conversation{t.ID(), t.ContextID()}
	case a2a.MessagePayload:
		m := a2a.Message{Value: p.Value}
		return conversation{m.TaskID(), m.ContextID()}
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: p.Value}
		return conversation{u.TaskID(), u.ContextID()}
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: p.Value}
		return conversation{u.TaskID(), u.ContextID()}
	}
	return conversation{}
}

// homeOf returns the part of a context or a task.
func (p *partition) homeOf(id string) int {
	if home, known := p.homes.Get(id); known {
		return home
	}
	return p.number(id)
}

// number returns the part of a name, from 1.
func (p *partition) number(name string) int {
	sum := sha256.Sum256([]byte(name))
	return int(binary.BigEndian.Uint64(sum[:])%uint64(p.Of)) + 1
}

// settle notes that a task and its context have been seen in an exchange: what comes later of them belongs to its part.
func (e *Engine) settle(in *intake, of conversation) {
	if e.parts == nil {
		return
	}
	home := e.home(in)
	for _, id := range [...]string{of.task, of.context} {
		if id == "" {
			continue
		}
		if _, known := e.parts.homes.Get(id); !known && e.parts.number(id) != home {
			e.parts.homes.Put(strings.Clone(id), home)
		}
	}
}

// cardIs notes what stands for the card that an exchange was answered with.
func (e *Engine) cardIs(x *Exchange, body []byte) {
	was := x.card
	x.card = cardOf(x, body)
	if e.parts != nil && was == 0 && x.card != 0 {
		e.parts.cards++
	}
}

// begin begins a step.
func (p *partition) begin(s *capture.Step) {
	if p == nil {
		return
	}
	p.own = p.own[:0]
	p.steps++
	p.add(s)
}

// end begins the end of the capture.
func (p *partition) end() {
	if p != nil {
		p.own, p.ending = p.own[:0], true
	}
}

// forget notes that an exchange is over.
func (p *partition) forget(in *intake) {
	if p != nil && in.x.card != 0 {
		p.cards--
	}
}

// add adds a step to the sum that tells captures apart.
func (p *partition) add(s *capture.Step) {
	b := append(p.buffer[:0], 0)
	b = binary.BigEndian.AppendUint64(b, s.Arrival)
	b = binary.BigEndian.AppendUint64(b, s.Seq)
	switch what := s.What.(type) {
	case capture.Opened:
		b[0] = 1
		b = append(checksum(b, what.Head), what.ID[:]...)
		b = appendPeer(appendPeer(b, &what.Client), &what.Agent)
	case capture.RequestBody:
		b[0] = 2
		b = appendNumber(checksum(b, what.Data), what.Dropped)
	case capture.ResponseHead:
		b[0] = 3
		b = checksum(b, what.Head)
	case capture.ResponseBody:
		b[0] = 4
		b = appendNumber(checksum(b, what.Data), what.Dropped)
	case capture.ResponseEvent:
		b[0] = 5
		b = appendNumber(checksum(b, what.Event.Raw), what.Event.Dropped)
	case capture.RequestEnd:
		b[0] = 6
		b = checksum(appendNumber(b, what.Size), what.Trailer)
	case capture.ResponseEnd:
		b[0] = 7
		b = checksum(appendNumber(b, what.Size), what.Trailer)
	case capture.Informational:
		b[0] = 8
		b = checksum(b, what.Head)
	case capture.Fact:
		b[0] = 9
		b = appendText(appendPeer(appendFlag(b, what.Replayed), &what.Client), what.Note)
		for i := range what.Rewrites {
			w := &what.Rewrites[i]
			b = appendText(appendText(appendText(b, w.Place), w.Was), w.Now)
		}
	case capture.Closed:
		b[0] = 10
		b = appendNumber(appendFlag(appendFlag(b, what.Interrupted), what.Fault != nil), what.Dropped)
		if f := what.Fault; f != nil {
			b = appendText(appendText(appendText(b, f.Kind), f.Side), f.Detail)
		}
	case capture.Lost:
		b[0] = 11
		b = appendText(appendNumber(appendNumber(b, what.Exchanges), what.Bytes), what.Reason)
	}
	p.buffer = b
	p.sum.Write(b) //nolint:errcheck // a hash takes everything
}

// Sum returns the checksum of a capture by which the results of its parts know each other: see Portion.
func Sum(ctx context.Context, src capture.Source) (string, error) {
	p := &partition{sum: sha256.New()}
	for s, err := range src.Steps(ctx, 1) {
		if err != nil {
			return "", err
		}
		p.begin(&s)
	}
	return p.portion().Sum, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b, data []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(data, castagnoli))
}

func appendPeer(b []byte, p *capture.Peer) []byte {
	return appendText(appendText(appendText(appendText(b, p.Name), p.Addr), p.URL), p.How)
}

// appendText adds a text with its length, so that no two lists of texts are added alike.
func appendText(b []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

func appendNumber(b []byte, n int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(n)) }

func appendFlag(b []byte, flag bool) []byte {
	if flag {
		return append(b, 1)
	}
	return append(b, 0)
}

// order returns the order of finding number i of the step at hand.
func (p *partition) order(i int) Order {
	if p.ending {
		return Order{p.steps + 1, i}
	}
	return Order{p.steps, i}
}

// A Portion says what an engine that judges a part has seen, by which the results of parts know each other.
type Portion struct {
	Part
	Steps uint64 // of the whole capture
	Sum   string // of all of them
}

// portion returns what was seen, the zero Portion for the whole.
func (p *partition) portion() Portion {
	if p == nil {
		return Portion{}
	}
	return Portion{Part: p.Part, Steps: p.steps, Sum: hex.EncodeToString(p.sum.Sum(nil)[:16])}
}

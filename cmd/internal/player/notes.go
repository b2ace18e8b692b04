package player

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"a2atap/proxy/capture"
)

// A notes puts what playback did otherwise than it was recorded into the new record, beside the exchange that
// it did it to. Requests are told apart by the connection of a tap that they came on, on which one follows another; over
// HTTP/2, where several are under way at once, those that ask for the same in the order in which they came.
type notes struct {
	mu      sync.Mutex
	clients map[string]string           // the address of a client, by that of the tap's connection for it
	came    map[string][]*playedRequest // by client, those whose exchanges have not ended
	passing map[uint64]passingExchange
}

// A playedRequest is one that playback got, and what it did to it.
type playedRequest struct {
	line   string // method and target
	shared bool   // over HTTP/2
	seq    uint64 // of the exchange that it is in the record; 0 if that is not known yet
	marks  []string
}

// A passingExchange is one that is being recorded.
type passingExchange struct{ client, line string }

func newPlaybackNotes() *notes {
	return &notes{
		clients: map[string]string{}, came: map[string][]*playedRequest{}, passing: map[uint64]passingExchange{},
	}
}

// dialed is proxy.Options.OnDial.
func (n *notes) dialed(client, connection string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clients[connection] = client
}

// request is playback.Options.OnRequest.
func (n *notes) request(r *http.Request) (mark func(string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	client, known := n.clients[r.RemoteAddr]
	if !known {
		return nil
	}
	p := &playedRequest{line: r.Method + " " + r.RequestURI, shared: r.ProtoMajor > 1}
	n.came[client] = append(n.came[client], p)
	return func(text string) {
		n.mu.Lock()
		defer n.mu.Unlock()
		p.marks = append(p.marks, text)
	}
}

// around is recorder.Options.Around.
func (n *notes) around(sink capture.Sink) capture.Sink { return noting{sink, n} }

// noting is a sink that adds notes to exchanges.
type noting struct {
	capture.Sink
	notes *notes
}

// Append implements capture.Sink.
func (s noting) Append(steps ...capture.Step) error {
	var out []capture.Step
	for _, step := range steps {
		for _, text := range s.notes.pass(&step) {
			out = append(out, capture.Step{
				Seq: step.Seq, Offset: step.Offset, What: capture.Fact{Note: text},
			})
		}
		out = append(out, step)
	}
	return s.Sink.Append(out...)
}

// pass follows an exchange, and returns what has been done to it: before what came of that, so that who follows the
// record knows it in time.
func (n *notes) pass(step *capture.Step) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch what := step.What.(type) {
	case capture.Opened:
		line, _, _ := strings.Cut(string(what.Head), "\r\n")
		if i := strings.LastIndexByte(line, ' '); i > 0 {
			n.passing[step.Seq] = passingExchange{what.Client.Addr, line[:i]}
		}
		return nil
	case capture.Closed:
		defer delete(n.passing, step.Seq)
		return n.marksOf(step.Seq, true)
	}
	return n.marksOf(step.Seq, false)
}

// marksOf returns what was done to the request of an exchange since it was asked last.
func (n *notes) marksOf(seq uint64, ended bool) []string {
	x, known := n.passing[seq]
	list := n.came[x.client]
	i := slices.IndexFunc(list, func(p *playedRequest) bool { return p.line == x.line && (p.seq == 0 || p.seq == seq) })
	if !known || i < 0 {
		return nil
	}
	p := list[i]
	marks := p.marks
	p.marks, p.seq = nil, seq
	if !p.shared { // those before it were answered by the tap alone, or not recorded
		list, i = list[i:], 0
	}
	if ended {
		list = slices.Delete(list, i, i+1)
	}
	n.came[x.client] = list
	if len(n.came[x.client]) == 0 {
		delete(n.came, x.client)
	}
	return marks
}

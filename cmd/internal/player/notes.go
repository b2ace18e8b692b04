package player

import (
	"net/http"
	"net/url"
	"slices"
	"sync"

	"a2atap/proxy/capture"
)

// A notes records each deviation of playback from the original, in the new recording, with the exchange that it
// affects. It identifies requests by their connection to a tap, on which they follow one another. Over HTTP/2, with
// several in flight, it matches requests for the same resource in order of arrival.
type notes struct {
	mu      sync.Mutex
	clients map[string]string           // the address of a client, by the address of the tap's connection for it
	came    map[string][]*playedRequest // requests of unfinished exchanges, by client
	passing map[uint64]passingExchange
}

// A playedRequest is a request to playback, and what playback did to it.
type playedRequest struct {
	line   string // method and target
	shared bool   // over HTTP/2
	seq    uint64 // of its exchange in the recording; 0 if unknown
	marks  []string
}

// A passingExchange is an exchange that is being recorded.
type passingExchange struct{ client, line string }

func newPlaybackNotes() *notes {
	return &notes{
		clients: map[string]string{}, came: map[string][]*playedRequest{}, passing: map[uint64]passingExchange{},
	}
}

// dialed implements proxy.Options.OnDial.
func (n *notes) dialed(client, connection string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clients[connection] = client
}

// request implements playback.Options.OnRequest.
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

// around implements recorder.Options.Around.
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

// pass follows an exchange, and returns what playback has done to it. It returns that before the outcome, so that
// followers of the recording know it in time.
func (n *notes) pass(step *capture.Step) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch what := step.What.(type) {
	case capture.Opened:
		head := capture.ParseRequestHead(what.Head)
		if u, err := url.Parse(head.Target); err == nil && u.Host != "" { // to a forward proxy
			head.Target = u.RequestURI()
		}
		n.passing[step.Seq] = passingExchange{what.Client.Addr, head.Method + " " + head.Target}
		return nil
	case capture.Closed:
		defer delete(n.passing, step.Seq)
		return n.marksOf(step.Seq, true)
	}
	return n.marksOf(step.Seq, false)
}

// marksOf returns what was done to the request of an exchange since the last call.
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
	if !p.shared { // the tap answered earlier ones itself, or they were not recorded
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

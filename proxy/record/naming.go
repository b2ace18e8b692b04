package record

import (
	"maps"
	"net/url"
	"strconv"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/neighbor"
	"a2atap/proxy/recording"
)

// Bounds of a naming.
const (
	maxServers = 1000 // that may be MCP servers
	maxEarlier = 256  // exchanges with a server that can be given a name later
	maxGiven   = 1000 // names of others
)

// A naming is a sink that names MCP servers after what they call themselves (serverInfo), unless a user has named them.
//
// A server is a host:port with a path, or a tool on standard input and output. Exchanges that began before the name was
// known get it by a fact (capture.NamedByServer). If more of them have passed than can be named, the server keeps its
// recorded name, so that all its exchanges have one name.
//
// If servers share a name, or have the name of another program, their names are followed by @ and host:port, and by the
// path if that is not enough.
type naming struct {
	next    capture.Sink
	servers map[string]*server   // by address; several addresses may lead to one server
	named   map[string][]*server // by what they call themselves
	given   map[string]bool      // names of other programs
	open    map[uint64]*server   // exchanges that may bring their server's name
}

// A server is what a naming knows about an MCP server.
type server struct {
	url      string   // its address
	recorded string   // its name before it is known what it calls itself
	path     string   // empty for a tool
	label    string   // its name in the record; empty for the recorded one
	earlier  []uint64 // its exchanges, from the first on
	many     bool     // earlier does not have all of them
}

func newNaming(next capture.Sink) *naming {
	return &naming{
		next: next, servers: make(map[string]*server), named: make(map[string][]*server), given: make(map[string]bool),
		open: make(map[uint64]*server),
	}
}

// Close implements capture.Sink.
func (n *naming) Close() error { return n.next.Close() }

// Append implements capture.Sink.
func (n *naming) Append(steps ...capture.Step) error {
	for i := 0; i < len(steps); i++ {
		if facts := n.step(&steps[i]); len(facts) > 0 {
			steps = append(steps[:i+1:i+1], append(facts, steps[i+1:]...)...)
			i += len(facts)
		}
	}
	return n.next.Append(steps...)
}

// step reads a step, and replaces the agent's name in it. It returns facts about other exchanges.
func (n *naming) step(s *capture.Step) (facts []capture.Step) {
	if what, ok := s.What.(capture.Opened); ok {
		if !what.Agent.Unnamed() {
			return n.give(what.Client, what.Agent)
		}
		if to := n.opened(s, &what); to != nil && to.label != "" {
			what.Agent.Name, what.Agent.How = to.label, capture.ByServer
			s.What = what
		}
		return n.give(what.Client)
	}
	if what, ok := s.What.(capture.Fact); ok && what.Client.Name != "" { // a client whose name was found late
		facts = n.give(what.Client)
		return facts
	}
	to := n.open[s.Seq]
	if to == nil {
		return nil
	}
	switch what := s.What.(type) {
	case capture.RequestEnd:
		if doc := parsedDoc(s); what.Size > 0 && s.Parsed != nil && (doc == nil || !doc.Root.Has("jsonrpc")) {
			delete(n.open, s.Seq)
		}
	case capture.ResponseEvent:
		if f := eventFields(s, &what); string(f.Type) == endpointEvent {
			n.join(to, string(f.Data))
		}
		return n.answered(to, s)
	case capture.ResponseEnd:
		return n.answered(to, s)
	case capture.Closed:
		delete(n.open, s.Seq)
	}
	return nil
}

// endpointEvent is the event with which a server of the older HTTP with SSE says where it accepts requests.
const endpointEvent = "endpoint"

func eventFields(s *capture.Step, what *capture.ResponseEvent) capture.EventFields {
	if s.Parsed != nil && s.Parsed.Fields != nil {
		return *s.Parsed.Fields
	}
	return what.Event.Fields()
}

func parsedDoc(s *capture.Step) *jsondoc.Doc {
	if s.Parsed == nil || s.Parsed.Doc == nil || s.Parsed.Doc.Err != nil {
		return nil
	}
	return s.Parsed.Doc
}

// opened returns the server of a new exchange; nil if the request cannot be one to an MCP server.
func (n *naming) opened(s *capture.Step, o *capture.Opened) *server {
	var head *capture.Head
	if s.Parsed != nil && s.Parsed.Head != nil {
		head = s.Parsed.Head
	} else {
		head = new(capture.ParseRequestHead(o.Head))
	}
	path, key := "", o.Agent.URL+" "+strconv.FormatUint(o.Conn, 10)
	if o.Agent.How == capture.ByAddress {
		if r := (neighbor.Request{Method: head.Method, Target: head.Target, Fields: head.Fields}); !neighbor.MayBeMCP(&r) {
			return nil
		}
		path = neighbor.Path(head.Target)
		key = o.Agent.URL + path
	}
	to := n.servers[key]
	if to == nil {
		if len(n.servers) >= maxServers {
			maps.DeleteFunc(n.servers, func(_ string, to *server) bool { return to.label == "" || to.path == "" })
		}
		if len(n.servers) >= maxServers {
			return nil
		}
		to = &server{url: o.Agent.URL + path, recorded: o.Agent.Name, path: path}
		n.servers[key] = to
	}
	if to.note(s.Seq); to.label == "" && !to.many {
		n.open[s.Seq] = to
	}
	return to
}

func (s *server) note(seq uint64) {
	if s.many = s.many || len(s.earlier) == maxEarlier; !s.many {
		s.earlier = append(s.earlier, seq)
	}
}

// join adds the address at which a server accepts requests.
func (n *naming) join(to *server, endpoint string) {
	base, err := url.Parse(to.url)
	if err != nil {
		return
	}
	at, err := base.Parse(endpoint)
	if err != nil || at.Host != base.Host {
		return
	}
	key := at.Scheme + "://" + at.Host + neighbor.Path(at.EscapedPath())
	if n.servers[key] == nil && len(n.servers) < maxServers {
		n.servers[key] = to
	}
}

// answered reads an answer or an event of a server.
func (n *naming) answered(to *server, s *capture.Step) []capture.Step {
	doc := parsedDoc(s)
	if doc == nil || to.label != "" || to.many {
		return nil
	}
	name := recording.ToName(neighbor.ServerName(doc.Root))
	if name == "" {
		return nil
	}
	n.named[name] = append(n.named[name], to)
	return n.settle(name)
}

// give records names of other programs.
func (n *naming) give(peers ...capture.Peer) (facts []capture.Step) {
	for i := range peers {
		if p := &peers[i]; !p.Anonymous() && p.How != capture.ByServer && !n.given[p.Name] && len(n.given) < maxGiven {
			n.given[p.Name] = true
			facts = append(facts, n.settle(p.Name)...)
		}
	}
	return facts
}

// settle labels the servers that call themselves name, and returns facts about the exchanges whose agent gets another
// name by that.
func (n *naming) settle(name string) (facts []capture.Step) {
	type place struct{ recorded, path string }
	places := make(map[place]bool)
	paths := make(map[string]int) // by recorded name
	for _, to := range n.named[name] {
		if at := (place{to.recorded, to.path}); !places[at] {
			places[at] = true
			paths[to.recorded]++
		}
	}
	for _, to := range n.named[name] {
		label := name
		if len(places) > 1 || n.given[name] {
			label += "@" + to.recorded
			if paths[to.recorded] > 1 {
				label += to.path
			}
		}
		if label == to.label || to.many { // a name that not all exchanges can have is no name
			continue
		}
		to.label = label
		for _, seq := range to.earlier {
			delete(n.open, seq)
			facts = append(facts, capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Fact{Note: capture.NamedByServer + label}})
		}
	}
	return facts
}

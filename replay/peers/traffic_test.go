package peers

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/grpc"
)

// compareTraffic describes how the capture differs from the actual traffic. The capture must contain each request to
// the agent with its answer, byte for byte and event by event, and nothing else. Each client connection must
// correspond to one at the agent. A request that bypasses the tap arrives on a connection that the capture does not
// contain.
func compareTraffic(r Result, exchanges []*capture.Exchange) (diff string) {
	recorded := map[string][]call{}
	for _, x := range exchanges {
		conn := strconv.FormatUint(x.Conn, 10)
		recorded[conn] = append(recorded[conn], callOf(x))
	}
	arrived := map[string][]call{}
	for _, a := range r.Arrivals {
		sent := received(a, exchanges)
		arrived[a.Remote] = append(arrived[a.Remote], call{a.Method, a.Target, sent, countEvents(a.Target, sent)})
	}
	return gocmp.Diff(conversations(arrived), conversations(recorded))
}

// A call is one request and its answer.
type call struct {
	Method, Target string
	Answer         string // the body
	Events         int    // in it, if it is an event stream
}

func callOf(x *capture.Exchange) call {
	head := capture.ParseRequestHead(x.Request.Head)
	c := call{Method: head.Method, Target: head.Target}
	if x.Response == nil {
		return c
	}
	body := slices.Clone(x.Response.Body.Data)
	for _, e := range x.Response.Events {
		body = append(body, e.Raw...)
		if e.K > 0 {
			c.Events++
		}
	}
	c.Answer = string(body)
	return c
}

// received returns the part of the agent's answer that arrived: all of it, unless the client left.
func received(a Arrival, exchanges []*capture.Exchange) string {
	for _, x := range exchanges {
		c := callOf(x)
		if x.Fault != nil && c.Events > 0 && c.Target == a.Target && strings.HasPrefix(a.Sent, c.Answer) {
			return c.Answer
		}
	}
	return a.Sent
}

// countEvents counts the blocks of an event stream that hold data, or the messages of a gRPC answer, independently of
// the capture's way to split them. Any other answer has none.
func countEvents(target, sent string) (n int) {
	if strings.Contains(target, "A2AService/") {
		for rest, whole := []byte(sent), true; ; n++ {
			if _, rest, whole = grpc.Cut(rest); !whole {
				return n
			}
		}
	}
	for block := range strings.SplitSeq(strings.ReplaceAll(sent, "\r\n", "\n"), "\n\n") {
		if strings.HasPrefix(block, "data:") || strings.Contains(block, "\ndata:") {
			n++
		}
	}
	return n
}

// conversations returns what passed on each connection, in an order of its own.
func conversations(byConn map[string][]call) [][]call {
	return slices.SortedFunc(maps.Values(byConn), func(a, b []call) int {
		return slices.CompareFunc(a, b, func(c, d call) int {
			return cmp.Or(cmp.Compare(c.Method, d.Method), cmp.Compare(c.Target, d.Target), cmp.Compare(c.Answer, d.Answer))
		})
	})
}

// TestCompareTraffic shows that missing, changed or bypassing requests are detected.
func TestCompareTraffic(t *testing.T) {
	t.Parallel()
	pair := Pair{Go2Client, Go2Agent, JSONRPC}
	tp := &tap{agent: pair.Agent.Name}
	result := Play(t, pair, tp.route)
	src := tp.capture(t)
	for name, change := range map[string]func([]*capture.Exchange) []*capture.Exchange{
		"an exchange is missing": func(all []*capture.Exchange) []*capture.Exchange { return slices.Delete(all, 1, 2) },
		"an exchange is twice":   func(all []*capture.Exchange) []*capture.Exchange { return append(all, all[1]) },
		"a byte is another": func(all []*capture.Exchange) []*capture.Exchange {
			all[1].Response.Body.Data[0]++
			return all
		},
		"an event is missing": func(all []*capture.Exchange) []*capture.Exchange { cutStream(all, 1); return all },
		"a target is another": func(all []*capture.Exchange) []*capture.Exchange {
			all[2].Request.Head = all[0].Request.Head
			return all
		},
		"a connection is another": func(all []*capture.Exchange) []*capture.Exchange { all[1].Conn = 1000; return all },
	} {
		if diff := compareTraffic(result, change(capturetest.ReadAll(t, src))); diff == "" {
			t.Errorf("%s, and nobody noticed", name)
		}
	}
	if diff := compareTraffic(result, capturetest.ReadAll(t, src)); diff != "" {
		t.Errorf("nothing was changed, and yet (-agent +capture):\n%s", diff)
	}
}

// cutStream takes the last n events from the first stream.
func cutStream(all []*capture.Exchange, n int) {
	for _, x := range all {
		if x.Response.Stream {
			x.Response.Events = x.Response.Events[:len(x.Response.Events)-n]
			return
		}
	}
}

// TestBypass shows that a client that follows an unmodified card is found to bypass the tap.
func TestBypass(t *testing.T) {
	t.Parallel()
	pair := Pair{Go2Client, Go2Agent, JSONRPC}
	tp := &tap{agent: pair.Agent.Name, noRewrite: true}
	result := Play(t, pair, tp.route)
	src := tp.capture(t)
	exchanges := capturetest.ReadAll(t, src)
	if len(exchanges) != 1 || !isWellKnown(exchanges[0]) {
		t.Errorf("%d exchanges came through the tap, want the one for the card", len(exchanges))
	}
	if compareTraffic(result, exchanges) == "" {
		t.Error("requests went around the tap, and nobody noticed")
	}
}

package intake_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
)

// A gap in the record suppresses every finding that it could explain. The exchange counts once as seen in part, however
// many gaps it has, and never among those of which nothing was recorded.
func TestGaps(t *testing.T) {
	half := int64(len(enginetest.Working))
	tests := []struct {
		name    string
		steps   func(c *enginetest.Conversation)
		answers int // that are observed
		inPart  int
	}{
		{"whole", func(c *enginetest.Conversation) { c.Answer(enginetest.Working) }, 1, 0},
		{"a gap in the answer, told at once", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseHead{Head: []byte(enginetest.JSONHead)},
				capture.ResponseBody{Data: []byte(enginetest.Working)}, capture.Lost{Bytes: 7},
				capture.ResponseEnd{Size: half}, capture.Closed{Dropped: 7})
		}, 0, 1},
		{"several gaps", func(c *enginetest.Conversation) {
			c.Add(capture.Lost{Bytes: 2}, capture.ResponseHead{Head: []byte(enginetest.JSONHead)}, capture.Lost{Bytes: 7},
				capture.Lost{Bytes: 9}, capture.ResponseEnd{Size: half}, capture.Closed{Dropped: 18})
		}, 0, 1},
		{"the end is lost", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseHead{Head: []byte(enginetest.JSONHead)}, capture.Lost{Bytes: half})
		}, 0, 1},
		{"a piece not kept", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseHead{Head: []byte(enginetest.JSONHead)},
				capture.ResponseBody{Data: []byte(enginetest.Working), Dropped: 3}, capture.ResponseEnd{Size: half + 3},
				capture.Closed{})
		}, 0, 0},
		{"a piece that the store refused", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseHead{Head: []byte(enginetest.JSONHead)},
				capture.ResponseBody{Data: []byte(enginetest.Working[:40])}, capture.ResponseEnd{Size: half},
				capture.Closed{Dropped: half - 40})
		}, 0, 1},
		{"the head that the store refused", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseBody{Data: []byte(enginetest.Working)}, capture.ResponseEnd{Size: half},
				capture.Closed{Dropped: 50})
		}, 0, 1},
		{"no end", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseHead{Head: []byte(enginetest.JSONHead)},
				capture.ResponseBody{Data: []byte(enginetest.Working)},
				capture.Closed{Fault: &capture.TransportFault{Kind: "truncated", Side: "agent"}})
		}, 0, 0},
		{"a coding that nobody knows", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Encoding: x-own\r\n\r\n")})
			c.Add(capture.ResponseBody{Data: []byte(enginetest.Working)}, capture.ResponseEnd{Size: half}, capture.Closed{})
		}, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			c.Open("planner", enginetest.RPCHead)
			c.Ask(enginetest.Send)
			test.steps(c)
			answers := 0
			e, _ := c.Judge(enginetest.Rule("r", analysis.AnswerSeen, func(*analysis.Pass) { answers++ }))
			expect.Equal(t, "answers were observed", test.answers, answers)
			expect.Equal(t, "exchanges count as lost", 0, e.Counts().Lost)
			inPart := 0
			var result judgment.Result
			e.Observed(&result)
			for _, n := range result.NotSeen {
				if n.Decides {
					inPart += n.Count
				}
			}
			expect.Equal(t, "exchanges count as seen in part", test.inPart, inPart)
		})
	}
}

// When the recording has been ending for a while, what is coded and unpacks to much more is not judged, nor are events of a
// coded stream, and the exchange is marked incomplete. Short texts are judged.
func TestNoTimeToJudge(t *testing.T) {
	padded := enginetest.Working[:len(enginetest.Working)-1] + strings.Repeat(" ", 400_000) + "}"
	for name, test := range map[string]struct {
		coding, body string
		stream       bool
		judged       bool // where there is no time
	}{
		"short":                  {"", enginetest.Working, false, true},
		"short, coded":           {"gzip", enginetest.Working, false, true},
		"unpacks to much":        {"gzip", padded, false, false},
		"long":                   {"", padded, false, false},
		"event":                  {"", enginetest.Working, true, true},
		"event of what is coded": {"gzip", enginetest.Working, true, false},
	} {
		for _, overdue := range []bool{false, true} {
			c := &enginetest.Conversation{T: t}
			c.Open("planner", enginetest.RPCHead)
			c.Ask(enginetest.Send)
			head, body := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", []byte(test.body)
			if test.stream {
				head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
			}
			if test.coding != "" {
				head += "Content-Encoding: " + test.coding + "\r\n"
				body = capturetest.Encode(t, body, test.coding)
			}
			c.Add(capture.ResponseHead{Head: []byte(head + "\r\n"), Stream: test.stream})
			if test.stream {
				c.Event(1, test.body)
			} else {
				c.Add(capture.ResponseBody{Data: body})
			}
			c.Add(capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
			seen, missing := 0, ""
			rules := []*analysis.Rule{enginetest.Rule("r", analysis.TaskSeen, func(*analysis.Pass) { seen++ })}
			e := engine.New(rules, engine.Until(func() bool { return overdue }),
				engine.OnEnded(func(x summary.Summary) { missing = x.Missing }))
			for _, s := range c.Steps {
				e.Step(s)
			}
			e.End(false)
			if want := test.judged || !overdue; (seen > 0) != want || (missing == "") != want {
				t.Errorf("%s, overdue %t: %d tasks seen, missing %q; judged is %t", name, overdue, seen, missing, want)
			}
		}
	}
}

func TestLostExchangesAreCounted(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	c.Add(capture.Lost{Exchanges: 3, Bytes: 100}, capture.Lost{Bytes: 100})
	e, _ := c.Judge(enginetest.Rule("r", analysis.AnswerSeen, enginetest.At(enginetest.Here)))
	if got := e.Counts(); got.Lost != 3 || got.Exchanges != 0 {
		t.Errorf("got %+v, want 3 lost of 0 exchanges", got)
	}
}

// A request that never came whole is not judged, whatever was answered, and does not stay in memory as an open stream.
func TestRequestThatNeverCameWhole(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	c.Open("planner", enginetest.RPCHead)
	c.Add(capture.RequestBody{Data: []byte(enginetest.Send[:20])},
		capture.ResponseHead{Head: []byte(enginetest.SSEHead), Stream: true})
	c.Event(1, enginetest.Working)
	c.Add(capture.Closed{Fault: &capture.TransportFault{Kind: "reset", Side: "client"}})
	if _, found := c.Judge(
		enginetest.Rule("r", analysis.AnswerSeen|analysis.EventSeen|analysis.StreamEnded, enginetest.At(enginetest.Here)),
	); len(found) > 0 {
		t.Errorf("got %q, want nothing", enginetest.Texts(found))
	}
}

// An answer that overtakes its request is judged once the request is known.
func TestAnswerOvertakesRequest(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	c.Open("planner", enginetest.RPCHead)
	c.Add(capture.RequestBody{Data: []byte(enginetest.Send[:20])},
		capture.ResponseHead{Head: []byte(enginetest.SSEHead), Stream: true})
	c.Event(1, enginetest.Working)
	c.Add(capture.RequestBody{Data: []byte(enginetest.Send[20:])}, capture.RequestEnd{Size: int64(len(enginetest.Send))})
	c.Event(2, enginetest.Working)
	var arrivals []uint64
	c.Judge(enginetest.Rule("r", analysis.EventSeen, func(p *analysis.Pass) { arrivals = append(arrivals, p.Arrival) }))
	if len(arrivals) != 2 || arrivals[0] != 4 || arrivals[1] != 7 {
		t.Errorf("events were observed with arrivals %v, want 4 and 7", arrivals)
	}
}

func TestGapsOfStreams(t *testing.T) {
	tests := []struct {
		name   string
		events func(c *enginetest.Conversation)
		gap    bool
	}{
		{"none", func(c *enginetest.Conversation) { c.Event(1, enginetest.Working); c.Event(2, enginetest.Working) }, false},
		{"the first is missing", func(c *enginetest.Conversation) { c.Event(2, enginetest.Working) }, true},
		{
			"one in the middle is missing",
			func(c *enginetest.Conversation) { c.Event(1, enginetest.Working); c.Event(3, enginetest.Working) }, true,
		},
		{"one was cut", func(c *enginetest.Conversation) {
			c.Add(capture.ResponseEvent{Event: capture.Event{K: 1, Raw: []byte("data: {"), Dropped: 9}})
		}, true},
		{"a gap is told", func(c *enginetest.Conversation) {
			c.Event(1, enginetest.Working)
			c.Add(capture.Lost{Bytes: 4})
			c.Event(2, enginetest.Working)
		}, true},
		{"comments have no number", func(c *enginetest.Conversation) {
			c.Event(1, enginetest.Working)
			c.Add(capture.ResponseEvent{Event: capture.Event{Raw: []byte(": ping\n\n")}})
			c.Event(2, enginetest.Working)
		}, false},
		{"an event that is not JSON", func(c *enginetest.Conversation) { c.Event(1, "{") }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			c.Stream("planner")
			test.events(c)
			c.Add(capture.ResponseEnd{}, capture.Closed{})
			var gap, seen bool
			c.Judge(
				enginetest.Rule("r", analysis.StreamEnded, func(p *analysis.Pass) { gap, seen = p.Exchange.Stream.Gap, true }),
			)
			if !seen || gap != test.gap {
				t.Errorf("gap is %v, want %v (end seen: %v)", gap, test.gap, seen)
			}
		})
	}
}

func TestHowStreamsEnd(t *testing.T) {
	tests := []struct {
		name        string
		end         []capture.What
		live        bool
		seen        int
		clean, open bool
	}{
		{"as framed", []capture.What{capture.ResponseEnd{}, capture.Closed{}}, false, 1, true, false},
		{
			"broken",
			[]capture.What{capture.Closed{Fault: &capture.TransportFault{Kind: "reset", Side: "agent"}}},
			false, 1, false,
			false,
		},
		{
			"client left",
			[]capture.What{capture.ResponseEnd{}, capture.Closed{Fault: &capture.TransportFault{Kind: "client-left", Side: "client"}}},
			false, 1, false, false,
		},
		{"interrupted", []capture.What{capture.Closed{Interrupted: true}}, false, 1, false, true},
		{
			"shut down",
			[]capture.What{capture.Closed{Fault: &capture.TransportFault{Kind: "shutdown", Side: "proxy"}}},
			false, 1, false,
			true,
		},
		{"open at the end", nil, false, 1, false, true},
		{"open and going on", nil, true, 0, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			c.Stream("planner")
			c.Event(1, enginetest.Working)
			c.Add(test.end...)
			var ends []analysis.StreamEnd
			e := engine.New(
				[]*analysis.Rule{
					enginetest.Rule("r", analysis.StreamEnded, func(p *analysis.Pass) { ends = append(ends, *p.End) }),
				},
			)
			for _, s := range c.Steps {
				e.Step(s)
			}
			e.End(test.live)
			if len(ends) != test.seen {
				t.Fatalf("the end was observed %d times, want %d", len(ends), test.seen)
			}
			if test.seen > 0 && (ends[0].Clean != test.clean || ends[0].Open != test.open) {
				t.Errorf("got %+v, want clean %v and open %v", ends[0], test.clean, test.open)
			}
		})
	}
}

package injection

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ flag, agent, text string }{
		{"booker:status=503", "booker", "status=503"},
		{"booker:status=429,retry-after=2@SendMessage", "booker", "status=429,retry-after=2@SendMessage"},
		{"*:drop", "*", "drop"},
		{"127.0.0.1:9001:reset@2", "127.0.0.1:9001", "reset@#2"},
		{"[::1]:9001:reset-body@#2..3", "[::1]:9001", "reset-body@#2..3"},
		{"a:delay=1500ms@message/stream", "a", "delay=1.5s@SendStreamingMessage"},
		{"a:delay-events=20ms@tasks/resubscribe#1..", "a", "delay-events=20ms@SubscribeToTask#1.."},
		{"a:cut-stream=0@SendStreamingMessage#2", "a", "cut-stream=0@SendStreamingMessage#2"},
		{"a:end-stream=3@..4", "a", "end-stream=3@#..4"},
		{"a:stall-stream=1", "a", "stall-stream=1"},
		{"a:reset=cancel@#2", "a", "reset=CANCEL@#2"},
		{"a:reset-body=NO_ERROR", "a", "reset-body=NO_ERROR"},
		{"a:goaway", "a", "goaway"},
		{"a:goaway=ENHANCE_YOUR_CALM@#2", "a", "goaway=ENHANCE_YOUR_CALM@#2"},
		{"a:grpc-status=unavailable@SendMessage", "a", "grpc-status=UNAVAILABLE@SendMessage"},
		{"a:duplicate-event=1@2..", "a", "duplicate-event=1@#2.."},
		{"a:content-type=text/html; charset=utf-8@GetAgentCard", "a", "content-type=text/html; charset=utf-8@GetAgentCard"},
	} {
		s, err := Parse(tt.flag)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Agent != tt.agent || s.Fault.String() != tt.text {
			t.Errorf("%s: got %s for %s, want %s for %s", tt.flag, s.Fault, s.Agent, tt.text, tt.agent)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ flag, want string }{
		{"", "the agent is missing; write AGENT:WHAT[@WHEN], such as booker:status=503"},
		{"drop", "such as booker:drop, or * for all agents"},
		{":drop", "the agent is missing"},
		{"a:dorp", `unknown fault "dorp"; use one of delay=D, drop, status=CODE`},
		{"a:RESET", `; did you mean "reset" or "reset-body"?`},
		{"a:\x1b[2J\xff", `unknown fault "\x1b[2J\xff"`},
		{"a:status=99999999999999999999", "status needs a code from 400 to 599"},
		{"a:delay=NaN", "delay needs a time above 0"},
		{"a:delay=2562047h", "delay needs a time above 0 and up to 1h0m0s"},
		{"a:cut-stream=0x1", "cut-stream needs the number of an event"},
		{"a:drop@@1", `after @: unknown operation "@1"`},
		{"a:drop@99999999999999999999", "calls are numbered from 1"},
		{"a:reset=", "reset needs a value"},
		{"a:reset=1", "reset needs an HTTP/2 error code, such as INTERNAL_ERROR, not \"1\""},
		{"a:goaway=BYE", "goaway needs an HTTP/2 error code, such as NO_ERROR"},
		{"a:grpc-status", "grpc-status needs a value"},
		{"a:grpc-status=OK", "grpc-status needs a gRPC status other than OK, such as UNAVAILABLE"},
		{"a:grpc-status=99", "grpc-status needs a gRPC status"},
		{"a:drop=1", "drop accepts no value; write only drop"},
		{"a:delay", "delay needs a value: delay=D: the answer starts D later"},
		{"a:delay=fast", "delay needs a time above 0 and up to 1h0m0s"},
		{"a:delay=-1s", "delay needs a time above 0"},
		{"a:status=200", "status needs a code from 400 to 599"},
		{"a:status=503,after=2", "only retry-after=SECONDS may follow the code, as in status=503,retry-after=2"},
		{"a:status=503,retry-after=soon", "retry-after needs seconds from 0 to 86400"},
		{"a:content-type=html", "content-type needs a media type such as text/html"},
		{"a:content-type=text/html\r\nX", "content-type needs a media type"},
		{"a:content-type=text/html;\r\nX", "content-type needs a media type"},
		{"a:cut-stream=-1", "cut-stream needs the number of an event from 0"},
		{"a:duplicate-event=0", "duplicate-event needs the number of an event from 1"},
		{"a:drop@", "nothing follows @ or #"},
		{"a:drop@#", "nothing follows @ or #"},
		{"a:drop@Sned", `after @: unknown operation "Sned"`},
		{"a:drop@SendMessage#", "nothing follows @ or #"},
		{"a:drop@#0", "calls are numbered from 1"},
		{"a:drop@#x", "calls are numbered from 1"},
		{"a:drop@#..", "names no call"},
		{"a:drop@#5..2", "ends before it begins; write #2..5"},
		{"a:drop@PushNotification", "not into notifications"},
		{"a:cut-stream=1@GetTask", "cut-stream is a fault of streams, but GetTask has none"},
	} {
		_, err := Parse(tt.flag)
		expect.ErrorHas(t, tt.flag, tt.want, err)
	}
}

// What a flag says is written so that it says the same again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"booker:status=503,retry-after=2@SendMessage#2", "*:drop@#..3", "[::1]:1:delay=1h@4", "a:content-type=a/b;c=@:#",
		"a:cut-stream=0@SubscribeToTask#3..9", "a:grpc-status=ABORTED", "a:reset=CANCEL@#1", "a:goaway",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, flag string) {
		s, err := Parse(flag)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || again != s {
			t.Errorf("%q: got %+v, and %+v with %v from %q", flag, s, again, err, s)
		}
		if strings.ContainsAny(s.Fault.Type, "\r\n") {
			t.Errorf("%q: the media type breaks the line", flag)
		}
	})
}

func TestPlan(t *testing.T) {
	parse := func(flags ...string) (specs []Spec) {
		for _, flag := range flags {
			s := must.Get(Parse(flag))(t)
			specs = append(specs, s)
		}
		return specs
	}
	specs := parse("a:status=500@SendMessage#2", "*:cut-stream=1@2", "b:drop")
	if got := Unknown(specs, []string{"a"}); len(got) != 1 || got[0] != "b" {
		t.Errorf("unknown are %q", got)
	}
	if PlanFor("c", specs[:1]) != nil {
		t.Error("there is a plan for an agent without faults")
	}
	p := PlanFor("a", specs)
	want := []string{"", "", "status=500@SendMessage#2", "cut-stream=1@#2", "", ""}
	p.faults = append(p.faults, counted{fault: parse("a:grpc-status=ABORTED@CancelTask#1")[0].Fault})
	for over, want := range []string{"", "", "grpc-status=ABORTED@CancelTask#1"} {
		got := ""
		f, unfit := p.choose(a2a.CancelTask, wire(over))
		if f != nil {
			got = f.String()
		}
		if got != want || (len(unfit) == 1) != (want == "") {
			t.Errorf("over %s: got %q, and %v do not fit", wire(over), got, unfit)
		}
	}
	for i, o := range []a2a.Operation{
		a2a.SendMessage, a2a.SendStreamingMessage, a2a.SendMessage, a2a.SubscribeToTask, a2a.SendMessage, a2a.NoOperation,
	} {
		got := ""
		if f, _ := p.choose(o, overHTTP1); f != nil {
			got = f.String()
		}
		expect.Equal(t, fmt.Sprintf("call %d, %s", i+1, o), want[i], got)
	}
}

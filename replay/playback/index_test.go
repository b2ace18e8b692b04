package playback

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// naive is match without an index: it checks each exchange.
func naive(p *Player, call *a2a.Call) *exchange {
	f := newForm(call)
	var state []*exchange
	rank := func(a *exchange) uint64 {
		if a.after == nil {
			return 0
		}
		return a.after.seq
	}
	for _, a := range p.recording.exchanges {
		differ := 0
		for range p.differences(a, call, &f) {
			differ++
		}
		switch {
		case a.form.op != f.op || !speaks(call, &f, a) || differ > 0 || a.after != nil && a.after.uses == 0:
		case len(state) == 0 || rank(a) > rank(state[0]):
			state = []*exchange{a}
		case rank(a) == rank(state[0]):
			state = append(state, a)
		}
	}
	var fresh, same, last *exchange
	for _, a := range state {
		is := a.form.differ(&f) == 0
		switch {
		case a.uses == 0 && is:
			return a
		case a.uses == 0 && fresh == nil:
			fresh = a
		case is:
			same = a
		}
		last = a
	}
	if fresh != nil {
		return fresh
	}
	if same != nil {
		return same
	}
	return last
}

// asking is traffic with many similar requests: few tasks, contexts and texts, named by either side or not at all.
type asking struct{ *rand.Rand }

func (r asking) one(list ...string) string { return list[r.IntN(len(list))] }

func (r asking) request(live bool) string {
	context := r.one("", "", `,"contextId":"c1"`, `,"contextId":"c2"`)
	task := r.one("", "", `,"taskId":"t1"`, `,"taskId":"t2"`, `,"taskId":"none"`)
	if live {
		context = r.one(context, `,"contextId":"live1"`, `,"contextId":"live2"`)
		task = r.one(task, `,"taskId":"mine"`)
	}
	word := r.one(`"one"`, `"two"`, `"redacted.0123456789abcdef.01234567"`, `"7c9e6679f3a14d0b9d4f"`)
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"GetTask","params":{"id":%q,"historyLength":%s}}`,
			r.IntN(9), r.one("t1", "t2", "t3", "none"), r.one("1", "2"))
	case 1:
		return `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":` + r.one("1", "2") + `}}`
	case 2:
		id := r.one("t1", "a", "b", "c")
		return `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"` + id + `","message":{"role":"user","parts":[` +
			`{"type":"text","text":` + word + `}]}}}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m%d","role":"ROLE_USER"`+
		`%s%s,"parts":[{%s}]}}}`, r.IntN(100), context, task, r.one(`"text":`+word, `"text":`+word, `"data":{"a":`+word+`}`))
}

// The index finds the same exchange as a full search, whatever was played before.
func TestIndexChangesNothing(t *testing.T) {
	for seed := range uint64(20) {
		r := asking{rand.New(rand.NewPCG(seed, 1))}
		src := capture.NewMemory(capture.Info{})
		for seq := range uint64(40) {
			answer := `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"` + r.one("t1", "t2", "t3") + `","contextId":"` +
				r.one("c1", "c3") + `","status":{"state":"TASK_STATE_WORKING"}}}}`
			if r.IntN(5) == 0 {
				answer = `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task"}}`
			}
			x := &capture.Exchange{
				Seq: seq + 1, Started: time.Unix(int64(seq), 0), State: capture.StateClosed,
				Agent: capture.Peer{Name: "a", URL: "http://127.0.0.1:1/rpc"},
				Request: capture.Request{
					Head: []byte("POST /rpc HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"),
					Body: capture.Body{Data: []byte(r.request(false)), Complete: true},
				},
				Response: &capture.Response{
					Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
					Body: capture.Body{Data: []byte(answer), Complete: true},
				},
			}
			must.Do(t, src.Append(capture.Steps(x)...))
		}
		for _, o := range []Options{
			{},
			{Match: ByShape},
			{Match: ByValue},
			{Pointers: []string{"/message/parts"}},
			{Agent: "a", Keep: func(x *capture.Exchange) bool { return x.Seq%3 > 0 }},
		} {
			p := must.Get(New(t.Context(), src, o))(t)
			served := 0
			for range 200 {
				call := a2a.DecodeRequest(a2a.Request{
					Method: "POST", Target: "/rpc", Body: []byte(r.request(true)), HasBody: true, BodyKept: true,
				}, *p.recording.exchanges[0].known)
				want := naive(p, &call)
				got, _, miss := p.choose(&call, "")
				if got != want {
					t.Fatalf("seed %d, %+v: %s is answered by %v, want %v (%v)", seed, o, call.Doc.Root.Raw(), got, want, miss)
				}
				if got != nil {
					served++
				}
			}
			if served < 20 {
				t.Errorf("seed %d, %+v: only %d of 200 were served", seed, o, served)
			}
			p.Close()
		}
	}
}

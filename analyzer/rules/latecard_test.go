package rules_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// heldToCard lists rules about a client that has read the card, or about traffic that the card caused. A card that no
// client had read does not count for them.
var heldToCard = map[string]string{
	"card-below-endpoint":         "only a client that has read the card knows where it is",
	"card-signature-valid":        "keys are looked for where a card has said that they are",
	"ext-required-missing-client": "a client is held to the card that it has read",
	"req-capability-extended":     "the same",
	"req-capability-push":         "the same, where an extended card may say more",
	"req-capability-streaming":    "the same",
	"rpc-method-known":            "the same",
}

// lateOtherwise are transcripts of which something else is found, with the reason.
var lateOtherwise = map[string]string{
	"auth/auth-credentials-sent-refused-grpc":           "a client that was refused is held to the card that it has read",
	"dialects/dialect-mismatch-03-answered-in-10-card":  "without the card the answer tells, with it the request",
	"dialects/dialect-mismatch-10-at-03-params":         "a rule that revises itself at the end takes no other's place",
	"dialects/dialect-mismatch-path-only-v1":            "only the card shows that it is a call, so it is not a call of this link",
	"dialects/dialect-mismatch-path-only":               "the same",
	"finished/state-send-terminal-ignored-v02":          "without the card nobody knows whether the agent is older than 0.2.4",
	"lifecycle/state-terminal-immutable-early":          "of an agent from before 0.1 another rule says it",
	"lifecycle/state-terminal-immutable-webhook":        "notifications go to another host, and do not wait for a card",
	"refusal/error-internal-for-named-case-credentials": "a client that was refused is held to the card that it has read",
	"silent/credentials-refused-as-internal":            "the same",
	"silent/credentials-refused-in-rpc":                 "the same",
	"version/ver-empty-means-03":                        "without the card the answer tells, with it the request",
}

// The findings do not depend on whether a client reads the card before its calls or another client does later: the
// first cards of each transcript are moved to its end.
func TestCardsMayComeLate(t *testing.T) {
	t.Parallel()
	moved := 0
	for _, path := range sample(t) {
		exchanges, before := cardsLast(rulestest.Exchanges(t, path))
		if exchanges == nil {
			continue
		}
		moved++
		want := inOrder(notHeldToCard(rulestest.FindingsIn(t, path)), func(seq uint64) uint64 { return seq })
		got := inOrder(notHeldToCard(rulestest.Findings(t, exchanges)), func(seq uint64) uint64 { return before[seq] })
		diff := cmp.Diff(want, got)
		switch reason := lateOtherwise[path]; {
		case diff != "" && reason == "":
			t.Errorf("%s: with the card last (-want +got):\n%s", path, diff)
		case diff == "" && reason != "":
			t.Errorf("%s: the same is found with the card last; strike it off the list", path)
		}
	}
	if moved*oneIn < 350 {
		t.Errorf("only %d transcripts begin with a card", moved)
	}
}

func notHeldToCard(findings []analysis.Finding) []analysis.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f analysis.Finding) bool { return heldToCard[f.Rule.ID] != "" })
}

// cardsLast returns exchanges with the cards that come first behind the rest, and the number that each of them had; nil
// if no card comes first, or nothing but cards.
func cardsLast(exchanges []*capture.Exchange) (list []*capture.Exchange, before map[uint64]uint64) {
	n := 0
	for n < len(exchanges) && exchanges[n].Response != nil && bearsCard(exchanges[n]) {
		n++
	}
	if n == 0 || n == len(exchanges) {
		return nil, nil
	}
	list = inTurn(append(exchanges[n:len(exchanges):len(exchanges)], exchanges[:n]...)...)
	before = make(map[uint64]uint64)
	for i, x := range list {
		before[x.Seq] = exchanges[(i+n)%len(exchanges)].Seq
	}
	return list, before
}

// inTurn returns copies of exchanges, numbered in their order. One that began earlier than those before it begins when
// they are over.
func inTurn(exchanges ...*capture.Exchange) []*capture.Exchange {
	var list []*capture.Exchange
	var began, over time.Time
	for i, x := range exchanges {
		now := *x
		now.Seq = uint64(i + 1)
		if !now.Started.After(began) {
			now.Started = over.Add(time.Second)
		}
		began = now.Started
		if end := began.Add(max(now.Ended, 0)); end.After(over) {
			over = end
		}
		list = append(list, &now)
	}
	return list
}

// A card counts for an earlier time only if nothing shows that the agent has changed.
func TestWhatLateCardsShow(t *testing.T) {
	exchanges := rulestest.Exchanges(t, "version/ver-supported-refused")
	card, call := exchanges[0], exchanges[1]
	with := func(x *capture.Exchange, change func(x *capture.Exchange)) *capture.Exchange {
		answer, changed := *x.Response, *x
		changed.Response = &answer
		change(&changed)
		return &changed
	}
	other := with(card, func(x *capture.Exchange) {
		x.Response.Body.Data = bytes.ReplaceAll(x.Response.Body.Data, []byte("9001/rpc"), []byte("9001/new"))
	})
	var large []*capture.Exchange // of other agents
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		large = append(large, with(call, func(x *capture.Exchange) {
			x.Agent = capture.Peer{Name: name, URL: "http://" + name + ".example"}
			x.Response.Body.Data = append(bytes.Clone(x.Response.Body.Data), bytes.Repeat([]byte(" "), 900<<10)...)
		}))
	}
	tests := []struct {
		name      string
		exchanges []*capture.Exchange
		found     int
	}{
		{"a call", []*capture.Exchange{call, card}, 1},
		{"three", []*capture.Exchange{call, call, call, card}, 3},
		{"and one afterwards", []*capture.Exchange{call, card, call}, 2},
		{"read twice", []*capture.Exchange{call, card, card}, 1},
		{"of another interface", []*capture.Exchange{call, other}, 0},
		{"that has changed", []*capture.Exchange{call, other, card}, 0},
		{"that was changed before", []*capture.Exchange{other, call, card}, 0},
		{"that was not there", []*capture.Exchange{call, with(card, func(x *capture.Exchange) {
			x.Response.Head = []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			x.Response.Body = capture.Body{Complete: true}
		}), card}, 0},
		{"after the agent was gone", []*capture.Exchange{call, with(call, func(x *capture.Exchange) {
			x.Response = nil
			x.Fault = &capture.TransportFault{Kind: "unreachable", Side: "agent", Detail: "connection refused"}
		}), card}, 0},
		{"half an hour later", []*capture.Exchange{call, with(card, func(x *capture.Exchange) {
			x.Started = call.Started.Add(30 * time.Minute)
		})}, 1},
		{"a day later", []*capture.Exchange{call, with(card, func(x *capture.Exchange) {
			x.Started = call.Started.Add(24 * time.Hour)
		})}, 0},
		{"of more calls than wait", append(slices.Repeat([]*capture.Exchange{call}, 100), card), 64},
		{"of calls a day apart", append(slices.Repeat([]*capture.Exchange{call}, 100), with(call, func(x *capture.Exchange) {
			x.Started = call.Started.Add(24 * time.Hour)
		}), with(card, func(x *capture.Exchange) {
			x.Started = call.Started.Add(24*time.Hour + time.Minute)
		})), 1},
		{"behind more than waits", slices.Concat([]*capture.Exchange{call}, large, []*capture.Exchange{card}), 0},
		{"of a call behind that", slices.Concat(large, []*capture.Exchange{call, card}), 1},
		{"of a call that is too large", []*capture.Exchange{call, with(call, func(x *capture.Exchange) {
			x.Response.Body.Data = append(bytes.Clone(x.Response.Body.Data), make([]byte, 2<<20)...)
		}), card}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := rulestest.Check(t, rules.All, inTurn(test.exchanges...))
			found, broken := 0, 0
			for _, f := range result.Findings {
				if f.Rule.ID == "ver-supported-refused" {
					found++
				}
			}
			for _, c := range result.Coverage {
				if c.Rule.ID == "ver-supported-refused" {
					broken += c.Broken
				}
			}
			if found != test.found || broken != test.found {
				t.Errorf("found %d times, and counted %d times as broken; want %d", found, broken, test.found)
			}
		})
	}
}

// An exchange that is open when the card comes is checked against the card from its beginning.
func TestCardInStream(t *testing.T) {
	exchanges, _ := cardsLast(rulestest.Exchanges(t, "update/event-final-type-v025"))
	stream, fetch := capture.Steps(exchanges[0]), capture.Steps(exchanges[1])
	settled := func(parts ...[]capture.Step) []string {
		var result judgment.Result
		for _, f := range run(merge(nil, slices.Concat(parts...), nil)) {
			result.Take(f)
		}
		return inOrder(result.Findings, func(seq uint64) uint64 { return seq })
	}
	want := settled(stream, fetch)
	for i := 1; i < len(stream); i++ {
		if diff := cmp.Diff(want, settled(stream[:i], fetch, stream[i:])); diff != "" {
			t.Errorf("with the card behind step %d of %d (-last +there):\n%s", i, len(stream), diff)
		}
	}
}

// What a card shows takes the place of what was told without it, wherever findings are kept.
func TestLateCardsRevise(t *testing.T) {
	for path, want := range map[string]string{
		"rpcmethod/rpc-method-pascal":   "rpc-method-pascal error", // instead of rpc-method-known
		"rpcrequest/rpc-id-missing-v02": "rpc-id-missing note",     // instead of a warning
	} {
		exchanges, _ := cardsLast(rulestest.Exchanges(t, path))
		memory := rulestest.Source(t, exchanges)
		var all []analysis.Finding
		counted, err := engine.Run(t.Context(), rules.All, memory, func(f analysis.Finding) { all = append(all, f) })
		must.Do(t, err)
		var taken judgment.Result
		for _, f := range all {
			taken.Take(f)
		}
		reading := keptFindings(t, memory)
		for name, list := range map[string][]analysis.Finding{"result": taken.Findings, "reading": reading} {
			var sum [analysis.Error + 1]int
			var got []string
			for _, f := range list {
				sum[f.Severity]++
				if !strings.HasPrefix(f.Rule.ID, "card-") {
					got = append(got, f.Rule.ID+" "+f.Severity.String())
				}
			}
			if len(all) == len(list) || len(got) != 1 || got[0] != want || sum != counted.Found {
				t.Errorf("%s: the %s has %q of %d findings, want %q; counted are %v", path, name, got, len(all), want, counted.Found)
			}
		}
	}
}

func keptFindings(t *testing.T, src capture.Source) []analysis.Finding {
	t.Helper()
	var shelf capture.MemoryShelf
	if _, w, err := snapshot.Judge(t.Context(), rules.All, src, shelf.Put, nil); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	r := must.Get(snapshot.Open(t.Context(), &shelf, rules.All))(t)
	result := must.Get(r.Complete(t.Context(), src))(t)
	return result.Findings
}

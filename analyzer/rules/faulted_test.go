package rules_test

import (
	"slices"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Where the recorder has made a fault in an answer, neither that answer nor what follows from it is found fault with:
// what is found then was found before.
func TestFaultsMadeHereBlameNobody(t *testing.T) {
	t.Parallel()
	const mangled = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\n\r\n"
	ways := []struct {
		what   string
		mangle func(x *capture.Exchange)
	}{
		{"reset", func(x *capture.Exchange) {
			x.Response, x.Fault = nil, &capture.TransportFault{Kind: "injected", Side: "proxy", Detail: "reset"}
		}},
		{"status=503", func(x *capture.Exchange) {
			x.Response = &capture.Response{
				Head: []byte(mangled), Body: capture.Body{Data: []byte("{"), Size: 1, Complete: true},
			}
		}},
		{"duplicate-event=1", func(x *capture.Exchange) {
			if r := x.Response; r != nil && len(r.Events) > 0 {
				r.Events = slices.Insert(slices.Clone(r.Events), 0, r.Events[0])
				for i := range r.Events {
					r.Events[i].K = i + 1
				}
			}
		}},
		{"cut-stream=1", func(x *capture.Exchange) {
			if r := x.Response; r != nil {
				r.Events, r.Body.Complete = r.Events[:min(len(r.Events), 1)], false
			}
			x.Fault = &capture.TransportFault{Kind: "injected", Side: "proxy", Detail: "cut-stream=1"}
		}},
		{"grpc-status=UNAVAILABLE", func(x *capture.Exchange) {
			x.Response = &capture.Response{
				Head: []byte("HTTP/2 200\r\ncontent-type: application/grpc\r\ngrpc-status: 14\r\n\r\n"),
				Body: capture.Body{Data: []byte{}, Complete: true},
			}
		}},
		{"held=3.2s: the request", func(*capture.Exchange) {}},
		{"edited: the answer, after 3.2s: body", func(x *capture.Exchange) {
			if r := x.Response; r != nil {
				r.Body = capture.Body{Data: []byte("{"), Size: 1, Complete: true}
			}
		}},
		{"dropped: the request, after 3.2s", func(x *capture.Exchange) {
			x.Response, x.Fault = nil, &capture.TransportFault{Kind: "injected", Side: "proxy", Detail: "dropped"}
		}},
		{"end without a status", func(x *capture.Exchange) {
			if r := x.Response; r != nil {
				r.Events, r.Trailer = r.Events[:min(len(r.Events), 1)], nil
			}
		}},
	}
	for _, path := range sample(t) {
		before, random := rulestest.FindingsIn(t, path), rulestest.Random(path)
		some := random.Perm(len(rulestest.Exchanges(t, path)))
		for _, i := range some[:min(len(some), 4)] {
			way := ways[random.IntN(len(ways))]
			all := rulestest.Exchanges(t, path)
			way.mangle(all[i])
			all[i].Notes = append(all[i].Notes, capture.FaultMadeHere+way.what)
			for _, f := range rulestest.Findings(t, all) {
				if !slices.ContainsFunc(before, func(g analysis.Finding) bool { return alike(&f, &g) }) {
					t.Errorf("%s: with %s in exchange %d there is also %s", path, way.what, i+1, &f)
				}
				if f.Place.Exchange == all[i].Seq && f.Side == a2a.Agent {
					t.Errorf("%s: %s in exchange %d is held against the agent: %s", path, way.what, i+1, &f)
				}
			}
		}
	}
}

// Data that was only held is known. Findings that depend on it are still made later, unless the released message was
// edited.
func TestHeldIsKnown(t *testing.T) {
	t.Parallel()
	found, hidden := 0, 0
	for _, path := range sample(t) {
		for _, f := range rulestest.FindingsIn(t, path) {
			if f.Side != a2a.Agent || len(f.Rule.Needs) == 0 || f.Place.Exchange < 2 {
				continue
			}
			judged := func(notes ...string) bool {
				all := rulestest.Exchanges(t, path)
				for _, note := range notes {
					all[0].Notes = append(all[0].Notes, capture.FaultMadeHere+note)
				}
				return slices.ContainsFunc(rulestest.Findings(t, all), func(g analysis.Finding) bool { return alike(&f, &g) })
			}
			if judged("held=3.2s: the request") {
				found++
			}
			if !judged("held=3.2s: the request", "edited: the answer, after 1s: body") {
				hidden++
			}
		}
	}
	if found == 0 || hidden == 0 {
		t.Errorf("%d findings are made where something was held before, and %d are not where it was edited; want some of each",
			found, hidden)
	}
}

// alike reports whether two findings are of one rule, or of one that covers it, and against the same side.
func alike(f, g *analysis.Finding) bool {
	sameCause := f.Cause != "" && f.Cause == g.Cause
	return (f.Rule == g.Rule || sameCause || slices.Contains(g.Also, f.Rule.ID)) && f.Side == g.Side
}

package rules_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// The same is found in whatever order exchanges come that have nothing to do with each other: of each transcript those
// side by side are swapped, one pair after another.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	swaps := 0
	for _, path := range sample(t) {
		exchanges := rulestest.Exchanges(t, path)
		for i := range len(exchanges) - 1 {
			if !independent(exchanges[i], exchanges[i+1]) || !isCall(t, exchanges[i]) || !isCall(t, exchanges[i+1]) {
				continue
			}
			swaps++
			want := inOrder(rulestest.FindingsIn(t, path), func(seq uint64) uint64 { return seq })
			got := inOrder(rulestest.Findings(t, swapped(exchanges, i)), func(seq uint64) uint64 {
				switch seq {
				case exchanges[i].Seq:
					return exchanges[i+1].Seq
				case exchanges[i+1].Seq:
					return exchanges[i].Seq
				}
				return seq
			})
			expect.Same(t, fmt.Sprintf("%s: with %d and %d swapped", path, exchanges[i].Seq, exchanges[i+1].Seq),
				want, got)
		}
	}
	if swaps*oneIn < 150 {
		t.Errorf("only %d pairs were swapped", swaps)
	}
}

// isCall reports whether an exchange alone shows that it is an A2A call. Ambiguous exchanges are checked only at
// addresses where A2A was seen before, so their order matters.
func isCall(t *testing.T, x *capture.Exchange) bool {
	return rulestest.Check(t, rules.All, []*capture.Exchange{x}).Counts.Judged == 1
}

// ordered are rules for which the order counts, with the reason.
var ordered = map[string]string{
	"cap-streaming-refused": "that a route is not there says nothing as long as no other route of the interface has answered",
	"rpc-result-xor-error":  "a method that 0.1 has too is of a later version only where one is spoken",
}

// firstOfSeveral are rules that report the first of several exchanges, at the end.
var firstOfSeveral = []string{"http-redirect-not-followed"}

// swapped returns the exchanges with one and the next in each other's place.
func swapped(exchanges []*capture.Exchange, i int) []*capture.Exchange {
	list := slices.Clone(exchanges)
	first, second := *exchanges[i+1], *exchanges[i]
	first.Seq, second.Seq = second.Seq, first.Seq
	first.Started, second.Started = second.Started, first.Started
	list[i], list[i+1] = &first, &second
	return list
}

// inOrder returns findings so that the order of exchanges does not show: with the numbers that they had before, without
// the text, which names others, and without the place where one of several is reported. Of the findings of one cause only
// the cause counts: the first object that shows it is reported.
func inOrder(findings []analysis.Finding, before func(uint64) uint64) []string {
	var list []string
	for i := range findings {
		f := &findings[i]
		if ordered[f.Rule.ID] != "" {
			continue
		}
		place := f.Place
		place.Exchange = before(place.Exchange)
		id, text := f.Rule.ID, place.String()
		if f.Cause != "" {
			id, text = string(f.Cause), ""
		}
		if f.Rule.Once > analysis.PerExchange || f.Rule.Category == analysis.AgentCard || slices.Contains(firstOfSeveral, id) {
			text = ""
		}
		list = append(list, fmt.Sprintf("%s %s %s", id, f.Severity, text))
	}
	slices.Sort(list)
	return list
}

// independent reports whether two exchanges have nothing to do with each other: neither reads a card, lists tasks,
// configures or delivers notifications, or is cut off, they are at one agent in one version, and name no common thing.
func independent(a, b *capture.Exchange) bool {
	for _, x := range [...]*capture.Exchange{a, b} {
		if dependent.Match(x.Request.Head) || dependent.Match(x.Request.Body.Data) || x.Response == nil ||
			x.State != capture.StateClosed || !x.Request.Body.Complete || bearsCard(x) {
			return false
		}
	}
	if a.Client != b.Client || a.Agent != b.Agent || b.Started.Sub(a.Started) != time.Second || a.Ended > time.Second {
		return false // what is found may depend on how much time has passed
	}
	names := namesIn(a)
	for name := range namesIn(b) {
		if names[name] {
			return false
		}
	}
	return true
}

// dependent matches what has to do with everything that came before it.
var dependent = regexp.MustCompile(`(?i)ListTasks|tasks/list|/tasks[? ]|push|hook|webhook|extendedAgentCard|ExtendedCard|If-None-Match`)

func bearsCard(x *capture.Exchange) bool {
	doc := a2a.Parse(x.Response.Body.Data)
	return a2a.IsCard(doc.Root) || strings.HasPrefix(string(x.Response.Head), "HTTP/1.1 304")
}

// names are the members that name something which several exchanges may be about, and the ids in a path.
var names = regexp.MustCompile(`"(?:taskId|contextId|messageId|sessionId|artifactId|id|name|task_id|context_id|referenceTaskIds|` +
	`pageToken|nextPageToken)"\s*:\s*\[?\s*"([^"]*)"|/tasks/([^/:? ]+)`)

// namesIn returns what an exchange names, but for the id of JSON-RPC.
func namesIn(x *capture.Exchange) map[string]bool {
	set := make(map[string]bool)
	texts := []string{string(x.Request.Head), string(x.Request.Body.Data), string(x.Response.Body.Data)}
	head := capture.ParseRequestHead(x.Request.Head)
	if as := head.GRPCMessage(); as != nil {
		texts[1] = string(as.Read(x.Request.Body.Data).Text)
	}
	for _, e := range x.Response.Events {
		texts = append(texts, string(e.Fields().Data))
	}
	for _, text := range texts {
		for _, m := range names.FindAllStringSubmatch(envelopeID.ReplaceAllString(text, ""), -1) {
			set[m[1]+m[2]] = true
		}
	}
	return set
}

var envelopeID = regexp.MustCompile(`"jsonrpc"\s*:\s*"2.0"\s*,\s*"id"\s*:\s*"[^"]*"`)

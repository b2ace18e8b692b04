package kept_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

// expressions are filters that use each key.
var expressions = []string{
	"n:2", "n:>1", "id:*a*", "time:>=2000-01-01T00:00:00Z", "time:12:00..23:00", "op:SendMessage", "op:message/send", "op:*Task*",
	"op:GetTask or op:GetAgentCard", "method:POST", "method:GET", "path:/", "path:*card*", "host:*", "agent:*", "client:*",
	"link:*->*", "dialect:0.3", "dialect:1.0", "dialect:*", "binding:jsonrpc", "binding:http+json", "task:t*", "task:*", "context:*",
	"context:c1", "message:*", "message:m1", "state:failed", "state:completed", "state:TASK_STATE_WORKING", "state:*", "role:user",
	"role:agent", "event:*", "event:status-update", "event:message", "status:200", "status:4xx", "status:>=500", "code:*",
	"code:-32001", "code:<0", "rule:*", "rule:s*", "severity:error", "severity:note", "side:agent", "side:client", "dur:>1ms", "dur:<1s",
	"gap:>1ms", "gap:<5s", "size:>100", "size:0..10", "size:>1kB", "trace:*", "workflow:1", "workflow:>1", "is:open", "is:cut",
	"is:interrupted", "is:stream", "is:error", "is:push", "is:card", "is:rewritten", "is:marked", "is:replayed", "is:faulted",
	"not (is:error or is:card) state:*", "header:Content-Type=*json* is:stream", "not header:X-Nothing",
}

// endsInside reports whether a stream ends inside an event, which clients discard.
func endsInside(x *capture.Exchange) bool {
	return x.Response != nil && slices.ContainsFunc(x.Response.Events, func(e capture.Event) bool { return e.Unterminated })
}

// Where a row decides whether a filter matches, it decides as the exchange itself does.
func TestRowsDecideAsExchanges(t *testing.T) {
	ctx := context.Background()
	filters := make([]*filter.Filter, len(expressions))
	for i, expr := range expressions {
		var err error
		if filters[i], err = filter.Parse(expr); err != nil {
			t.Fatal(err)
		}
	}
	transcripts(t, func(t *testing.T, src capture.Source) {
		var shelf capture.MemoryShelf
		result, err := engine.Run(ctx, rules.All, src, nil)
		if err != nil {
			t.Fatal(err)
		}
		links, err := workflow.Read(ctx, src)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := kept.Judge(ctx, rules.All, src, shelf.Put, nil); err != nil {
			t.Fatal(err)
		}
		r, err := kept.Open(ctx, &shelf, rules.All)
		if err != nil {
			t.Fatal(err)
		}
		reader := &reading.Reader{}
		for x, err := range src.Exchanges(ctx, 1) {
			if err != nil {
				t.Fatal(err)
			}
			reader.Read(x)
		}
		for x, err := range src.Exchanges(ctx, 1) {
			if err != nil {
				t.Fatal(err)
			}
			facts := reading.Facts{Reading: reader.Read(x), Workflow: links.Of(x.Seq).Workflow}
			for _, f := range result.Findings {
				if f.Place.Exchange == x.Seq {
					facts.Findings = append(facts.Findings, f)
				}
			}
			row, err := r.Row(ctx, x.Seq)
			if err != nil || row == nil {
				t.Fatal(x.Seq, row, err)
			}
			// In its order the engine knows more than whoever reads exchanges one by one: what a notification tells, and
			// what is spoken at an address.
			if call := &facts.Reading.Call; row.Operation == a2a.Webhook || row.Binding != call.Binding ||
				row.Operation != call.Operation || row.Dialects != facts.Dialects || endsInside(x) {
				continue
			}
			for i, f := range filters {
				match, certain := kept.Facts{Row: row, Workflow: facts.Workflow}.Decide(f)
				if want := f.Match(x, facts); certain && match != want || !certain && f.Certain() {
					t.Errorf("exchange %d, %s: row says %v (certain %v), exchange %v: %s", x.Seq, expressions[i], match, certain,
						want, fmt.Sprintf("%q %q %v", row.Asked, row.OutcomeText(), row.Types))
				}
			}
		}
	})
}

package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/must"
)

// expressions are filters that use each key.
var expressions = []string{
	"n:2", "n:>1", "id:*a*", "time:>=2000-01-01T00:00:00Z", "time:12:00..23:00", "op:SendMessage", "op:message/send", "op:*Task*",
	"op:GetTask or op:GetAgentCard", "method:POST", "method:GET", "path:/", "path:*card*", "host:*", "agent:*", "client:*",
	"link:*->*", "dialect:0.3", "dialect:1.0", "dialect:*", "binding:jsonrpc", "binding:http+json", "task:t*", "task:*", "context:*",
	"context:c1", "message:*", "message:m1", "state:failed", "state:completed", "state:TASK_STATE_WORKING", "state:*", "role:user",
	"role:agent", "event:*", "event:status-update", "event:message", "status:200", "status:4xx", "status:>=500", "code:*",
	"code:-32001", "code:<0", "code:NOT_FOUND", "code:UN*", "rule:*", "rule:s*", "severity:error", "severity:note", "side:agent", "side:client", "dur:>1ms", "dur:<1s",
	"gap:>1ms", "gap:<5s", "size:>100", "size:0..10", "size:>1kB", "trace:*", "workflow:1", "workflow:>1", "is:open", "is:cut",
	"is:interrupted", "is:stream", "is:error", "is:failed", "is:push", "is:card", "is:rewritten", "is:marked", "is:replayed", "is:faulted",
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
		result := must.Get(engine.Run(ctx, rules.All, src, nil))(t)
		links := must.Get(workflow.Read(ctx, src))(t)
		if _, _, err := snapshot.Judge(ctx, rules.All, src, shelf.Put, nil); err != nil {
			t.Fatal(err)
		}
		r := must.Get(snapshot.Open(ctx, &shelf, rules.All))(t)
		reader := &reading.Reader{}
		for x, err := range src.Exchanges(ctx, 1) {
			must.Do(t, err)
			reader.Read(x)
		}
		for x, err := range src.Exchanges(ctx, 1) {
			must.Do(t, err)
			sum := engine.Summarize(x, engine.Knowing(reader.Known))
			facts := reading.Facts{Reading: reader.Read(x), Workflow: links.Of(x.Seq).Workflow, Failed: sum.Failed()}
			for _, f := range result.Findings {
				if f.Place.Exchange == x.Seq {
					facts.Findings = append(facts.Findings, f)
				}
			}
			row, err := r.Row(ctx, x.Seq)
			if err != nil || row == nil {
				t.Fatal(x.Seq, row, err)
			}
			// The engine reads exchanges in order, so it knows more than a reader of single exchanges: which task a
			// notification is about, and the dialect at an address.
			if call := &facts.Reading.Call; row.Operation == a2a.Webhook || row.Binding != call.Binding ||
				row.Operation != call.Operation || row.Dialects != facts.Dialects || endsInside(x) {
				continue
			}
			for i, f := range filters {
				match, certain := snapshot.Facts{Row: row, Workflow: facts.Workflow}.Decide(f)
				if want := f.Match(x, facts); certain && match != want || !certain && f.Certain() {
					t.Errorf("exchange %d, %s: row says %v (certain %v), exchange %v: %s", x.Seq, expressions[i], match, certain,
						want, fmt.Sprintf("%q %q %v", row.Asked, row.OutcomeText(), row.Types))
				}
			}
		}
	})
}

// What a filter that asks for findings matches is known without the rows, and is what they say.
func TestMatchingByFindings(t *testing.T) {
	ctx := context.Background()
	filters := make(map[string]*filter.Filter)
	for _, expr := range []string{
		"rule:*", "severity:error", "severity:note", "side:agent", "side:client", "not severity:error", "not rule:*",
		"severity:error side:client", "rule:s* not severity:note", "rule:a* or rule:s*", "not (side:agent or side:client)",
	} {
		f := must.Get(filter.Parse(expr))(t)
		filters[expr] = f
	}
	matched, replaced := 0, 0
	transcripts(t, func(t *testing.T, src capture.Source) {
		var shelf capture.MemoryShelf
		if _, _, err := snapshot.Judge(ctx, rules.All, src, shelf.Put, []byte("mark")); err != nil {
			t.Fatal(err)
		}
		for _, err := range shelf.KeptRange(ctx, []byte{'g'}, []byte{'g' + 1}) {
			must.Do(t, err)
			replaced++
		}
		r := must.Get(snapshot.Open(ctx, &shelf, rules.All))(t)
		blind := must.Get(snapshot.Open(ctx, rowless{&shelf}, rules.All))(t)
		for expr, f := range filters {
			var want []uint64
			for row, err := range r.Rows(ctx, 1) {
				must.Do(t, err)
				if match, _ := (snapshot.Facts{Row: row}).Decide(f); match {
					want = append(want, row.Seq)
				}
			}
			got, known, err := blind.Matching(ctx, f)
			if head := r.Head(); !known && err == nil && head.Rows != head.Last && strings.HasPrefix(expr, "not ") {
				continue // a number is missing, and has no findings
			}
			if diff := cmp.Diff(want, got); diff != "" || !known || err != nil {
				t.Errorf("%s (known: %v, %v), -as rows say +got:\n%s", expr, known, err, diff)
			}
			matched += len(got)
		}
	})
	if matched == 0 || replaced == 0 {
		t.Errorf("%d exchanges matched, and %d findings were replaced; want some of each", matched, replaced)
	}
}

// rowless is a shelf of which no row and no finding may be read.
type rowless struct{ capture.Shelf }

func (s rowless) Kept(ctx context.Context, keys ...[]byte) ([][]byte, error) {
	for _, key := range keys {
		if bytes.ContainsAny(key[:1], "spfg") {
			return nil, fmt.Errorf("%q is read", key)
		}
	}
	return s.Shelf.Kept(ctx, keys...)
}

func (s rowless) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[capture.Entry, error] {
	if bytes.ContainsAny(from[:1], "spfg") {
		return func(yield func(capture.Entry, error) bool) { yield(capture.Entry{}, fmt.Errorf("%q is read", from)) }
	}
	return s.Shelf.KeptRange(ctx, from, to)
}

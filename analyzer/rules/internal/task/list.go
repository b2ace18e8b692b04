package task

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/page"
	"a2atap/proxy/a2a"
)

// List is the family of rules about pages of tasks.
var List = rule.Family{
	Name:     "list",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("3.1.4", a2a.V1_0),
	If:       analysis.OfTasks,
}.Of(
	listNextTokenPresent,
	listLastPageToken,
	listPageTokenIgnored,
	listRequiredFields,
	listPageLimit,
	listPageSizeEcho,
	listTotalSize,
)

var listNextTokenPresent = &analysis.Rule{
	ID:       "list-next-token-present",
	Title:    "page of tasks without nextPageToken",
	Level:    analysis.Must,
	Bindings: rule.OnJSONCall,
	Covers:   []string{"list-required-fields"},
	Stands:   "1.0.1:246",
	Doc: `Every page says where the next one begins; the last page says "". Without the member a client cannot tell
the end of the list from an agent that does not support pages.`,
	Fix: `Write nextPageToken into every page, and "" into the last one. Protocol buffer printers omit empty fields
unless configured otherwise.`,
	Silent: `The name next_page_token, which another rule reports.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		if !ok {
			return
		}
		p.Applied()
		if token := rule.Member(page, "nextPageToken", "next_page_token"); !rule.Given(token) {
			p.Report(p.Place.At(valueOrHolder(token, page).Pointer()), rule.QuoteMember("nextPageToken", token),
				`expected a text, "" on the last page`)
		}
	},
}

// pageOf returns the page of tasks that an answer is.
func pageOf(p *analysis.Pass) (a2a.Value, bool) {
	x := p.Exchange
	if x.Call.Operation != a2a.ListTasks || p.Answer == nil || p.Answer.Err != nil || !rule.Succeeded(x.Response.Status) {
		return a2a.Value{}, false
	}
	page := p.Answer.Payload.Value
	return page, page.Kind() == a2a.Object
}

// valueOrHolder returns a value, or the object that lacks it.
func valueOrHolder(v, holder a2a.Value) a2a.Value {
	if v.Exists() {
		return v
	}
	return holder
}

var listLastPageToken = &analysis.Rule{
	ID:     "list-last-page-token",
	Title:  "nextPageToken although all tasks are on the page",
	Level:  analysis.Must,
	Stands: "1.0.1:246",
	Doc: `On the last page nextPageToken is "". A client that gets a token asks for another page; if the agent always
sends one, the client never stops.`,
	Fix: `Return a token only if there are tasks after the page: query one task more than the page holds.`,
	Silent: `Answers to a request with a pageToken, and pages without totalSize, which do not show how many tasks
remain.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		total, known := page.Get("totalSize").Int()
		if !ok || !known || p.Exchange.Call.PageToken != "" {
			return
		}
		p.Applied()
		token := rule.Member(page, "nextPageToken", "next_page_token")
		if n := page.Get("tasks").Len(); int64(n) == total && token.Text() != "" {
			p.Report(p.Place.At(token.Pointer()),
				fmt.Sprintf("nextPageToken is %s on a page with all %d tasks", analysis.Quote(token), n), `expected ""`)
		}
	},
}

var listPageTokenIgnored = &analysis.Rule{
	ID:     "list-page-token-ignored",
	Title:  "pageToken leads to the same page again",
	Level:  analysis.Must,
	Once:   analysis.PerEndpoint,
	Needs:  []*analysis.Tracker{page.Tracker},
	Covers: []string{"list-sorted"},
	Stands: "1.0.1:proto:688",
	Doc: `A pageToken asks for the page after the one that returned it. This agent answers with the same page and the
same token. A client that reads to the last page never reaches it, and sees only the first one.`,
	Fix: `Read pageToken (from params over JSON-RPC, from the query over HTTP+JSON), and begin after the last task of
the page that returned it.`,
	Silent: `Pages with other tasks, in another order, or with another token: tasks may change between two requests.
Empty pages, and tokens from before the recording. Only the first such page per endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		list, ok := pageOf(p)
		if !ok || p.Exchange.Call.PageToken == "" {
			return
		}
		p.Applied()
		if page.Of(p).Repeated(p.Exchange, &p.Answer.Payload) {
			token := rule.Member(list, "nextPageToken", "next_page_token")
			p.Report(p.Place.At(token.Pointer()),
				"the page has the tasks of the one before, and nextPageToken is "+analysis.Quote(token)+", the same as pageToken",
				"expected the next page")
		}
	},
}

var listRequiredFields = &analysis.Rule{
	ID:       "list-required-fields",
	Title:    "page of tasks is not complete",
	Level:    analysis.Must,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("5.7", a2a.V1_0),
	Stands:   "1.0.1:1263",
	Doc: `A page has its tasks, its size, and the total number of tasks. Clients that show "page 2 of 7" or go through
all tasks need all three.`,
	Fix: `Write tasks, pageSize and totalSize into every page, even if the list is empty or the number is 0.`,
	Silent: `An empty list or a 0 that was left out, as protocol buffer printers do, is a warning. nextPageToken is
covered by another rule.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		if !ok {
			return
		}
		p.Applied()
		tasks := page.Get("tasks")
		var missing []string
		worst := analysis.Warning
		if total, _ := rule.Member(page, "totalSize", "total_size").Int(); !rule.Given(tasks) {
			missing = append(missing, "tasks")
			if total > 0 && p.Exchange.Call.PageToken == "" {
				worst = analysis.Error
			}
		}
		for _, name := range [...][2]string{{"pageSize", "page_size"}, {"totalSize", "total_size"}} {
			if rule.Given(rule.Member(page, name[0], name[1])) {
				continue
			}
			missing = append(missing, name[0])
			if tasks.Len() > 0 {
				worst = analysis.Error
			}
		}
		if len(missing) > 0 {
			p.Report(p.Place.At(page.Pointer()), "the page lacks "+strings.Join(missing, ", "),
				"expected tasks, pageSize and totalSize", analysis.AtMost(worst))
		}
	},
}

var listPageLimit = &analysis.Rule{
	ID:     "list-page-limit",
	Title:  "page has more tasks than requested",
	Level:  analysis.Must,
	Stands: "1.0.1:proto:683",
	Doc: `A page has at most pageSize tasks: 50 if the client does not set it, and never more than 100. Clients
reserve room for that many, and may drop the rest.`,
	Fix:    `Cut the page, and return a nextPageToken for the rest.`,
	Silent: `A pageSize outside 1 to 100 is the client's fault; then only the limit of 100 is checked.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		tasks := page.Get("tasks")
		if !ok || tasks.Kind() != a2a.Array {
			return
		}
		p.Applied()
		limit, why := int64(100), "in any case"
		switch n, stated := requestedSize(p); {
		case stated && n >= 1 && n <= 100:
			limit, why = n, "as pageSize asks"
		case !stated:
			limit, why = 50, "without pageSize"
		}
		if n := tasks.Len(); int64(n) > limit {
			p.Report(p.Place.At(tasks.Pointer()), fmt.Sprintf("the page has %d tasks", n),
				"expected at most "+strconv.FormatInt(limit, 10)+" "+why)
		}
	},
}

// requestedSize returns the requested page size, or 0 if it is invalid or ambiguous, and whether the request states a
// size.
func requestedSize(p *analysis.Pass) (n int64, stated bool) {
	n, _, ok := pageSize(p)
	if ok {
		return n, true
	}
	_, inQuery := p.Exchange.Call.QueryValue("pageSize")
	return 0, inQuery || rule.Given(rule.Member(p.Exchange.Call.Params, "pageSize", "page_size"))
}

// sizeIn returns a number of a page, and whether it exists. The finding is about the member, or about the page if the
// member is missing: over gRPC a missing number is 0.
func sizeIn(p *analysis.Pass, page a2a.Value, name string) (about a2a.Value, n int64, known bool) {
	v := page.Get(name)
	if !v.Exists() && p.Exchange.Call.Binding == a2a.GRPC {
		return page, 0, true
	}
	n, known = v.Int()
	return v, n, known
}

var listPageSizeEcho = &analysis.Rule{
	ID:     "list-page-size-echo",
	Title:  "pageSize of a page is not its size",
	Level:  analysis.Should,
	Stands: "1.0.1:proto:708",
	Doc: `pageSize in the answer is the size of the agent's pages: at least the number of tasks on this page, and no
larger than requested. Clients use it to calculate the number of pages.`,
	Fix: `Write the page size that you use: the requested one, or your own if it is smaller.`,
	Silent: `Answers without pageSize, requests for a size outside 1 to 100, and pages with more tasks than requested,
which other rules cover.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		size, n, known := sizeIn(p, page, "pageSize")
		if !ok || !known {
			return
		}
		p.Applied()
		held := int64(page.Get("tasks").Len())
		asked, _ := requestedSize(p)
		inRange := asked >= 1 && asked <= 100
		switch {
		case inRange && held > asked:
		case n > math.MaxInt32:
			p.Report(p.Place.At(size.Pointer()), "pageSize is "+numberText(n), "expected no more than "+maxNumber)
		case n < held:
			p.Report(p.Place.At(size.Pointer()), fmt.Sprintf("pageSize is %d on a page with %d tasks", n, held),
				"expected no less than the page holds")
		case inRange && n > asked:
			p.Report(p.Place.At(size.Pointer()), fmt.Sprintf("pageSize is %d, and the client asked for %d", n, asked),
				"expected no more than requested")
		}
	},
}

var listTotalSize = &analysis.Rule{
	ID:     "list-total-size",
	Title:  "totalSize is smaller than the page",
	Level:  analysis.Must,
	Stands: "1.0.1:proto:710",
	Doc: `totalSize is the number of tasks that match the request, on all pages together. One page cannot hold more
than that.`,
	Fix:    `Count the tasks that pass the filters before you split them into pages.`,
	Silent: `Pages without totalSize, which another rule reports. The upper limit of each number is 2147483647.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		total, n, known := sizeIn(p, page, "totalSize")
		if !ok || !known {
			return
		}
		p.Applied()
		if n > math.MaxInt32 {
			p.Report(p.Place.At(total.Pointer()), "totalSize is "+numberText(n), "expected no more than "+maxNumber)
		}
		if held := page.Get("tasks").Len(); n < int64(held) {
			p.Report(p.Place.At(total.Pointer()), fmt.Sprintf("totalSize is %d on a page with %d tasks", n, held),
				"expected no less than the page holds")
		}
	},
}

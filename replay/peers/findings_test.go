package peers

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A confirmation is a finding that a reading of the recorded traffic confirms.
type confirmation struct {
	pairs   string // patterns as path.Match knows them, with blanks between, for the pairs in whose traffic it is found
	finding string // a line of summarise
	reason  string // what is in the traffic, and what should be there
}

// confirmed are all findings in the traffic of the SDKs. A finding that is not here is a false alarm until a reading of
// the traffic and of the specification says otherwise.
var confirmed = []confirmation{
	{
		"*-go2-* *-go2hybrid-* *-py1-*",
		"warning agent card-cache-control response.header[Cache-Control]: GetAgentCard*1",
		"the 1.0 card has no Cache-Control; 1.0 section 8.6.1 recommends max-age",
	},
	{
		"*-go2-* *-go2hybrid-*",
		"warning agent card-etag response.header[ETag]: GetAgentCard*1",
		"the 1.0 card has no ETag",
	},
	{
		"go03-go03-jsonrpc go2legacy-go03-* js03-go03-jsonrpc py03-go03-jsonrpc java03-go03-jsonrpc",
		"error agent rpc-response-content-type response.header[Content-Type]: SendMessage*1", // the first of all answers
		"the agent sets no Content-Type, so its HTTP server guesses text/plain for every JSON-RPC answer; 0.3 section 3.2.1 requires application/json",
	},
	{
		"go03-go2hybrid-* go2legacy-go2hybrid-jsonrpc js03-go2hybrid-* py03-go2hybrid-* java03-go2hybrid-*",
		"error agent rpc-response-content-type response.header[Content-Type]: GetTask",
		"the 0.3 side of the agent labels JSON-RPC errors (the first is for an unknown task) text/plain, and successes correctly; 0.3 section 3.2.1",
	},
	{
		"go03-go2hybrid-* go2legacy-go2hybrid-jsonrpc js03-go2hybrid-* java03-go2hybrid-*",
		"error agent rpc-result-null response.body#/result: ListTaskPushNotificationConfigs*1",
		`when the last configuration of a task was deleted, the 0.3 side of the agent answers a list of them with "result":null; 0.3 section 7.7 returns an array`,
	},
	{
		"go03-go03-jsonrpc go2legacy-go03-* js03-go03-jsonrpc java03-go03-jsonrpc",
		"error agent rpc-result-xor-error response.body#: DeleteTaskPushNotificationConfig*1",
		`the answer is {"jsonrpc":"2.0","id":…} and nothing else; JSON-RPC 2.0 section 5 requires a result, which is null in 0.3`,
	},
	{
		"go2-go2-jsonrpc js1-go2-jsonrpc py1-go2-jsonrpc",
		"error agent rpc-result-xor-error response.body#: DeleteTaskPushNotificationConfig*1",
		"the same answer in 1.0, where JSON-RPC requires a result too",
	},
	{
		"go2-go2hybrid-jsonrpc go03-go2hybrid-* go2legacy-go2hybrid-jsonrpc js03-go2hybrid-* java03-go2hybrid-*",
		"error agent rpc-result-xor-error response.body#: DeleteTaskPushNotificationConfig*1",
		"the same answer on either side of the agent",
	},
	{
		"go03-py03-jsonrpc go2legacy-py03-* js03-py03-jsonrpc java03-py03-jsonrpc",
		"error agent rpc-result-xor-error response.body#: DeleteTaskPushNotificationConfig*1",
		`the answer is {"id":…,"jsonrpc":"2.0"}: the null result is omitted, like every unset member`,
	},
	{
		"go2-go2-rest go2-js1-rest go2-py1-rest",
		"error client rest-body-object request.body#: CancelTask*2",
		"the client posts null where it has no metadata; 1.0 section 11.4 requires the request object; no body would also be valid",
	},
	{
		"go2legacy-go2hybrid-rest go2-js1-rest",
		"error client rest-route-known request.line: *1",
		"the client omits the id of the config from the path: DELETE …/pushNotificationConfigs/, answered with 404",
	},
	{
		"go2-go2-jsonrpc go2-go2hybrid-jsonrpc js1-go2-jsonrpc py1-go2-jsonrpc",
		"warning agent msg-context-on-server-message response.body#/result/message: SendMessage*1",
		"the agent's message has only messageId, role and parts; by the comment in the proto file of 1.0, section 4.1.4, it should name the context",
	},
	{
		"go2-go2-rest js1-go2-rest py1-go2-rest",
		"warning agent msg-context-on-server-message response.body#/message: SendMessage*1",
		"the same over HTTP+JSON",
	},
	{
		"*-go2-grpc",
		"warning agent msg-context-on-server-message response.message[1]#/message: SendMessage*1",
		"the same over gRPC",
	},
	{
		"go2-*-grpc",
		"error client req-page-size request.body#/pageSize: ListTasks*1",
		"without a page size, the client sends page_size 0, which is outside 1 to 100; over JSON-RPC it omits the member",
	},
	{
		"go03-py03-grpc go03-java03-grpc",
		"error client req-push-delete-id request.body#/name: DeleteTaskPushNotificationConfig*1",
		"the client has no id of the config, and sends tasks/TASK/pushNotificationConfigs/ without one",
	},
	{
		"go2-js1-grpc go2-py1-grpc",
		"note agent rpc-errorinfo-reason response.header[grpc-status-details-bin]#/details/0/reason: ListTasks*1",
		"the agent refuses that page_size with the reason INVALID_PARAMS under A2A's domain, which does not define it",
	},
	{
		"go2legacy-go2hybrid-rest",
		"warning client rest-v1-prefix request.line: SendMessage*1",
		"the client omits the /v1 of 0.3 section 3.5.6: POST /v0/rest/message:send, which the agent accepts",
	},
	{
		"go2legacy-go2hybrid-rest",
		"error client json-camelcase request.body#/message/message_id: SendMessage*9 SendStreamingMessage*3",
		"both ends use the names of the proto file in HTTP+JSON of 0.3; section 3.2.3 requires camelCase",
	},
	{
		"go2legacy-go2hybrid-rest",
		"error client json-camelcase request.body#/message/context_id: SendMessage*2",
		"as above, where the context comes first",
	},
	{
		"go2legacy-go2hybrid-rest",
		"error client json-camelcase request.body#/push_notification_config: CreateTaskPushNotificationConfig*1",
		"as above",
	},
	{
		"go2legacy-go2hybrid-rest",
		"error agent json-camelcase response.body#/context_id: SendMessage*7 GetTask CancelTask*1",
		"as above, in tasks",
	},
	{
		"go2legacy-go2hybrid-rest",
		"error agent json-camelcase response.body#/message_id: SendMessage*4",
		"as above, in messages",
	},
	{
		"go2legacy-go2hybrid-rest",
		"error agent json-camelcase response.event[1]#/context_id: SendStreamingMessage*3",
		"as above, in events",
	},
	{
		"js03-js03-rest py03-js03-rest java03-js03-rest",
		"note agent rest-success-status response.status: SendMessage*11 CancelTask*1",
		"the agent answers 201 to a send and 202 to a cancel; 0.3 section 3.2.3 leaves the code open",
	},
}

// confirmedFor returns the findings that are confirmed for the pair.
func confirmedFor(pair Pair) (lines []string) {
	for _, c := range slices.Concat(confirmed, confirmedWild) {
		if c.matches(pair) {
			lines = append(lines, c.finding)
		}
	}
	slices.Sort(lines)
	return lines
}

func (c confirmation) matches(pair Pair) bool {
	for pattern := range strings.FieldsSeq(c.pairs) {
		if match, _ := path.Match(pattern, pair.String()); match { // of its errors TestConfirmed knows
			return true
		}
	}
	return false
}

// checkFindings demands exactly the findings that are confirmed for the pair.
func checkFindings(t *testing.T, pair Pair, found []analysis.Finding) {
	t.Helper()
	compareFindings(t, pair, confirmedFor(pair), found)
}

func compareFindings(t *testing.T, pair Pair, want []string, found []analysis.Finding) {
	t.Helper()
	diff := cmp.Diff(want, summarise(found), cmpopts.EquateEmpty())
	if diff == "" {
		return
	}
	t.Errorf("findings (-confirmed +got):\n%s", diff)
	for _, line := range summarise(found) { // whole, to be copied from here
		t.Logf("%s: %s", pair, line)
	}
	for i := range found {
		t.Logf("%s", &found[i])
	}
}

// summarise writes one line for each rule and place: severity, side, slug, place, then the operations of the affected
// exchanges, each with a count. The number of the script's polls varies, so GetTask has no count.
func summarise(found []analysis.Finding) (lines []string) {
	counts := map[string]map[a2a.Operation]int{}
	for i := range found {
		f := &found[i]
		_, place, _ := strings.Cut(f.Place.String(), ".")
		key := fmt.Sprintf("%s %s %s %s", f.Severity, f.Side, f.Rule.ID, place)
		if counts[key] == nil {
			counts[key] = map[a2a.Operation]int{}
		}
		counts[key][f.Operation]++
	}
	for key, operations := range counts {
		line := key + ":"
		for _, op := range slices.Sorted(maps.Keys(operations)) {
			line += " " + op.String()
			if op != a2a.GetTask {
				line += fmt.Sprintf("*%d", operations[op])
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

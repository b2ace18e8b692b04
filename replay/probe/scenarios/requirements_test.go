package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
)

// requirements are the requirements of the A2A technology compatibility kit for 1.0.
const requirements = `
AUTH-INTASK-001 AUTH-INTASK-002 AUTH-INTASK-003 AUTH-INTASK-004 AUTH-INTASK-005 AUTH-INTASK-006
AUTH-SCOPE-001 AUTH-SCOPE-002 AUTH-SCOPE-003 AUTH-SERVER-001 AUTH-SERVER-002 AUTH-TLS-001 AUTH-TLS-002
BIND-EQUIV-001 BIND-EQUIV-002 BIND-EQUIV-003 BIND-EQUIV-004 BIND-FIELD-001 CARD-CACHE-001 CARD-CACHE-002
CARD-CACHE-003 CARD-DISC-001 CARD-EXT-001 CARD-EXT-002 CARD-PROTO-001 CARD-PROTO-002 CARD-SIGN-001
CARD-SIGN-002 CARD-SIGN-003 CARD-SIGN-004 CARD-STRUCT-001 CORE-CANCEL-001 CORE-CANCEL-002 CORE-CANCEL-003
CORE-CAP-001 CORE-CAP-002 CORE-CAP-003 CORE-CAP-004 CORE-ERR-001 CORE-ERR-002 CORE-EXECUTION-MODE-001
CORE-EXECUTION-MODE-002 CORE-GET-001 CORE-GET-002 CORE-HIST-001 CORE-HIST-002 CORE-HIST-003 CORE-HIST-004
CORE-HIST-005 CORE-HIST-006 CORE-LIST-001 CORE-LIST-002 CORE-LIST-003 CORE-LIST-004 CORE-LIST-005
CORE-MULTI-001 CORE-MULTI-001a CORE-MULTI-002 CORE-MULTI-002a CORE-MULTI-003 CORE-MULTI-004 CORE-MULTI-005
CORE-MULTI-006 CORE-SEND-001 CORE-SEND-002 CORE-SEND-003 CORE-STREAM-001 CORE-STREAM-002 CORE-STREAM-003
DM-ART-001 DM-MSG-001 DM-MSG-002 DM-PART-001 DM-SERIAL-001 DM-SERIAL-002 DM-SERIAL-003 DM-SERIAL-004
DM-SERIAL-005 DM-STATUS-001 DM-TASK-001 DM-TASK-002 GRPC-ERR-001 GRPC-ERR-002 GRPC-ERR-003 GRPC-META-001
GRPC-SVC-001 GRPC-SVC-002 GRPC-SVC-003 HTTP_JSON-ERR-001 HTTP_JSON-ERR-002 HTTP_JSON-QP-001 HTTP_JSON-SSE-001
HTTP_JSON-STATUS-001 HTTP_JSON-SVC-001 HTTP_JSON-SVC-002 HTTP_JSON-URL-001 HTTP_JSON-URL-002 JSONRPC-ERR-001
JSONRPC-ERR-002 JSONRPC-ERR-003 JSONRPC-FMT-001 JSONRPC-FMT-002 JSONRPC-SSE-001 JSONRPC-SSE-002
JSONRPC-SVC-001 JSONRPC-SVC-002 PUSH-CREATE-001 PUSH-CREATE-002 PUSH-DEL-001 PUSH-DEL-002 PUSH-DELIVER-001
PUSH-DELIVER-002 PUSH-DELIVER-003 PUSH-GET-001 PUSH-GET-002 PUSH-LIST-001 STREAM-ORDER-001 STREAM-ORDER-002
STREAM-ORDER-003 STREAM-ORDER-004 STREAM-SUB-001 STREAM-SUB-002 STREAM-SUB-003 STREAM-SUB-004 VER-CLIENT-001
VER-CLIENT-002 VER-SERVER-001 VER-SERVER-002 VER-SERVER-003
`

// byRules are requirements that rules check in all traffic, including the traffic of scenarios.
var byRules = map[string]string{
	"CARD-PROTO-001":   "card-interfaces-nonempty",
	"CARD-PROTO-002":   "card-required-nested",
	"CARD-STRUCT-001":  "card-required-fields",
	"CARD-SIGN-001":    "card-signature-valid",
	"CARD-SIGN-002":    "card-signature-valid",
	"CARD-SIGN-003":    "card-signature-header",
	"CARD-CACHE-001":   "card-cache-control",
	"CARD-CACHE-002":   "card-etag",
	"AUTH-TLS-001":     "transport-https",
	"AUTH-INTASK-005":  "auth-required-stream-kept",
	"DM-TASK-001":      "task-id-present",
	"DM-TASK-002":      "task-state-enum",
	"DM-STATUS-001":    "task-status-present",
	"DM-SERIAL-001":    "json-camelcase",
	"DM-SERIAL-002":    "enum-name-string",
	"DM-SERIAL-003":    "timestamp-utc-z",
	"DM-SERIAL-004":    "msg-id-present",
	"PUSH-DELIVER-001": "hook-auth",
	"PUSH-DELIVER-002": "hook-attempted",
	"PUSH-DELIVER-003": "hook-payload",
	"BIND-FIELD-001":   "req-interface-url",
	"VER-CLIENT-001":   "ver-header-present",
	"VER-SERVER-001":   "ver-semantics",
}

func TestEveryRequirementIsCovered(t *testing.T) {
	t.Parallel()
	ids := strings.Fields(requirements)
	if len(ids) != 129 {
		t.Fatalf("%d requirements", len(ids))
	}
	tagged := map[string]bool{}
	for _, s := range scenarios.All() {
		for _, tag := range s.Tags {
			tagged[tag] = true
		}
	}
	for id, rule := range byRules {
		if rules.ByID(rule) == nil {
			t.Errorf("%s: no rule %s", id, rule)
		}
	}
	for _, id := range ids {
		ways := 0
		for _, covered := range []bool{
			tagged[id], byRules[id] != "",
			slices.ContainsFunc(scenarios.Unaskeds(), func(u scenarios.Unasked) bool { return u.ID == id && u.Why != "" }),
		} {
			if covered {
				ways++
			}
		}
		if ways == 0 {
			t.Errorf("no scenario and no rule for %s, and no reason why", id)
		}
	}
}

func TestEveryProbeIsAsked(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 57; n++ {
		id := fmt.Sprintf("A%d", n)
		asked := slices.ContainsFunc(scenarios.All(), func(s *probe.Scenario) bool { return slices.Contains(s.Tags, id) })
		excused := slices.ContainsFunc(scenarios.Unaskeds(), func(u scenarios.Unasked) bool { return u.ID == id })
		if asked == excused {
			t.Errorf("%s: asked %v, excused %v", id, asked, excused)
		}
	}
}

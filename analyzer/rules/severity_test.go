package rules_test

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/expect"
)

// The want sections of transcripts do not say how bad a finding is. Most are as bad as their rule; these are milder,
// since the case leaves room for another reading.
func TestLoweredSeverities(t *testing.T) {
	tests := []struct {
		file string
		want []analysis.Severity
	}{
		{"stream/stream-first-event-future", []analysis.Severity{analysis.Note}},
		{"lifecycle/state-terminal-immutable-v03", []analysis.Severity{analysis.Warning}},
		{"lifecycle/state-terminal-immutable", []analysis.Severity{analysis.Error}},
		{"lifecycle/state-terminal-immutable-bindings", []analysis.Severity{analysis.Error}},
		{"rpcrequest/rpc-request-jsonrpc-v01", []analysis.Severity{analysis.Note}},
		{"rpcrequest/rpc-id-null-v01", []analysis.Severity{analysis.Note}},
		{"rpcrequest/rpc-id-missing", []analysis.Severity{analysis.Warning}},
		{"rpcrequest/rpc-id-missing-v02", []analysis.Severity{analysis.Note}},
		{"rpcrequest/rpc-id-missing-v03", []analysis.Severity{analysis.Error}},
		{"rpcerror/rpc-error-message", []analysis.Severity{analysis.Error, analysis.Warning}},
		{"rpcerror/rpc-error-data-array-own", []analysis.Severity{analysis.Note}},
		{"errorcode/rpc-invalid-request-unfounded-unsure", []analysis.Severity{analysis.Note}},
		{"errorinfo/rpc-errorinfo-domain", []analysis.Severity{analysis.Warning}},
		{"errorinfo/rpc-errorinfo-domain-rest", []analysis.Severity{analysis.Error}},
		{"errorinfo/rpc-errorinfo-reason-own", []analysis.Severity{analysis.Warning}},
		{"errorinfo/rpc-errorinfo-reason-rest", []analysis.Severity{analysis.Note, analysis.Error}},
		{"errorinfo/rpc-validation-detail", []analysis.Severity{analysis.Note}},
		{"jsonrpc/rpc-id-null-unjustified-refused", []analysis.Severity{analysis.Note}},
		{"jsonrpc/rpc-response-jsonrpc-legacy", []analysis.Severity{analysis.Note}},
		{"cancel/state-cancel-terminal-code-cancels", []analysis.Severity{analysis.Error}},
		{"cancel/state-cancel-terminal-code-cannot", []analysis.Severity{analysis.Note}},
		{"rewriting/card-scheme-rewritten", []analysis.Severity{analysis.Warning}},
		{"result/cause-older-objects", []analysis.Severity{analysis.Error}},
		{"auth/auth-error-no-leak", []analysis.Severity{analysis.Note}},
		{"taskauth/auth-required-has-message-more", []analysis.Severity{analysis.Warning, analysis.Error, analysis.Error}},
		{"taskauth/auth-required-stream-kept", []analysis.Severity{analysis.Note}},
		{"dialects/dialect-mismatch-card-path-new", []analysis.Severity{analysis.Warning}},
		{"dialects/dialect-mismatch-card-path-old", []analysis.Severity{analysis.Warning}},
		{"version/ver-interface-match-old", []analysis.Severity{analysis.Note}},
		{"version/ver-interface-match", []analysis.Severity{analysis.Note}},
		{"version/ver-header-format-twice", []analysis.Severity{analysis.Error, analysis.Error, analysis.Note}},
		{"version/ver-unsupported-error-future", []analysis.Severity{analysis.Note, analysis.Error, analysis.Error}},
		{
			"errorinfo/rpc-errorinfo-reason-internal",
			[]analysis.Severity{analysis.Note, analysis.Note, analysis.Warning, analysis.Warning},
		},
		{"extension/ext-required-missing-get", []analysis.Severity{analysis.Note}},
		{"extension/ext-response-echo", []analysis.Severity{analysis.Note}},
		{"extension/ext-uri-version", []analysis.Severity{analysis.Note}},
		{"dialects/dialect-mismatch", []analysis.Severity{analysis.Error}},
		{"dialects/dialect-mismatch-never-no-card", []analysis.Severity{analysis.Note, analysis.Note, analysis.Error}},
		{"dialects/dialect-mismatch-tried", []analysis.Severity{analysis.Note}},
		{"dialects/dialect-mismatch-03-answered-in-10", []analysis.Severity{analysis.Warning}},
		{"outcome/outcome-cut", []analysis.Severity{analysis.Error, analysis.Error, analysis.Error, analysis.Warning}},
		{
			"outcome/outcome-no-protocol",
			[]analysis.Severity{analysis.Error, analysis.Error, analysis.Error, analysis.Note},
		},
		{"cardurl/card-interfaces-nonempty", []analysis.Severity{analysis.Error}},
		{"cardurl/card-interfaces-nonempty-hybrid", []analysis.Severity{analysis.Note}},
		{"cardurl/card-url-https", []analysis.Severity{analysis.Warning}},
		{"cardurl/card-protocol-version-present", []analysis.Severity{analysis.Error}},
		{"cardurl/card-protocol-version-present-path", []analysis.Severity{analysis.Warning}},
		{
			"cardurl/card-protocol-version-format",
			[]analysis.Severity{analysis.Error, analysis.Error, analysis.Error, analysis.Error, analysis.Note},
		},
		{"cardurl/card-preferred-transport", []analysis.Severity{analysis.Warning}},
		{"cardurl/card-transport-conflict", []analysis.Severity{analysis.Warning}},
		{"skill/card-arrays-nonempty-hybrid", []analysis.Severity{analysis.Note}},
		{"skill/card-extension-uri", []analysis.Severity{analysis.Warning}},
		{"skill/card-extension-uri-v03", []analysis.Severity{analysis.Error}},
		{"scheme/card-security-shape-member", []analysis.Severity{analysis.Note}},
		{"oauth/card-oauth-flow-one-none", []analysis.Severity{analysis.Warning}},
		{"oauth/card-oauth-url-v03", []analysis.Severity{analysis.Error, analysis.Note}},
		{"cache/card-cache-control-other", []analysis.Severity{analysis.Note}},
		{"cache/card-cache-control-expires", []analysis.Severity{analysis.Note}},
		{"signature/card-signature-valid", []analysis.Severity{analysis.Error}},
		{"signature/card-signature-valid-early", []analysis.Severity{analysis.Warning}},
		{"signature/card-signature-valid-rotation", []analysis.Severity{analysis.Warning}},
		{"card/card-wellknown-path", []analysis.Severity{analysis.Note}},
		{"http/card-unavailable-later", []analysis.Severity{analysis.Note}},
		{"http/card-unavailable-path", []analysis.Severity{analysis.Note}},
		{"http/rpc-http-post", []analysis.Severity{analysis.Note}},
		{"http/rpc-http-post-get", []analysis.Severity{analysis.Error}},
		{"rpcmethod/rpc-method-dialect", []analysis.Severity{analysis.Note}},
		{"http/nonstream-method-answered-sse", []analysis.Severity{analysis.Warning}},
		{"http/nonstream-method-answered-sse-v03", []analysis.Severity{analysis.Error}},
		{"http/stream-method-answered-json-v03", []analysis.Severity{analysis.Warning}},
		{"rest/rest-verb-extended", []analysis.Severity{analysis.Note}},
		{"rest/rest-route-known-extended", []analysis.Severity{analysis.Note}},
		{"query/rest-query-enum-near", []analysis.Severity{analysis.Note}},
		{"query/rest-query-timestamp-near", []analysis.Severity{analysis.Note}},
		{"restenvelope/rest-error-message", []analysis.Severity{analysis.Error, analysis.Warning}},
		{"restenvelope/rest-error-envelope-problem", []analysis.Severity{analysis.Warning}},
		{"transport/transport-https", []analysis.Severity{analysis.Note}},
		{"request/req-task-id-push", []analysis.Severity{analysis.Warning, analysis.Error}},
		{"request/req-history-length-v03", []analysis.Severity{analysis.Error, analysis.Note}},
		{"registration/req-push-authentication", []analysis.Severity{analysis.Error, analysis.Error, analysis.Note}},
		{"registration/req-push-https", []analysis.Severity{analysis.Warning, analysis.Warning, analysis.Error}},
		{"interface/req-tenant-echo", []analysis.Severity{analysis.Error, analysis.Warning}},
		{"interface/req-tenant-omit", []analysis.Severity{analysis.Warning}},
		{"reference/req-page-token-origin", []analysis.Severity{analysis.Note}},
		{"identity/id-event-echo-v01", []analysis.Severity{analysis.Error, analysis.Note}},
		{"identity/id-task-continued-v03", []analysis.Severity{analysis.Note}},
		{"file/output-mode-accepted", []analysis.Severity{analysis.Warning}},
		{"file/output-mode-accepted-v03", []analysis.Severity{analysis.Note}},
		{"update/event-final-type-missing", []analysis.Severity{analysis.Error}},
		{"update/event-final-type-v025", []analysis.Severity{analysis.Note}},
		{"field/field-null-required-worse", []analysis.Severity{analysis.Note, analysis.Error}},
		{"history/history-max", []analysis.Severity{analysis.Error, analysis.Error, analysis.Warning}},
		{"list/list-required-fields", []analysis.Severity{analysis.Error, analysis.Error}},
		{"list/list-required-fields-near", []analysis.Severity{analysis.Warning}},
		{"filter/list-scope", []analysis.Severity{analysis.Note}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			var got []analysis.Severity
			for _, f := range rulestest.FindingsIn(t, test.file) {
				got = append(got, f.Severity)
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %d findings of severities %v, want %v", len(got), got, test.want)
			}
			for i := range got {
				expect.Equal(t, fmt.Sprintf("finding %d", i+1), test.want[i], got[i])
			}
		})
	}
}

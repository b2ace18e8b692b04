package rules_test

import (
	"testing"

	"a2atap/analyzer"
)

// The want sections of transcripts do not say how bad a finding is. Most are as bad as their rule; these are milder,
// since the case leaves room for another reading.
func TestLoweredSeverities(t *testing.T) {
	tests := []struct {
		file string
		want []analyzer.Severity
	}{
		{"stream/stream-first-event-future", []analyzer.Severity{analyzer.Note}},
		{"lifecycle/state-terminal-immutable-v03", []analyzer.Severity{analyzer.Warning}},
		{"lifecycle/state-terminal-immutable", []analyzer.Severity{analyzer.Error}},
		{"lifecycle/state-terminal-immutable-bindings", []analyzer.Severity{analyzer.Error}},
		{"rpcrequest/rpc-request-jsonrpc-v01", []analyzer.Severity{analyzer.Note}},
		{"rpcrequest/rpc-id-null-v01", []analyzer.Severity{analyzer.Note}},
		{"rpcrequest/rpc-id-missing", []analyzer.Severity{analyzer.Warning}},
		{"rpcrequest/rpc-id-missing-v02", []analyzer.Severity{analyzer.Note}},
		{"rpcrequest/rpc-id-missing-v03", []analyzer.Severity{analyzer.Error}},
		{"rpcerror/rpc-error-message", []analyzer.Severity{analyzer.Error, analyzer.Warning}},
		{"rpcerror/rpc-error-data-array-own", []analyzer.Severity{analyzer.Note}},
		{"errorcode/rpc-invalid-request-unfounded-unsure", []analyzer.Severity{analyzer.Note}},
		{"errorinfo/rpc-errorinfo-domain", []analyzer.Severity{analyzer.Warning}},
		{"errorinfo/rpc-errorinfo-domain-rest", []analyzer.Severity{analyzer.Error}},
		{"errorinfo/rpc-errorinfo-reason-own", []analyzer.Severity{analyzer.Warning}},
		{"errorinfo/rpc-errorinfo-reason-rest", []analyzer.Severity{analyzer.Note, analyzer.Error}},
		{"errorinfo/rpc-validation-detail", []analyzer.Severity{analyzer.Note}},
		{"jsonrpc/rpc-id-null-unjustified-refused", []analyzer.Severity{analyzer.Note}},
		{"jsonrpc/rpc-response-jsonrpc-legacy", []analyzer.Severity{analyzer.Note}},
		{"auth/auth-error-no-leak", []analyzer.Severity{analyzer.Note}},
		{"taskauth/auth-required-has-message-more", []analyzer.Severity{analyzer.Warning, analyzer.Error, analyzer.Error}},
		{"taskauth/auth-required-stream-kept", []analyzer.Severity{analyzer.Note}},
		{"version/ver-interface-match-old", []analyzer.Severity{analyzer.Note}},
		{"version/ver-interface-match", []analyzer.Severity{analyzer.Note}},
		{"version/ver-header-format-twice", []analyzer.Severity{analyzer.Error, analyzer.Error, analyzer.Note}},
		{"version/ver-unsupported-error-future", []analyzer.Severity{analyzer.Note, analyzer.Error, analyzer.Error}},
		{
			"errorinfo/rpc-errorinfo-reason-internal",
			[]analyzer.Severity{analyzer.Note, analyzer.Note, analyzer.Warning, analyzer.Warning},
		},
		{"extension/ext-required-missing-get", []analyzer.Severity{analyzer.Note}},
		{"extension/ext-response-echo", []analyzer.Severity{analyzer.Note}},
		{"extension/ext-uri-version", []analyzer.Severity{analyzer.Note}},
		{"dialects/dialect-mismatch", []analyzer.Severity{analyzer.Error}},
		{"dialects/dialect-mismatch-never-no-card", []analyzer.Severity{analyzer.Note, analyzer.Note, analyzer.Error}},
		{"dialects/dialect-mismatch-tried", []analyzer.Severity{analyzer.Note}},
		{"dialects/dialect-mismatch-03-answered-in-10", []analyzer.Severity{analyzer.Warning}},
		{"outcome/outcome-cut", []analyzer.Severity{analyzer.Error, analyzer.Error, analyzer.Error, analyzer.Warning}},
		{
			"outcome/outcome-no-protocol",
			[]analyzer.Severity{analyzer.Error, analyzer.Error, analyzer.Error, analyzer.Note},
		},
		{"cardurl/card-interfaces-nonempty", []analyzer.Severity{analyzer.Error}},
		{"cardurl/card-interfaces-nonempty-hybrid", []analyzer.Severity{analyzer.Note}},
		{"cardurl/card-url-https", []analyzer.Severity{analyzer.Warning}},
		{"cardurl/card-protocol-version-present", []analyzer.Severity{analyzer.Error}},
		{"cardurl/card-protocol-version-present-path", []analyzer.Severity{analyzer.Warning}},
		{
			"cardurl/card-protocol-version-format",
			[]analyzer.Severity{analyzer.Error, analyzer.Error, analyzer.Error, analyzer.Error, analyzer.Note},
		},
		{"cardurl/card-preferred-transport", []analyzer.Severity{analyzer.Warning}},
		{"cardurl/card-transport-conflict", []analyzer.Severity{analyzer.Warning}},
		{"skill/card-arrays-nonempty-hybrid", []analyzer.Severity{analyzer.Note}},
		{"skill/card-extension-uri", []analyzer.Severity{analyzer.Warning}},
		{"skill/card-extension-uri-v03", []analyzer.Severity{analyzer.Error}},
		{"scheme/card-security-shape-member", []analyzer.Severity{analyzer.Note}},
		{"oauth/card-oauth-flow-one-none", []analyzer.Severity{analyzer.Warning}},
		{"oauth/card-oauth-url-v03", []analyzer.Severity{analyzer.Error, analyzer.Note}},
		{"cache/card-cache-control-other", []analyzer.Severity{analyzer.Note}},
		{"cache/card-cache-control-expires", []analyzer.Severity{analyzer.Note}},
		{"signature/card-signature-valid", []analyzer.Severity{analyzer.Error}},
		{"signature/card-signature-valid-early", []analyzer.Severity{analyzer.Warning}},
		{"signature/card-signature-valid-rotation", []analyzer.Severity{analyzer.Warning}},
		{"card/card-wellknown-path", []analyzer.Severity{analyzer.Note}},
		{"http/card-unavailable-later", []analyzer.Severity{analyzer.Note}},
		{"http/card-unavailable-path", []analyzer.Severity{analyzer.Note}},
		{"http/rpc-http-post", []analyzer.Severity{analyzer.Note}},
		{"http/rpc-http-post-get", []analyzer.Severity{analyzer.Error}},
		{"rpcmethod/rpc-method-dialect", []analyzer.Severity{analyzer.Note}},
		{"http/nonstream-method-answered-sse", []analyzer.Severity{analyzer.Warning}},
		{"http/nonstream-method-answered-sse-v03", []analyzer.Severity{analyzer.Error}},
		{"http/stream-method-answered-json-v03", []analyzer.Severity{analyzer.Warning}},
		{"rest/rest-verb-extended", []analyzer.Severity{analyzer.Note}},
		{"rest/rest-route-known-extended", []analyzer.Severity{analyzer.Note}},
		{"query/rest-query-enum-near", []analyzer.Severity{analyzer.Note}},
		{"query/rest-query-timestamp-near", []analyzer.Severity{analyzer.Note}},
		{"restenvelope/rest-error-message", []analyzer.Severity{analyzer.Error, analyzer.Warning}},
		{"restenvelope/rest-error-envelope-problem", []analyzer.Severity{analyzer.Warning}},
		{"transport/transport-https", []analyzer.Severity{analyzer.Note}},
		{"request/req-task-id-push", []analyzer.Severity{analyzer.Warning, analyzer.Error}},
		{"request/req-history-length-v03", []analyzer.Severity{analyzer.Error, analyzer.Note}},
		{"registration/req-push-authentication", []analyzer.Severity{analyzer.Error, analyzer.Error, analyzer.Note}},
		{"registration/req-push-https", []analyzer.Severity{analyzer.Warning, analyzer.Warning, analyzer.Error}},
		{"interface/req-tenant-echo", []analyzer.Severity{analyzer.Error, analyzer.Warning}},
		{"interface/req-tenant-omit", []analyzer.Severity{analyzer.Warning}},
		{"reference/req-page-token-origin", []analyzer.Severity{analyzer.Note}},
		{"identity/id-event-echo-v01", []analyzer.Severity{analyzer.Error, analyzer.Note}},
		{"identity/id-task-continued-v03", []analyzer.Severity{analyzer.Note}},
		{"file/output-mode-accepted", []analyzer.Severity{analyzer.Warning}},
		{"file/output-mode-accepted-v03", []analyzer.Severity{analyzer.Note}},
		{"update/event-final-type-missing", []analyzer.Severity{analyzer.Error}},
		{"update/event-final-type-v025", []analyzer.Severity{analyzer.Note}},
		{"field/field-null-required-worse", []analyzer.Severity{analyzer.Note, analyzer.Error}},
		{"history/history-max", []analyzer.Severity{analyzer.Error, analyzer.Error, analyzer.Warning}},
		{"list/list-required-fields", []analyzer.Severity{analyzer.Error, analyzer.Error}},
		{"list/list-required-fields-near", []analyzer.Severity{analyzer.Warning}},
		{"filter/list-scope", []analyzer.Severity{analyzer.Note}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			var got []analyzer.Severity
			for _, f := range judgeFile(t, test.file+".txtar") {
				got = append(got, f.Severity)
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %d findings of severities %v, want %v", len(got), got, test.want)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("finding %d: got %s, want %s", i+1, got[i], test.want[i])
				}
			}
		})
	}
}

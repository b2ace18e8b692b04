package intake_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/capture"
)

// What the fields of a request by another program show of what that program keeps.
func TestEvidence(t *testing.T) {
	const fields, credentials = "fields", "credentials"
	tests := []struct {
		name, head string
		want       []string
	}{
		{"nothing", "", nil},
		{"a label", "Content-Type: application/json\r\n", nil},
		{"a name of the program", "User-Agent: kit/1\r\n", nil},
		{"framing alone", "Content-Length: 2\r\n", nil},
		{"what every client sends", "User-Agent: kit/1\r\nContent-Length: 2\r\n", []string{fields}},
		{"the same in pieces", "Accept: */*\r\nTransfer-Encoding: chunked\r\n", []string{fields}},
		{"HTTP/2", ":method: POST\r\naccept: */*\r\n", []string{fields}},
		{"a credential", "Authorization: Bearer s3cret\r\n", []string{fields, credentials}},
		{"a cookie", "Cookie: sid=1f6\r\n", []string{fields, credentials}},
		{"a stub", "Authorization: Bearer [REDACTED]\r\n", nil},
		{"stars", "Authorization: ********\r\n", nil},
		{"an empty one", "Cookie: \r\n", nil},
		{"what is no credential for sure", "Idempotency-Key: 17\r\n", nil},
		{"a key, which others than Authorization may outlive", "X-API-Key: 1f6\r\n", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, ours := range []bool{false, true} {
				var got []string
				r := enginetest.Rule("r", analysis.RequestSeen, func(p *analysis.Pass) {
					if p.Exchange.HeadersKept() {
						got = append(got, fields)
					}
					if p.Exchange.CredentialsKept() {
						got = append(got, credentials)
					}
				})
				id, want := uuid.NewSHA1(uuid.NameSpaceURL, []byte("x")), test.want
				if ours {
					id, want = uuid.New(), []string{fields, credentials}
				}
				c := &enginetest.Conversation{T: t}
				version := "HTTP/1.1"
				if test.name == "HTTP/2" {
					version = test.name
				}
				c.Open("planner", "POST /rpc "+version+"\r\nHost: booker:9001\r\n"+test.head+"\r\n")
				opened := c.Steps[0].What.(capture.Opened)
				opened.ID = id
				c.Steps[0].What = opened
				c.Ask(enginetest.Send)
				c.Judge(r)
				if !slices.Equal(got, want) {
					t.Errorf("ours %v: kept are %q, want %q", ours, got, want)
				}
			}
		})
	}
}

package rest

import (
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Query is the family of rules about parameters in the query of an HTTP+JSON call.
var Query = rule.Family{
	Name:     "query",
	Category: analysis.ErrorHandling,
	Side:     a2a.Client,
	On:       analysis.RequestSeen,
	Bindings: rule.OnREST,
	Cites:    rule.Cite("11.5", a2a.V1_0),
}.Of(
	restQueryCamelCase,
	restQueryBool,
	restQueryNumber,
	restQueryEnum,
	restQueryTimestamp,
	restQueryNested,
	restQueryEncoding,
)

// queryOf yields the decoded parameters of a call without a body. Calls with a body have their parameters there.
func queryOf(p *analysis.Pass) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		x := p.Exchange
		if x.Call.Operation == a2a.NoOperation || x.Call.Query == "" || x.Request.Method == "POST" {
			return
		}
		for name, value := range x.Call.QueryValues() {
			if !yield(name, value) {
				return
			}
		}
	}
}

// judgeQuery calls wrong with each non-empty value of the named parameters, and reports those for which it returns an
// expectation.
func judgeQuery(
	p *analysis.Pass, wrong func(value string) (expected string, worst analysis.Severity), names ...string,
) {
	for name, value := range queryOf(p) {
		if value == "" || !slices.Contains(names, name) {
			continue
		}
		p.Applied()
		if expected, worst := wrong(value); expected != "" {
			p.Report(p.Exchange.RequestPlace().Line(), "the query has "+name+"="+analysis.Clip(value), "expected "+expected,
				analysis.AtMost(worst))
		}
	}
}

// snakeCase maps parameter names in the spelling of the proto file to their names in the query.
var snakeCase = map[string]string{
	"context_id": "contextId", "page_size": "pageSize", "page_token": "pageToken", "history_length": "historyLength",
	"status_timestamp_after": "statusTimestampAfter", "include_artifacts": "includeArtifacts", "task_id": "taskId",
}

var restQueryCamelCase = &analysis.Rule{
	ID:     "rest-query-camelcase",
	Title:  "query parameter in snake_case",
	Level:  analysis.Must,
	Stands: "1.0.1:2857",
	Doc: `Query parameters are written in camelCase. An agent ignores a name that it does not know: it silently drops
the filter or page that the client asked for, and returns everything.`,
	Fix:    `Write contextId, pageSize, pageToken, historyLength, statusTimestampAfter, includeArtifacts.`,
	Silent: `Names that the protocol does not have in either spelling.`,
	Check: func(p *analysis.Pass) {
		for name := range queryOf(p) {
			p.Applied()
			if camel := snakeCase[name]; camel != "" {
				p.Report(p.Exchange.RequestPlace().Line(), "the query has "+name, "expected "+camel)
			}
		}
	},
}

var restQueryBool = &analysis.Rule{
	ID:     "rest-query-bool",
	Title:  "boolean in the query is neither true nor false",
	Level:  analysis.Must,
	Stands: "1.0.1:2885",
	Doc: `A boolean in the query is true or false, in lower case. Agents refuse 1, yes or True, or read them as false:
the artifacts that the client asked for are then silently missing.`,
	Fix:    `Write includeArtifacts=true or leave the parameter out.`,
	Silent: `An empty value, which counts as left out.`,
	Check: func(p *analysis.Pass) {
		judgeQuery(p, func(value string) (string, analysis.Severity) {
			if value == "true" || value == "false" {
				return "", 0
			}
			return "true or false", analysis.Error
		}, "includeArtifacts")
	},
}

var restQueryNumber = &analysis.Rule{
	ID:     "rest-query-number",
	Title:  "number in the query is not a decimal integer",
	Level:  analysis.Must,
	Stands: "1.0.1:2886",
	Doc: `pageSize and historyLength are decimal integers. An agent refuses anything else, or falls back to a default
that the client does not know.`,
	Fix:    `Write digits only, such as pageSize=20.`,
	Silent: `An empty value, which counts as left out. The range of the number is not checked here.`,
	Check: func(p *analysis.Pass) {
		judgeQuery(p, func(value string) (string, analysis.Severity) {
			digits := strings.TrimPrefix(value, "-")
			if digits != "" && strings.Trim(digits, "0123456789") == "" {
				return "", 0
			}
			return "a decimal integer", analysis.Error
		}, "pageSize", "historyLength")
	},
}

var restQueryEnum = &analysis.Rule{
	ID:     "rest-query-enum",
	Title:  "status in the query is not a state of 1.0",
	Level:  analysis.Must,
	Cites:  rule.Cite("11.5", a2a.V1_0).And("5.5", a2a.V1_0),
	Stands: "1.0.1:2887 1.0.1:1215",
	Doc: `The status filter is the name of an enum value. An agent refuses any other text, or finds no task in that
state.`,
	Fix: `Write status=TASK_STATE_WORKING and the like.`,
	Silent: `An empty value, which counts as left out. A name of earlier versions, such as working, is a note, since
1.0.0 itself shows one.`,
	Check: func(p *analysis.Pass) {
		judgeQuery(p, func(value string) (string, analysis.Severity) {
			state, known := a2a.ParseState(value)
			switch {
			case known && state.Spelling(a2a.V1_0) == value, value == "TASK_STATE_UNSPECIFIED":
				return "", 0
			case known && strings.ToLower(value) == value:
				return state.Spelling(a2a.V1_0), analysis.Note
			}
			return "the name of a state, such as TASK_STATE_WORKING", analysis.Error
		}, "status")
	},
}

var restQueryTimestamp = &analysis.Rule{
	ID:     "rest-query-timestamp",
	Title:  "timestamp in the query is not ISO 8601 in UTC",
	Level:  analysis.Must,
	Cites:  rule.Cite("11.5", a2a.V1_0).And("5.6.1", a2a.V1_0),
	Stands: "1.0.1:2890 1.0.1:1255",
	Doc: `A time is written in UTC with a Z, such as 2026-03-01T10:00:00Z. Agents need not understand an offset like
+01:00, and its plus sign becomes a blank in a query unless it is escaped.`,
	Fix: `Convert to UTC and write the Z: statusTimestampAfter=2026-03-01T10:00:00.000Z.`,
	Silent: `Any number of digits after the second; an empty value, which counts as left out. A lower-case t or z is a
note.`,
	Check: func(p *analysis.Pass) {
		judgeQuery(p, func(value string) (string, analysis.Severity) {
			const expected = "a time in UTC, such as 2026-03-01T10:00:00Z"
			upper := strings.ToUpper(value)
			if _, err := time.Parse(time.RFC3339Nano, upper); err != nil || !strings.HasSuffix(upper, "Z") {
				return expected, analysis.Error
			}
			if upper != value {
				return expected, analysis.Note
			}
			return "", 0
		}, "statusTimestampAfter")
	},
}

var restQueryNested = &analysis.Rule{
	ID:     "rest-query-nested",
	Title:  "nested field in the query",
	Level:  analysis.Must,
	Covers: []string{"rest-query-encoding"},
	Stands: "1.0.1:2889",
	Doc: `The query holds only plain values; nested objects are sent in the body of a POST. There is no agreed way to
write an object into a query, so agents ignore it.`,
	Fix:    `Leave metadata, message and configuration out of GET and DELETE: these operations have no such field.`,
	Silent: `Parameters that the protocol does not have, and text that only looks like JSON, such as a page token.`,
	Check: func(p *analysis.Pass) {
		for name, value := range queryOf(p) {
			p.Applied()
			field, inner := name, ""
			if i := strings.IndexAny(name, ".["); i >= 0 {
				field, inner = name[:i], name[i:]
			}
			switch field {
			case "metadata", "message", "configuration":
			default:
				continue
			}
			if inner != "" || strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
				p.Report(p.Exchange.RequestPlace().Line(), "the query has "+analysis.Clip(name+"="+value),
					"expected no nested field")
			}
		}
	},
}

var restQueryEncoding = &analysis.Rule{
	ID:     "rest-query-encoding",
	Title:  "query is not percent-encoded",
	Level:  analysis.Must,
	Cites:  rule.Cite("11.5", a2a.V1_0).And("RFC 3986 §3.4", a2a.V1_0),
	Stands: "1.0.1:2894",
	Doc: `Characters that a URI does not allow in its query are percent-encoded. Gateways refuse a raw quote, brace or
letter outside ASCII, or change it, and a lone percent sign makes parsers drop the whole query.`,
	Fix: `Build the query with a URL library, one value at a time, not by joining strings.`,
	Silent: `Characters that the syntax allows, such as : / ? @ + and commas. Not checked: whether a plus sign means a
blank, and recordings of other programs, which may show URLs decoded. Only the first such character is reported.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Operation == a2a.NoOperation || call.Query == "" || capture.Foreign(p.Exchange.ID) {
			return
		}
		p.Applied()
		if i := illegalInQuery(call.Query); i >= 0 {
			_, size := utf8.DecodeRuneInString(call.Query[i:])
			p.Report(p.Exchange.RequestPlace().Line(), "the query has "+analysis.QuoteText(call.Query[i:i+size])+" unencoded",
				"expected it percent-encoded")
		}
	},
}

// illegalInQuery returns the offset of the first byte that RFC 3986 §3.4 does not allow in a query, or -1.
func illegalInQuery(query string) int {
	for i := 0; i < len(query); i++ {
		switch c := query[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._~!$&'()*+,;=:@/?", c) >= 0:
		case c == '%' && i+2 < len(query) && isHex(query[i+1]) && isHex(query[i+2]):
		default:
			return i
		}
	}
	return -1
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

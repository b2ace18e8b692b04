// Package rules is the catalogue: what a2atap checks, one rule a value, one family a file.
//
// All lists the rules in reading order. Every rule is proved by annotated transcripts under testdata: one that provokes
// it and a near miss that stays silent; each lists all findings of all rules, so silence is asserted too.
package rules

//go:generate go run ./internal/gendocs

import (
	"slices"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// All is the catalogue, in reading order.
var All = slices.Concat(
	Transport,
	HTTP,
	JSON,
	RPCRequest,
	RPCMethod,
	JSONRPC,
	RPCError,
	ErrorCode,
	ErrorInfo,
	Batch,
	REST,
	Messages,
	Mentions,
	Parts,
	Files,
	Artifacts,
	Tasks,
	Timestamps,
	Updates,
	Results,
	Fields,
	Query,
	RESTErrors,
	RESTEnvelope,
	Equivalence,
	Refusals,
	Request,
	Registration,
	Interface,
	Reference,
	Identity,
	Contexts,
	Lifecycle,
	Finished,
	Cancel,
	Outcomes,
	Streams,
	Endings,
	Chunks,
	Parallel,
	Events,
	History,
	List,
	Filter,
	Push,
	Configs,
	Webhooks,
	Deliveries,
	Dialects,
	Auth,
	TaskAuth,
	Capabilities,
	Extensions,
	Versions,
	Cards,
	CardURLs,
	Skills,
	Schemes,
	OAuth,
	Caches,
	Signatures,
	ExtendedCards,
)

// ByID returns the rule of that id, or nil.
func ByID(id string) *analyzer.Rule {
	for _, r := range All {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// cite names one section for each of several dialects.
func cite(section string, in ...a2a.Dialect) []a2a.Cite {
	cites := make([]a2a.Cite, 0, len(in))
	for _, d := range in {
		cites = append(cites, a2a.Cite{In: d, Section: section})
	}
	return cites
}

// Sets of dialects that many rules share.
var (
	every   = []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0}
	before1 = []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3}
)

const (
	onRPC  = analyzer.OnJSONRPC
	onREST = analyzer.OnHTTPJSON
	onCall = analyzer.OnJSONRPC | analyzer.OnHTTPJSON
	onAll  = analyzer.OnHTTP | analyzer.OnJSONRPC | analyzer.OnHTTPJSON
)

// contentType returns the media type of a message as a finding shows it.
func contentType(values []string) string {
	if len(values) == 0 {
		return "no Content-Type"
	}
	return "Content-Type " + analyzer.QuoteText(values[0])
}

// essence returns the media type without parameters, in lower case, or "" if there is none.
func essence(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return capture.MediaType(values[0])
}

// succeeded reports whether an HTTP status is 2xx.
func succeeded(status int) bool { return status >= 200 && status < 300 }

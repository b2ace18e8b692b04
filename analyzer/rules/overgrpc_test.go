package rules_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"

	"a2atap/analyzer/rulestest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
)

// What is found in a conversation over JSON-RPC is found in the same conversation over gRPC, by every rule that holds in
// both, and nothing else is. The conversations are all transcripts whose calls gRPC can say.
func TestSameFindingsOverGRPC(t *testing.T) {
	t.Parallel()
	said, provoked := 0, make(map[string]bool)
	for _, path := range sample(t) {
		translated, ok := overGRPC(rulestest.Exchanges(t, path))
		if !ok || slices.Contains(onlyOver, path) {
			continue
		}
		said++
		want, got := inBoth(rulestest.FindingsIn(t, path)), inBoth(rulestest.Findings(t, translated))
		for _, found := range want {
			provoked[strings.Fields(found)[0]] = true
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s: over JSON-RPC\n\t%s\nover gRPC\n\t%s", path, strings.Join(want, "\n\t"), strings.Join(got, "\n\t"))
		}
	}
	if said*oneIn < 350 || len(provoked)*oneIn < 130 {
		t.Errorf("%d transcripts with findings of %d rules show too little", said, len(provoked))
	}
}

// onlyOver are the transcripts in which a rule of gRPC alone has something to say that one of JSON-RPC says otherwise, or
// not at all.
var onlyOver = []string{
	"errorinfo/rpc-errorinfo-code-match", // the code that does not fit is a status that does not
	"list/list-required-fields",          // a number that is missing is 0, which is wrong
	"version/ver-interface-match",        // the service that is called says the version, too
}

// inBoth lists the findings of rules that hold over both bindings, and of those that hold over gRPC alone: rule, side,
// severity, and where it is found. How bad it is that an error is not explained depends on the binding.
func inBoth(findings []analysis.Finding) []string {
	var list []string
	for i := range findings {
		f := &findings[i]
		id := f.Rule.ID
		if id == "ver-header-present" {
			id = "grpc-metadata-version"
		} else if !f.Rule.Bindings.Has(a2a.GRPC) {
			continue
		}
		pointer, severity := f.Place.Pointer, f.Severity.String()
		if f.Rule.Family == "errorinfo" {
			severity = ""
		}
		for _, outer := range [...]string{"/params", "/result", "/error/data", "/error", "/details"} {
			if rest, ok := strings.CutPrefix(pointer, outer); ok && (rest == "" || rest[0] == '/') {
				pointer = rest
				break
			}
		}
		list = append(list, fmt.Sprintf("%s %s %s %d %v %s", id, f.Side, severity, f.Place.Exchange,
			f.Place.Response, pointer))
	}
	slices.Sort(list)
	return list
}

// overGRPC translates the 1.0 calls of a conversation from JSON-RPC to gRPC, and its cards accordingly. ok is false if
// the conversation has no such call, or one that gRPC cannot express.
func overGRPC(original []*capture.Exchange) (translated []*capture.Exchange, ok bool) {
	for _, x := range original {
		y := x.Copy()
		if y.Response != nil {
			y.Response.Body.Data = bytes.ReplaceAll(x.Response.Body.Data, []byte(`"JSONRPC"`), []byte(`"GRPC"`))
			if bytes.Contains(x.Response.Body.Data, []byte(`"signatures"`)) { // they are over the card as it was
				return nil, false
			}
		}
		doc := jsondoc.Parse(x.Request.Body.Data)
		head := capture.ParseRequestHead(x.Request.Head)
		if _, already := head.GRPC(); already {
			return nil, false
		}
		if doc.Root.Get("method").Exists() {
			if !callOverGRPC(y, &doc) {
				return nil, false
			}
			ok = true
		}
		translated = append(translated, y)
	}
	return translated, ok
}

// callOverGRPC says a call over gRPC.
func callOverGRPC(x *capture.Exchange, doc *jsondoc.Doc) bool {
	head := capture.ParseRequestHead(x.Request.Head)
	path, query, _ := strings.Cut(head.Target, "?")
	name := doc.Root.Get("method").Text()
	method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/" + name)
	params := doc.Root.Get("params")
	if !params.Exists() {
		params = jsondoc.Parse([]byte("{}")).Root
	}
	message, ok := said(method.Request, params)
	if !method.Known() || !ok || query != "" || head.Method != "POST" || !doc.Root.Get("id").Exists() ||
		!doc.Root.Get("jsonrpc").Is("2.0") || doc.Root.Len() > 4 || !x.Request.Body.Complete {
		return false
	}
	x.Request.Head = headOverGRPC(fmt.Sprintf("POST %s/%s/%s HTTP/2\r\n", strings.TrimSuffix(path, "/"), grpc.Service1_0, name),
		head.Fields, "te: trailers\r\n")
	x.Request.Body.Data, x.Request.Body.Size = message, int64(len(message))
	return x.Response == nil || answerOverGRPC(x, &method)
}

func headOverGRPC(line string, fields capture.Fields, more string) []byte {
	var head strings.Builder
	head.WriteString(line)
	for _, f := range fields {
		switch strings.ToLower(f.Name) {
		case "content-type", "content-length", "accept", "transfer-encoding", "connection", "cache-control":
		case "host":
			fmt.Fprintf(&head, "Host: %s\r\n", f.Value)
		default:
			fmt.Fprintf(&head, "%s: %s\r\n", strings.ToLower(f.Name), f.Value)
		}
	}
	return []byte(head.String() + "content-type: application/grpc\r\n" + more + "\r\n")
}

// answerOverGRPC says what answers a call over gRPC.
func answerOverGRPC(x *capture.Exchange, method *grpc.Method) bool {
	head := capture.ParseResponseHead(x.Response.Head)
	if head.Status != 200 || head.Fields.Has("Content-Encoding") || x.Response.Stream && !method.Streams {
		return false
	}
	type piece struct {
		k    int
		text []byte
		at   time.Duration
	}
	pieces := []piece{{1, x.Response.Body.Data, x.Response.Body.At}}
	if x.Response.Stream {
		pieces = nil
		for i := range x.Response.Events {
			e := &x.Response.Events[i]
			fields := e.Fields()
			if !fields.HasData || e.Unterminated || e.Dropped > 0 {
				return false
			}
			pieces = append(pieces, piece{e.K, fields.Data, e.At})
		}
	}
	status, failed := "grpc-status: 0\r\n", false
	var events []capture.Event
	for _, p := range pieces {
		doc := jsondoc.Parse(p.text)
		result, failure := doc.Root.Get("result"), doc.Root.Get("error")
		if failed || doc.Err != nil || !doc.Root.Get("jsonrpc").Is("2.0") || doc.Root.Len() != 3 || !doc.Root.Get("id").Exists() {
			return false
		}
		if failure.Kind() == jsondoc.Object && !result.Exists() {
			status, failed = statusOverGRPC(failure)
			if !failed {
				return false
			}
			continue
		}
		if result.IsNull() && method.Name == "DeleteTaskPushNotificationConfig" {
			result = jsondoc.Parse([]byte("{}")).Root
		}
		message, ok := said(method.Answer, result)
		if !ok {
			return false
		}
		events = append(events, capture.Event{K: p.k, At: p.at, Raw: message})
	}
	if !x.Response.Body.Complete {
		status = ""
	}
	x.Response.Stream, x.Response.Events, x.Response.Body.Data = true, events, nil
	x.Response.Body.Size, x.Response.Trailer = 0, []byte(status)
	for i := range events {
		x.Response.Body.Size += int64(len(events[i].Raw))
	}
	x.Response.Head = headOverGRPC("HTTP/2 200\r\n", head.Fields, "")
	x.ReadAsGRPC()
	return true
}

// statusOverGRPC returns the trailer that says an error of JSON-RPC.
func statusOverGRPC(failure jsondoc.Value) (trailer string, ok bool) {
	code, _ := failure.Get("code").Int()
	status := grpc.Status{Message: failure.Get("message").Text()}
	reason := ""
	for name, its := range reasons {
		if its.code == code {
			reason, status.Code = name, its.status
		}
	}
	if reason == "" {
		return "", false // statuses of gRPC that say no more are shared with what is no agent
	}
	details := failure.Get("data")
	switch {
	case details.Exists() && details.Kind() != jsondoc.Array:
		return "", false
	case !details.Exists():
		details = jsondoc.Parse(fmt.Appendf(nil, `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",`+
			`"reason":%q,"domain":"a2a-protocol.org"}]`, reason)).Root
	}
	err := status.Write(func(name, value string) { trailer += name + ": " + value + "\r\n" }, details)
	return trailer, err == nil
}

// reasons are the errors of A2A.
var reasons = map[string]struct {
	code   int64
	status grpc.Code
}{
	"TASK_NOT_FOUND":                     {-32001, grpc.NotFound},
	"TASK_NOT_CANCELABLE":                {-32002, grpc.FailedPrecondition},
	"PUSH_NOTIFICATION_NOT_SUPPORTED":    {-32003, grpc.FailedPrecondition},
	"UNSUPPORTED_OPERATION":              {-32004, grpc.FailedPrecondition},
	"CONTENT_TYPE_NOT_SUPPORTED":         {-32005, grpc.InvalidArgument},
	"INVALID_AGENT_RESPONSE":             {-32006, grpc.Internal},
	"EXTENDED_AGENT_CARD_NOT_CONFIGURED": {-32007, grpc.FailedPrecondition},
	"EXTENSION_SUPPORT_REQUIRED":         {-32008, grpc.FailedPrecondition},
	"VERSION_NOT_SUPPORTED":              {-32009, grpc.FailedPrecondition},
}

// said returns a message with its prefix that says the same as a JSON object.
func said(of *grpc.Type, object jsondoc.Value) (message []byte, ok bool) {
	as := grpc.Codec{Type: of}
	message, err := as.Write(object)
	if err != nil {
		return nil, false
	}
	back := as.Read(message)
	return message, back.Err == nil && sameJSON(object, back.Doc.Root)
}

// sameJSON reports whether two values say the same, but for members that are as if they were not there.
func sameJSON(v, w jsondoc.Value) bool {
	switch {
	case v.Kind() != w.Kind():
		return false
	case v.Kind() == jsondoc.Array:
		if v.Len() != w.Len() {
			return false
		}
		for i, e := range v.Elems() {
			if !sameJSON(e, w.Elem(i)) {
				return false
			}
		}
		return true
	case v.Kind() == jsondoc.Object:
		for name, member := range v.Members() {
			if !w.Get(name).Exists() && saysNothing(member) {
				continue
			}
			if !sameJSON(member, w.Get(name)) {
				return false
			}
		}
		return true
	case v.Kind() == jsondoc.String:
		at, err := time.Parse(time.RFC3339, v.Text())
		and, other := time.Parse(time.RFC3339, w.Text())
		return v.Text() == w.Text() || err == nil && other == nil && at.Equal(and) && strings.HasSuffix(v.Text(), "Z")
	}
	return string(v.Raw()) == string(w.Raw())
}

func saysNothing(v jsondoc.Value) bool {
	switch string(v.Raw()) {
	case `""`, "0", "false":
		return true
	}
	return false
}

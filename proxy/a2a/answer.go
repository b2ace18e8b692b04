package a2a

// An Answer is the decoded body of an answer that is not an event stream, or one decoded event of a stream.
type Answer struct {
	Doc        Doc   // the body or data; the zero Doc without one
	Envelope   Value // the JSON-RPC response object; Absent if IsEnvelope is false
	ID         Value // of the envelope
	Result     Value // of the envelope
	Error      Value // of the envelope
	IsEnvelope bool  // it is recognizable as a JSON-RPC response
	Payload    Payload
	Err        *Error // nil without an error
	Status     int    // HTTP status of a whole answer; 0 of an event
	Early      bool   // it has the form used before 0.1 was specified: see Call.Early
	Values     int    // if a stream is due: number of JSON values in the body, concatenated or in an array
}

// DecodeAnswer decodes a whole answer that is not an event stream. Status is its HTTP status, and mediaType its
// declared media type, which need not be JSON.
//
// The call may be nil if the request is unknown; DecodeAnswer then relies on the answer alone.
func DecodeAnswer(call *Call, status int, mediaType string, body []byte) Answer {
	if len(body) == 0 {
		return ReadAnswer(call, status, mediaType, &Doc{})
	}
	var doc Doc
	if call != nil && call.Binding == GRPC {
		doc = call.answerDoc(body)
	} else {
		doc = Parse(body)
	}
	return ReadAnswer(call, status, mediaType, &doc)
}

// ReadAnswer is DecodeAnswer for a parsed body; the zero Doc means no body.
func ReadAnswer(call *Call, status int, mediaType string, doc *Doc) Answer {
	if call == nil {
		call = &Call{}
	}
	a := Answer{Doc: *doc, Status: status}
	root := a.Doc.Root
	switch {
	case call.Batch != nil:
		return a
	case call.Binding == JSONRPC, call.Binding == NoBinding && call.Operation == NoOperation && root.Has("jsonrpc"):
		a.readEnvelope(call, status)
		if a.IsEnvelope || status >= 300 {
			break
		}
		a.Payload = call.payload(root, "") // an answer of the other binding, or without its envelope
	case status >= 400, mediaType == "application/problem+json",
		call.Binding == HTTPJSON && isErrorBody(root):
		a.Err = decodeHTTPError(root, status, call.Dialects)
		a.Payload = Payload{Kind: ErrorPayload, Value: a.Err.Value, Pointer: a.Err.Pointer}
	case status >= 200 && status < 300:
		a.Payload = call.payload(root, "")
	}
	a.Payload.weigh(call.marks(), false, call.Operation.Sends())
	return a
}

// DecodeEvent decodes the data of one event of a stream. The call may be nil, as in DecodeAnswer.
func DecodeEvent(call *Call, data []byte) Answer {
	if call != nil && call.Binding == GRPC {
		doc := call.answerDoc(data)
		return ReadEvent(call, &doc)
	}
	doc := Parse(data)
	return ReadEvent(call, &doc)
}

// ReadEvent is DecodeEvent for parsed data.
func ReadEvent(call *Call, doc *Doc) Answer {
	if call == nil {
		call = &Call{}
	}
	a := Answer{Doc: *doc}
	root := a.Doc.Root
	switch {
	case call.Binding == JSONRPC, root.Has("jsonrpc"):
		a.readEnvelope(call, 200)
		if !a.IsEnvelope {
			a.Payload = call.payload(root, "")
		}
	case call.Binding == GRPC: // whose errors are not messages
		a.Payload = call.payload(root, "")
	case isErrorBody(root):
		a.Err = decodeHTTPError(root, 200, call.Dialects)
		a.Payload = Payload{Kind: ErrorPayload, Value: a.Err.Value, Pointer: a.Err.Pointer}
	default:
		a.Payload = call.payload(root, "")
	}
	if call.Dialects.Has(V0_1) && a.Payload.Kind == TaskPayload && !a.Payload.Wrapped && isUpdate0_1(a.Payload.Value) {
		a.Payload.Kind = StatusPayload
	}
	a.Payload.weigh(call.marks(), true, true)
	return a
}

// DecodeWebhook decodes the body of a notification: a StreamResponse in 1.0 (1.0 §4.3.3), usually a Task before.
func DecodeWebhook(body []byte) Payload {
	return ReadWebhook(new(Parse(body)))
}

// ReadWebhook is DecodeWebhook for a parsed body.
func ReadWebhook(doc *Doc) Payload { return decodeNotification(doc.Root) }

func decodeNotification(root Value) Payload {
	base := ""
	if result := root.Get("result"); root.Has("jsonrpc") && result.Exists() {
		root, base = result, "/result"
	}
	switch root.Kind() {
	case Absent:
		return Payload{}
	case Null:
		return Payload{Kind: NullPayload, Value: root, Pointer: base}
	case Object:
	default:
		return Payload{Kind: UnknownPayload, Value: root, Pointer: base}
	}
	p := findObject(root, base)
	bare := !p.Wrapped && !root.Has("kind")
	p.weigh(marks{}, true, true)
	if state := root.Get("status").Get("state"); bare && hasPrefix(state, "TASK_STATE_") {
		p.Dialects, p.Contrary = kindDialects, Mark{} // 1.0 wraps: it is the proto JSON of 0.x
	}
	return p
}

// readEnvelope reads a JSON-RPC response object (JSON-RPC 2.0 §5).
func (a *Answer) readEnvelope(call *Call, status int) {
	root := a.Doc.Root
	if !isEnvelope(root) {
		return
	}
	a.IsEnvelope, a.Envelope = true, root
	a.ID, a.Result, a.Error = root.Get("id"), root.Get("result"), root.Get("error")
	if a.Error.Exists() && !a.Error.IsNull() {
		a.Err = decodeRPCError(a.Error, "/error", status, call.Dialects)
		if name := call.earlyName(a.Err); name != a.Err.Name {
			a.Err.Name, a.Early = name, true
		}
		if !a.Result.Exists() || a.Result.IsNull() {
			a.Payload = Payload{Kind: ErrorPayload, Value: a.Error, Pointer: "/error"}
			return
		}
	}
	a.Payload = call.payload(a.Result, "/result")
	a.Early = a.Early || a.Payload.Kind == TaskPayload && hasStatusHistory(a.Payload.Value)
}

// isEnvelope reports whether an object is recognizable as a JSON-RPC response, since gateways answer with JSON too.
func isEnvelope(v Value) bool {
	switch {
	case v.Kind() != Object:
		return false
	case v.Has("jsonrpc"), v.Has("id") && (v.Has("result") || v.Has("error")):
		return true
	}
	code, ok := v.Get("error").Get("code").Int()
	return v.Has("result") && !v.Has("kind") || ok && code <= -32000
}

// isErrorObject reports whether a member "error" is certainly an error.
func isErrorObject(v Value) bool {
	return v.Kind() == Object && v.Has("code") && (v.Has("message") || v.Has("status"))
}

// isErrorBody reports whether a body or event of HTTP+JSON is certainly an error, regardless of its status: it contains
// an error, or is the bare error that agents of 0.x send.
func isErrorBody(v Value) bool {
	return isErrorObject(v.Get("error")) || v.Get("code").Kind() == Number && v.Get("message").Kind() == String
}

// marks returns the call's evidence for interpreting its answers.
func (c *Call) marks() marks {
	return marks{
		rpc: c.Binding == GRPC, in: c.Dialects,
		rest: c.Binding == HTTPJSON,
		gets: c.Operation == GetTask || c.Operation == CancelTask,
		older: c.Binding == JSONRPC && c.Evidence == Decisive && !c.Dialects.Empty() &&
			c.Dialects.Union(kindDialects) == kindDialects,
		names1_0: c.Binding == JSONRPC && c.Dialects == onlyV1_0 ||
			c.Binding == HTTPJSON && (VersionDialects(c.Version).Has(V1_0) || c.surely1_0),
	}
}

// payload decodes the result of a call.
func (c *Call) payload(v Value, base string) Payload {
	p := Payload{Kind: UnknownPayload, Value: v, Pointer: base}
	switch v.Kind() {
	case Absent:
		return Payload{}
	case Null:
		p.Kind = NullPayload
		return p
	case Array:
		switch c.Operation {
		case ListTasks:
			p.Kind = TaskListPayload
		case ListPushConfigs:
			p.Kind = PushConfigListPayload
		}
		return p
	case Object:
	default:
		return p
	}
	switch c.Operation {
	case ListTasks:
		p.Kind = when(v.Has("tasks"), TaskListPayload)
	case CreatePushConfig, GetPushConfig:
		p.Kind = when(v.Len() > 0, PushConfigPayload)
	case ListPushConfigs:
		p.Kind = when(v.Has("configs"), PushConfigListPayload)
	case DeletePushConfig:
	case GetCard, GetExtendedCard:
		p.Kind = CardPayload
	case GetTask, CancelTask:
		p = findObject(v, base)
		if p.Kind == UnknownPayload && v.Has("id") {
			p.Kind = TaskPayload
		}
	default:
		p = findObject(v, base)
	}
	return p
}

func when(holds bool, kind PayloadKind) PayloadKind {
	if holds {
		return kind
	}
	return UnknownPayload
}

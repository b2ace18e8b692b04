package a2a

import (
	"cmp"
	"strings"

	"a2atap/proxy/grpc"
)

// decodeGRPC decodes a call of the gRPC binding by its path (A2A 0.3 §3.2.2, 1.0 §10), with its message as JSON. For a
// method that the service does not have, only the name is known.
func (c *Call) decodeGRPC(r *Request, path string) bool {
	if r.Method != "POST" {
		return false
	}
	before, method := cutLast(path)
	prefix, service := cutLast(before)
	m, ok := grpc.MethodIn(service, method)
	if !ok {
		return false
	}
	c.RPC, c.Method, c.Prefix = m, method, prefix
	c.Binding, c.Evidence, c.Dialects = GRPC, Decisive, kindDialects
	if m.Service == grpc.Service1_0 {
		c.Dialects = onlyV1_0
	}
	if !m.Known() {
		return true
	}
	c.Streams = m.Streams
	switch media := r.header("Content-Type"); {
	case r.Doc != nil:
		c.Doc = *r.Doc
	case media == "" || grpc.IsMedia(media): // otherwise the body belongs to something else
		c.Doc = messageDoc(grpc.Codec{Type: m.Request, Encoding: r.header("Grpc-Encoding")}, r.Body)
	}
	if r.BodyKept && !c.Doc.Root.Exists() { // the message cannot be decoded
		return true
	}
	c.Operation = c.Asks()
	c.Params = c.Doc.Root
	c.readParams()
	if c.Dialects == kindDialects {
		c.readNames(c.Params)
	}
	return true
}

// RPC returns the gRPC method of the operation; it is not Known if the dialect has no such method.
func (o Operation) RPC(d Dialect) grpc.Method {
	service, name := grpc.Service1_0, o.String()
	if d != V1_0 {
		service, name = grpc.Service0_3, cmp.Or(o.row().rpc, name)
	}
	m, _ := grpc.MethodIn(service, name)
	return m
}

// Asks returns the operation of the call. Over gRPC the path names the operation even if the message cannot be decoded;
// Operation is then NoOperation, since the parameters are unknown.
func (c *Call) Asks() Operation {
	if c.Operation != NoOperation || !c.RPC.Known() {
		return c.Operation
	}
	if o := OperationOf(c.RPC.Name); o != GetCard {
		return o
	}
	return GetExtendedCard // "GetAgentCard" before 1.0, for authenticated clients
}

// cutLast cuts a path at its last slash.
func cutLast(path string) (before, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// messageDoc returns the JSON of a message. The body is either the message on the wire or already JSON. It returns the
// zero Doc if the message cannot be decoded.
func messageDoc(as grpc.Codec, body []byte) Doc {
	switch {
	case len(body) == 0:
		return Doc{}
	case body[0] <= 1: // every message begins with such a byte, and JSON never does
		return as.ReadInTurn(body).Doc
	}
	return Parse(body)
}

// answerDoc returns the JSON of a message that answers the call, as messageDoc does. A compressed message must have
// been decompressed before.
func (c *Call) answerDoc(body []byte) Doc { return messageDoc(grpc.Codec{Type: c.RPC.Answer}, body) }

// readNames extracts ids from the resource names of tasks and push configs in 0.x, "tasks/t1" and
// "tasks/t1/pushNotificationConfigs/p1".
func (c *Call) readNames(p Value) {
	task, config := resourceName(firstText(p.Get("name"), p.Get("parent")))
	c.taskID(task)
	c.configID(config)
	c.configID(p.Get("configId").Text())
}

// ReadStatus decodes the error of a gRPC call. It converts the trailer to the JSON form of google.rpc.Status that the
// other bindings use (A2A 1.0 §10.6).
func ReadStatus(call *Call, status *grpc.Status) Answer {
	a := Answer{Doc: Parse(status.JSON())}
	a.Err = decodeHTTPError(a.Doc.Root, 0, call.Dialects)
	a.Err.GRPCStatus = status.Code.String()
	a.Payload = Payload{Kind: ErrorPayload, Value: a.Err.Value, Pointer: a.Err.Pointer}
	return a
}

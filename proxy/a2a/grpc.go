package a2a

import (
	"strings"

	"a2atap/proxy/grpc"
)

// decodeGRPC takes a call of the gRPC binding by its path (A2A 0.3 §3.2.2, 1.0 §10). What it carries is read as the JSON
// that it stands for. Of a method that the service does not have nothing is known but its name.
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
	if r.Doc != nil {
		c.Doc = *r.Doc
	} else {
		c.Doc = messageDoc(grpc.Codec{Type: m.Request, Encoding: r.header("Grpc-Encoding")}, r.Body)
	}
	if r.BodyKept && !c.Doc.Root.Exists() { // what is asked cannot be read
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

// Asks returns the operation of the call. Over gRPC the path names it, whether the message can be read or not: then
// Operation is NoOperation, since nothing is known of the parameters.
func (c *Call) Asks() Operation {
	if c.Operation != NoOperation || !c.RPC.Known() {
		return c.Operation
	}
	if o := OperationOf(c.RPC.Name); o != GetCard {
		return o
	}
	return GetExtendedCard // "GetAgentCard" before 1.0, for those who are known to the agent
}

// cutLast cuts a path at its last slash.
func cutLast(path string) (before, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// messageDoc returns the JSON of a message: that in a body as it was on the wire, or the body itself where somebody has
// made it JSON before. It is the zero Doc where the message cannot be read.
func messageDoc(as grpc.Codec, body []byte) Doc {
	switch {
	case len(body) == 0:
		return Doc{}
	case body[0] <= 1: // which JSON does not begin with, and every message does
		return as.ReadInTurn(body).Doc
	}
	return Parse(body)
}

// answerDoc returns the JSON of a message that answers the call, as messageDoc does. How it is compressed is not known
// here: where it is, somebody has to have read it before.
func (c *Call) answerDoc(body []byte) Doc { return messageDoc(grpc.Codec{Type: c.RPC.Answer}, body) }

// readNames takes the ids out of the names by which 0.x calls tasks and push configs, "tasks/t1" and
// "tasks/t1/pushNotificationConfigs/p1".
func (c *Call) readNames(p Value) {
	task, config := resourceName(firstText(p.Get("name"), p.Get("parent")))
	c.taskID(task)
	c.configID(config)
	c.configID(p.Get("configId").Text())
}

// ReadStatus says what a call over gRPC has failed with. What stands in the trailer becomes the JSON that google.rpc.Status
// has in the other bindings (A2A 1.0 §10.6).
func ReadStatus(call *Call, status *grpc.Status) Answer {
	a := Answer{Doc: Parse(status.JSON())}
	a.Err = decodeHTTPError(a.Doc.Root, 0, call.Dialects)
	a.Err.GRPCStatus = status.Code.String()
	a.Payload = Payload{Kind: ErrorPayload, Value: a.Err.Value, Pointer: a.Err.Pointer}
	return a
}

package answer

import (
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/reach"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// A NotFound is an answer that said that there is no such task.
type NotFound struct {
	Place analysis.Place // of the error

	exchange *analysis.Brief
	over     analysis.Moment
}

// NotFoundBefore returns the answer by which the agent told the same client with the same credentials that the task
// that the exchange names does not exist, if that was over before the exchange began and the task was not seen since;
// else nil.
func (m *Memory) NotFoundBefore(x *analysis.Exchange) *NotFound {
	if x.Call.TaskID == "" {
		return nil
	}
	a, ok := m.notFound.Get(x.TaskKey(x.Call.TaskID))
	if !ok || !x.BeganAfter(a.over) || !x.SamePrincipal(a.exchange) {
		return nil
	}
	return a
}

// Hidden returns the answer that told the client of a list, before it asked for the list, that a listed task does not
// exist, if the task was made and is found for somebody else; else nil.
func (m *Memory) Hidden(x *analysis.Exchange, taskID string) *NotFound {
	key := x.TaskKey(taskID)
	a, ok := m.notFound.Get(key)
	if !ok || a.exchange.Operation != a2a.GetTask || !x.BeganAfter(a.over) || !x.SamePrincipal(a.exchange) {
		return nil
	}
	t := m.tasks.At(key)
	if t == nil || t.Created == nil {
		return nil
	}
	if asks := x.KnownPrincipal(); asks == 0 || t.FirstFor == 0 || !asks.Unlike(t.FirstFor) {
		return nil
	}
	return a
}

// missing remembers that a task is not found. What is said of a push config may be about the config alone.
func (m *Memory) missing(o *analysis.Observation) {
	x, err := o.Exchange, o.Answer.Err
	if err.Name != a2a.TaskNotFound || x.Call.TaskID == "" {
		return
	}
	if _, isRoute := reach.RouteInID(o); isRoute {
		return
	}
	m.miss(o)
	switch x.Call.Operation {
	case a2a.GetPushConfig, a2a.DeletePushConfig:
		return
	}
	if t := m.tasks.Get(x, x.Call.TaskID); t != nil && t.Last != nil && t.Last.Arrival > x.Opened {
		return // it was shown meanwhile
	}
	answer := &NotFound{Place: o.Place.At(err.Pointer), exchange: x.Keep(), over: o.Moment()}
	m.notFound.Put(x.TaskKey(x.Call.TaskID), answer)
}

// contradicted forgets that a task was not found where an answer takes it for one that is there.
func (m *Memory) contradicted(o *analysis.Observation) {
	x := o.Exchange
	if x.Call.TaskID == "" {
		return
	}
	if err := o.Answer.Err; err == nil {
		if _, ok := o.Succeeded(); !ok || x.Call.Operation == a2a.DeletePushConfig {
			return
		}
	} else if err.Name != a2a.TaskNotCancelable {
		return
	}
	m.notFound.Delete(x.TaskKey(x.Call.TaskID))
}

// A Pending is a refusal that can only be judged by what comes later: it said that an ended task is not found, or that
// the agent does not stream.
type Pending struct {
	Exchange *analysis.Brief
	Place    analysis.Place // of the error
	over     analysis.Moment
}

// Before reports whether the refusal had been delivered before the exchange began, and was for the same client with the
// same credentials.
func (a *Pending) Before(x *analysis.Exchange) bool {
	return x.BeganAfter(a.over) && x.SamePrincipal(a.Exchange)
}

// RefusedSubscription returns the subscription to an ended task that was told the task is not found, if no later answer
// to the same client showed the task; else nil.
func (m *Memory) RefusedSubscription(x *analysis.Exchange, taskID string) *Pending {
	a, _ := m.subscribe.Get(x.TaskKey(taskID))
	return a
}

// RefusedStream returns the stream of a known task that was refused as not supported, if no later answer to the same
// client showed the state of the task; else nil.
func (m *Memory) RefusedStream(x *analysis.Exchange, taskID string) *Pending {
	a, _ := m.stream.Get(x.TaskKey(taskID))
	return a
}

// refusedSubscription remembers a subscription to an ended task that was told the task is not found. Only 1.0 says
// which error it has to be.
func (m *Memory) refusedSubscription(o *analysis.Observation) {
	x, err := o.Exchange, o.Answer.Err
	if x.Call.Operation != a2a.SubscribeToTask || o.Dialects != a2a.Of(a2a.V1_0) || err.Name != a2a.TaskNotFound ||
		m.tasks.EndedBefore(x) == nil {
		return
	}
	m.subscribe.Put(x.TaskKey(x.Call.TaskID), pending(o))
}

// refusedStream remembers that a stream of a known task was refused as something that the agent does not do, though its
// card says that it does. Only if the task is active afterwards it was not refused for having ended.
func (m *Memory) refusedStream(o *analysis.Observation) {
	x := o.Exchange
	if o.Answer == nil || o.Answer.Err == nil || m.tasks.Named(x) == nil || m.cards.StreamsRefused(o) == nil {
		return
	}
	switch o.Answer.Err.Name {
	case a2a.MethodNotFound, a2a.StreamingNotSupported:
	case a2a.UnsupportedOperation:
		if !Blames(o, m.cards.Before(x), Streaming) {
			return
		}
	default:
		if !lacksMethod(o) {
			return
		}
	}
	m.stream.Put(x.TaskKey(x.Call.TaskID), pending(o))
}

// lacksMethod reports whether an agent says by a status that it does not have the method of a call: over gRPC, or over
// HTTP+JSON at an interface where other calls succeed.
func lacksMethod(o *analysis.Observation) bool {
	x, err := o.Exchange, o.Answer.Err
	if x.Call.Binding == a2a.GRPC {
		return err.GRPCStatus == grpc.Unimplemented.String() && !err.Name.A2A()
	}
	status := x.Response.Status
	return x.Call.Binding == a2a.HTTPJSON && err.Name == a2a.NoErrorName && !x.Endpoint.Answered.Empty() &&
		(status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented)
}

func pending(o *analysis.Observation) *Pending {
	return &Pending{Exchange: o.Exchange.Keep(), Place: o.Place.At(o.Answer.Err.Pointer), over: o.Moment()}
}

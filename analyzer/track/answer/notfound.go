package answer

import (
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/reach"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// A NotFound is an answer with a task-not-found error.
type NotFound struct {
	Place analysis.Place // of the error

	exchange *analysis.Brief
	over     analysis.Moment
}

// NotFoundBefore returns the answer that told the same client, with the same credentials, that the exchange's task does
// not exist. It returns nil unless that answer had ended before the exchange began and the task was not seen since.
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

// Hidden returns the answer that told the client, before it requested a list, that a listed task does not exist. It
// returns nil unless the task was created and another client can find it.
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

// missing records that a task is not found. An error about a push config may be about the config alone.
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
		return // it was shown in between
	}
	answer := &NotFound{Place: o.Place.At(err.Pointer), exchange: x.Keep(), over: o.Moment()}
	m.notFound.Put(x.TaskKey(x.Call.TaskID), answer)
}

// contradicted forgets a not-found error once an answer treats the task as existing.
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

// A Pending is a refusal that only later answers can clarify: an ended task was reported as not found, or streaming as
// not supported.
type Pending struct {
	Exchange *analysis.Brief
	Place    analysis.Place // of the error
	over     analysis.Moment
}

// Before reports whether the refusal was delivered before the exchange began, to the same client with the same
// credentials.
func (a *Pending) Before(x *analysis.Exchange) bool {
	return x.BeganAfter(a.over) && x.SamePrincipal(a.Exchange)
}

// RefusedSubscription returns the subscription to an ended task that was answered with a task-not-found error, if no
// later answer to the same client showed the task; else nil.
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

// refusedSubscription records a subscription to an ended task that was answered with a task-not-found error. Only 1.0
// defines the error.
func (m *Memory) refusedSubscription(o *analysis.Observation) {
	x, err := o.Exchange, o.Answer.Err
	if x.Call.Operation != a2a.SubscribeToTask || o.Dialects != a2a.Of(a2a.V1_0) || err.Name != a2a.TaskNotFound ||
		m.tasks.EndedBefore(x) == nil {
		return
	}
	m.subscribe.Put(x.TaskKey(x.Call.TaskID), pending(o))
}

// refusedStream records that a stream of a known task was refused as not supported although the card declares
// streaming. Only if the task is active afterwards is it certain that the refusal was not due to its end.
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

// lacksMethod reports whether an agent's status means that it lacks the method of a call: over gRPC, or over HTTP+JSON
// at an interface where other calls succeed.
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

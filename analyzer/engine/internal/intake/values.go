package intake

import (
	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// takeValues gathers the contents of JSON values that came instead of events. Rules see the answer or the stream as a
// whole.
func (ob *observer) takeValues(in *openExchange, s capture.Step, values []a2a.Doc) {
	for i := range values {
		a := a2a.ReadEvent(&in.X.Call, &values[i])
		settle(in.X, &a.Payload)
		in.gathered.answered(&a, nil)
		o := ob.message(in.X, analysis.EventSeen, s)
		o.Answer, o.Event = &a, &analysis.Event{}
		in.answered(o)
		switch v := a.Payload.Value; a.Payload.Kind {
		case a2a.TaskPayload:
			t := a2a.Task{Value: v}
			in.saw(t.ID())
			ob.taskEnded(in, t.ID(), t.State(), t.StatusMessage())
		case a2a.StatusPayload:
			u := a2a.StatusUpdate{Value: v}
			in.saw(u.TaskID())
			ob.taskEnded(in, u.TaskID(), u.State(), u.Status().Message())
		}
	}
}

package analyzer

import "a2atap/proxy/a2a"

// An Absence is an answer that said that there is no such task.
type Absence struct {
	Place Place // of the error

	exchange *Exchange // without its bodies
	over     Moment
}

// AbsentBefore returns the answer by which the agent told the same client with the same credentials that the task that the exchange
// names does not exist, if that was over before the exchange began and the task was not seen since; else nil.
func (s *Session) AbsentBefore(x *Exchange) *Absence {
	if x.Call.TaskID == "" {
		return nil
	}
	a, ok := s.absent.get(taskKey{x.agent, x.tenant, x.Call.TaskID})
	if !ok || a == nil || !x.BeganAfter(a.over) || x.Link != a.exchange.Link || x.Principal() != a.exchange.Principal() {
		return nil
	}
	return a
}

// Hidden returns the answer that told the client of a list, before it asked for the list, that a listed task does not
// exist, if the task was made and is found for somebody else; else nil.
func (s *Session) Hidden(x *Exchange, taskID string) *Absence {
	key := taskKey{x.agent, x.tenant, taskID}
	a, ok := s.absent.get(key)
	t := s.task(key)
	if !ok || a == nil || t == nil || t.Created == nil || a.exchange.Call.Operation != a2a.GetTask || !x.BeganAfter(a.over) || !x.samePrincipal(a.exchange) {
		return nil
	}
	if asks := s.principal(x); asks == 0 || t.finder == 0 || asks == t.finder {
		return nil
	}
	return a
}

// failed remembers what an error says of the task that was asked for.
func (s *Session) failed(o *Observation) {
	s.turnedDown(o)
	s.vanished(o)
}

// vanished remembers that a task is not found. What is said of a push config may be about the config alone.
func (s *Session) vanished(o *Observation) {
	x, err := o.Exchange, o.Answer.Err
	if err == nil || err.Name != a2a.TaskNotFound || x.Call.TaskID == "" {
		return
	}
	switch x.Call.Operation {
	case a2a.GetPushConfig, a2a.DeletePushConfig:
		return
	}
	s.absent.put(taskKey{x.agent, x.tenant, x.Call.TaskID}, &Absence{Place: o.Place.At(err.Pointer), exchange: x.bare(), over: o.moment()})
}

// appeared forgets that a task was not found.
func (s *Session) appeared(key taskKey) {
	if a, ok := s.absent.get(key); ok && a != nil {
		s.absent.put(key, nil)
	}
}

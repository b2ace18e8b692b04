package fault

import (
	"slices"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// An AgentFault is a named way to break one rule of the protocol, and as far as possible only that one.
type AgentFault struct {
	Slug string   // id of the rule that it breaks; for "legacy" that id, or the name of the scenario of probe that finds it
	Doc  string   // the effect on the wire, in one sentence
	Also []string // rules that cannot be kept when this one is broken

	OnlyGRPC bool // it shows over gRPC, and over no other binding

	agents []string // names of the agents that can have it
	hooks  func() wire.Hooks
}

// The agents that a fault fits.
var (
	anyAgent  = []string{"echo", "spec", "spec03"}
	with10    = []string{"echo", "spec"}
	only10    = []string{"spec"}
	only03    = []string{"spec03"}
	withTask  = []string{"spec", "spec03"}
	everyTask = []string{"spec", "spec03", "spec03-rest", "spec03-proto"}
	rest03    = []string{"spec03-rest", "spec03-proto"}

	onlyLegacy   = []string{"legacy"}
	before02     = []string{"spec01", "legacy"}
	before10     = append(onlyLegacy, only03...)
	anyAge       = append(onlyLegacy, anyAgent...)
	anyAgeTask   = append(onlyLegacy, withTask...)
	everyAgeTask = append(onlyLegacy, everyTask...)
)

// of returns a fault; also are rules that cannot be kept when it breaks its own.
func of(agents []string, slug, doc string, hooks func() wire.Hooks, also ...string) AgentFault {
	return AgentFault{Slug: slug, Doc: doc, Also: also, agents: agents, hooks: hooks}
}

// always makes hooks that have no memory: the same ones for every agent.
func always(h wire.Hooks) func() wire.Hooks { return func() wire.Hooks { return h } }

func onCard(edit func(*wire.Answer)) func() wire.Hooks { return always(wire.Hooks{Card: edit}) }

func onAdmit(refuse func(*wire.Call) *model.Failure) func() wire.Hooks {
	return always(wire.Hooks{Admit: refuse})
}

func onReply(edit func(*wire.Call, *model.Reply)) func() wire.Hooks {
	return always(wire.Hooks{Reply: edit})
}

func onEachAnswer(edit func(*wire.Call, *wire.Answer)) func() wire.Hooks {
	return always(wire.Hooks{Answer: edit})
}

func onRefuse(edit func(*wire.Call, *model.Failure) *model.Failure) func() wire.Hooks {
	return always(wire.Hooks{Refuse: edit})
}

// onAnswer makes hooks that edit each matching complete answer.
func onAnswer(fits func(c *wire.Call) bool, edit func(c *wire.Call, out *wire.Answer)) func() wire.Hooks {
	return onEachAnswer(func(c *wire.Call, out *wire.Answer) {
		if !out.Stream && fits(c) {
			edit(c, out)
		}
	})
}

// onEvent makes hooks that replace each event of every stream; n counts its events from 0.
func onEvent(edit func(c *wire.Call, n int, f *wire.Frame) []*wire.Frame) func() wire.Hooks {
	return always(wire.Hooks{Events: func(c *wire.Call) func(*wire.Frame) []*wire.Frame {
		n := -1
		return func(f *wire.Frame) []*wire.Frame {
			n++
			return edit(c, n, f)
		}
	}})
}

// onFrame makes hooks that edit each event of every stream.
func onFrame(edit func(c *wire.Call, f *wire.Frame)) func() wire.Hooks {
	return onEvent(func(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
		edit(c, f)
		return []*wire.Frame{f}
	})
}

// onStatus makes hooks that edit the matching status updates of streams.
func onStatus(fits func(*wire.Call, *wire.Frame) bool, edit func(*model.StatusUpdate)) func() wire.Hooks {
	return onFrame(func(c *wire.Call, f *wire.Frame) {
		if f.Event.Status != nil && fits(c, f) {
			f.Body = c.FrameBody(edited(f.Event.Status, edit))
		}
	})
}

// edited returns the event of a status update that was edited; the update stays.
func edited(u *model.StatusUpdate, edit func(*model.StatusUpdate)) model.Event {
	other := *u
	edit(&other)
	return model.Event{Status: &other}
}

// inState matches status updates with a state.
func inState(s model.State) func(*wire.Call, *wire.Frame) bool {
	return func(_ *wire.Call, f *wire.Frame) bool { return f.Event.Status.Status.State == s }
}

// admitNone makes hooks that refuse every matching call.
func admitNone(fits func(c *wire.Call) bool, code int, message string) func() wire.Hooks {
	return admitNoneAs(fits, model.Failure{Code: code, Message: message})
}

func admitNoneAs(fits func(c *wire.Call) bool, refusal model.Failure) func() wire.Hooks {
	return onAdmit(func(c *wire.Call) *model.Failure {
		if !fits(c) {
			return nil
		}
		return new(refusal)
	})
}

// refuseAs makes hooks that refuse matching calls with a different code.
func refuseAs(fits func(c *wire.Call) bool, was, code int) func() wire.Hooks {
	return onRefuse(func(c *wire.Call, f *model.Failure) *model.Failure {
		if fits(c) && f.Code == was {
			return model.Fail(code, f.Message)
		}
		return f
	})
}

// calls returns what fits calls of the operations.
func calls(ops ...model.Operation) func(c *wire.Call) bool {
	return func(c *wire.Call) bool { return slices.Contains(ops, c.Op) }
}

// What an answer is to.
func isRPC(c *wire.Call) bool         { return c.Binding == wire.JSONRPC }
func isRPCResult(c *wire.Call) bool   { return isRPC(c) && c.Failure == nil }
func isRPCFailure(c *wire.Call) bool  { return isRPC(c) && c.Failure != nil }
func isRESTFailure(c *wire.Call) bool { return c.Binding == wire.HTTPJSON && c.Failure != nil }
func isResult(c *wire.Call) bool      { return c.Failure == nil }

// editObject replaces the body of an answer with the result of edit.
func editObject(edit editor) func(*wire.Call, *wire.Answer) {
	return func(_ *wire.Call, out *wire.Answer) { out.Body = edit(out.Body.(jsonvalue.Object)) }
}

// An editor returns what becomes of an object; the object stays.
type editor = func(jsonvalue.Object) jsonvalue.Object

// editError replaces the error object in the body of an answer.
func editError(edit editor) func(*wire.Call, *wire.Answer) {
	return editObject(func(o jsonvalue.Object) jsonvalue.Object {
		e, _ := o.Get("error")
		return o.With("error", edit(e.(jsonvalue.Object)))
	})
}

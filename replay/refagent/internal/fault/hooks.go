package fault

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// A Fault is a named way to break one rule of the protocol, and as far as possible only that one.
type Fault struct {
	Slug string   // id of the rule that it breaks; of "legacy" that of the scenario of probe that finds it
	Doc  string   // what goes over the wire, one sentence
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
)

// of returns a fault; also are rules that cannot be kept when it breaks its own.
func of(agents []string, slug, doc string, hooks func() wire.Hooks, also ...string) Fault {
	return Fault{Slug: slug, Doc: doc, Also: also, agents: agents, hooks: hooks}
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

// onAnswer makes hooks that edit each complete answer which fits.
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

// What an answer is to.
func isRPC(c *wire.Call) bool         { return c.Binding == wire.JSONRPC }
func isRPCResult(c *wire.Call) bool   { return isRPC(c) && c.Failure == nil }
func isRPCFailure(c *wire.Call) bool  { return isRPC(c) && c.Failure != nil }
func isRESTFailure(c *wire.Call) bool { return c.Binding == wire.HTTPJSON && c.Failure != nil }
func isResult(c *wire.Call) bool      { return c.Failure == nil }

// editObject replaces the body of an answer by what edit makes of it.
func editObject(edit func(o jsonvalue.Object) jsonvalue.Object) func(*wire.Call, *wire.Answer) {
	return func(_ *wire.Call, out *wire.Answer) { out.Body = edit(out.Body.(jsonvalue.Object)) }
}

// editError replaces the error object in the body of an answer.
func editError(edit func(o jsonvalue.Object) jsonvalue.Object) func(*wire.Call, *wire.Answer) {
	return editObject(func(o jsonvalue.Object) jsonvalue.Object {
		e, _ := o.Get("error")
		return o.With("error", edit(e.(jsonvalue.Object)))
	})
}

package analysis

import "a2atap/proxy/a2a"

// Traits is a set of properties of an observation that are cheap to test. Most rules concern a rare case; a rule with
// such a condition (Rule.If) is called only if it holds.
type Traits uint32

// The traits.
const (
	// Traits of the call. A batch has none of its calls' traits.
	Batched    Traits = 1 << iota // it is a batch
	NamesTask                     // it names a task
	OfTask                        // it gets, cancels or follows a task
	OfTasks                       // it lists tasks
	OfLists                       // the same, or push configs
	AboutTask                     // it gets, cancels or follows a task, or is about push configs
	OfPush                        // it is about push configs
	Configured                    // the same, or a message that is sent with a configuration, or with a push config
	OfExtended                    // it asks for the extended card
	OfStream                      // it asks for a stream of events
	Carded                        // earlier cards name its interface, in its binding
	Offered                       // cards name something at its target's origin, as of its request

	// Of the answer.
	Refused  // it is an error by its body or its status, or, in a batch, may contain one
	Streamed // it is a stream of events

	// Of the current object. All of them hold without an object.
	HasMetadata // it has metadata
	HasContent  // it is a part or a file, and has members that a text-only part lacks
	HasMentions // it mentions extensions, or other tasks
	Told        // it is in an answer, an event or a notification
	PlainNames  // its members may have names from the proto file: in 1.0, and in earlier versions in bindings other than JSON-RPC

	ofObject = HasMetadata | HasContent | HasMentions | Told | PlainNames
)

// ofOperation has the traits of each operation.
var ofOperation = [...]Traits{
	a2a.GetTask: OfTask | AboutTask, a2a.CancelTask: OfTask | AboutTask, a2a.SubscribeToTask: OfTask | AboutTask,
	a2a.ListTasks:        OfTasks | OfLists,
	a2a.CreatePushConfig: OfPush | Configured | AboutTask, a2a.GetPushConfig: OfPush | Configured | AboutTask,
	a2a.ListPushConfigs: OfPush | Configured | AboutTask | OfLists, a2a.DeletePushConfig: OfPush | Configured | AboutTask,
	a2a.GetExtendedCard: OfExtended,
}

// Traits returns the traits of the observation, and the oddities of its object's members; every oddity is possible
// without an object.
func (o *Observation) Traits() (t Traits, odd a2a.Oddity) {
	call := &o.Exchange.Call
	if int(call.Operation) < len(ofOperation) {
		t = ofOperation[call.Operation]
	}
	if call.Batch != nil {
		t |= Batched | Refused
	}
	if call.Streams || call.Operation.Streams() {
		t |= OfStream
	}
	if call.TaskID != "" {
		t |= NamesTask
	}
	if call.PushConfig.Exists() || call.Params.Has("configuration") {
		t |= Configured
	}
	if o.Exchange.Stream != nil {
		t |= Streamed
	}
	t |= o.Exchange.carded
	if o.Answer != nil && (o.Answer.Err != nil || o.Exchange.Response.Status >= 400) {
		t |= Refused
	}
	if o.Entity == nil {
		return t | ofObject, ^a2a.Oddity(0)
	}
	odd = o.Entity.Oddities()
	return t | ofEntity(o.Entity, odd), odd
}

func ofEntity(e *a2a.Entity, odd a2a.Oddity) (t Traits) {
	if odd&a2a.MetadataMember != 0 {
		t |= HasMetadata
	}
	if odd&a2a.ContentMember != 0 && (e.Type == a2a.PartEntity || e.Type == a2a.FileEntity) {
		t |= HasContent
	}
	if odd&a2a.MentionMember != 0 {
		t |= HasMentions
	}
	if e.In != a2a.InRequest {
		t |= Told
	}
	if e.Modern() || e.Proto() {
		t |= PlainNames
	}
	return t
}
